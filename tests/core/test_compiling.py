"""Compiling is told as it goes, loading is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numba

from simlab.core.compiling import watch
from simlab.core.jit import jit

SCRIPT = """
import json
import numpy as np
from simlab.core.compiling import watch
told = []
watch(lambda *message: told.append(message))
from simlab.core.quadrature import next_edge
next_edge(0.0, 1.0, 1.0, np.zeros(1), np.ones(1))
from simlab.kernels import _recursion
_recursion._balanced(1.0, 1.0)
print(json.dumps(told))
"""


def test_the_first_process_tells_each_function_the_second_nothing(tmp_path: Path) -> None:
    env = {**os.environ, "SIMLAB_CACHE_DIR": str(tmp_path)}

    def told() -> object:
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    assert told() == [[0, True], [1, False], [1, True], [2, False]]
    assert told() == []


def test_functions_that_are_never_kept_are_not_told() -> None:
    told: list[tuple[int, bool]] = []
    watch(lambda *message: told.append(message))
    assert numba.njit(lambda x: x + 1)(1) == 2
    assert jit(lambda x: x + 1)(1) == 2, "outside the package"
    assert told == []
