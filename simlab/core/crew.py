"""How many threads the next stretch of a long computation takes: all that it may, or one, whichever was faster of late.

Two threads that share the work evenly gain nothing where another program has one of the cores, and lose where they meet
every few microseconds: beside one busy process a step of two_layer with n = 256, m = 64 took 36 µs on one thread and
150 µs on two, which spin or sleep at each meeting. Only for loops whose bits do not depend on the number of threads.

The other number of threads is tried for `TRIAL_SECONDS`, or for one step if that is longer; all trials together take
about 1/`TRIAL_SHARE` of the time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numba

TRIAL_SECONDS = 0.003
TRIAL_SHARE = 100
GAIN = 1.05  # how much faster one thread must be than all


class Turn(NamedTuple):
    """One stretch of steps.

    threads: number of threads.
    steps: number of steps.
    trial: whether it is made to see how fast this number of threads is.
    """

    threads: int
    steps: int
    trial: bool


@dataclass
class Crew:
    """What is known of the speed, in this process.

    first_rate: steps per second as long as nothing is known.
    rates: number of threads → steps per second when it was last used.
    worked: seconds since the other number of threads was tried.
    wait: seconds of work before it is tried again.
    """

    first_rate: float
    rates: dict[int, float] = field(default_factory=dict)
    worked: float = 0.0
    wait: float = 0.0

    def turn(self, most: int, seconds: float, most_steps: int) -> Turn:
        """The next stretch, of about so many seconds, at most so many threads and steps."""
        known = self.rates.get(most, self.first_rate)
        best, other = (1, most) if self.rates.get(1, 0.0) > GAIN * known else (most, 1)
        trial = most > 1 and most in self.rates and self.worked >= self.wait
        threads = other if trial else best
        rate = self.rates.get(threads, known / most if trial else known)
        steps = int(rate * (min(seconds, TRIAL_SECONDS) if trial else seconds))
        return Turn(threads, max(1, min(most_steps, steps)), trial)

    def saw(self, turn: Turn, steps: int, seconds: float) -> None:
        """So many steps of this stretch were made in so many seconds."""
        self.rates[turn.threads] = max(1.0, steps / max(seconds, 1e-7))
        if turn.trial:
            self.worked, self.wait = 0.0, TRIAL_SHARE * seconds
        else:
            self.worked += seconds


@contextlib.contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Parallel loops use so many threads for the time of a block."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
