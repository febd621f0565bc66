"""Cases that hang, die and misbehave on purpose, for `test_fuzz`; a worker of the fuzzer imports them by name."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from fuzzing.judging import Judge, Verdict


class Planted:
    """Case 1 kills its process, case 2 sleeps for good, case 3 prints past Python, case 4 exits; others are good."""

    def __init__(self, seed: int, home: Path, judge: Judge) -> None:
        self.judge = judge

    def run(self, number: int) -> Verdict:
        return self.judge(lambda: self._act(number))

    def _act(self, number: int) -> None:
        if number == 1:
            os.kill(os.getpid(), 9)
        elif number == 2:
            time.sleep(1000)
        elif number == 3:
            os.write(2, b"a library speaks\n")
        elif number == 4:
            sys.exit(3)
