"""Functions called by their address: from compiled code, on threads, from the cache, and without a JIT."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import prange, types
from numpy.typing import NDArray

from simlab.core.jit import jit, per_real
from simlab.core.outlined import addresses, caller

ROOT = Path(__file__).parents[2]


def SHIFT(real: Any) -> Any:
    return types.float64(types.int64, types.Array(real, 1, "A"), real)


call_shift = caller(SHIFT)


@per_real(SHIFT)
def shift(begin: int, x: NDArray[Any], by: Any) -> float:
    """Add `by` from an entry on; the sum of all."""
    total = 0.0
    for i in range(x.size):
        if i >= begin:
            x[i] += by
        total += x[i]
    return total


@jit
def shifted(call: int, x: NDArray[Any], by: Any) -> float:
    """Every second entry but the first, all that follow moved by `by`."""
    return float(call_shift(call, (1, x[::2], by)))


@jit(parallel=True)
def shift_rows(call: int, X: NDArray[Any], by: Any) -> None:
    for i in prange(X.shape[0]):
        call_shift(call, (i, X[i], by))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arguments_and_result_arrive(dtype: Any) -> None:
    x = np.arange(5, dtype=dtype)
    assert shifted(addresses([shift], dtype)[0], x, dtype(0.5)) == 0 + 2.5 + 4.5
    assert np.array_equal(x, np.array([0, 1, 2.5, 3, 4.5], dtype))


def test_on_threads() -> None:
    X = np.zeros((4, 4))
    shift_rows(addresses([shift], np.float64)[0], X, 1.0)
    assert np.array_equal(X, np.triu(np.ones((4, 4))))


def test_addresses_are_of_the_type_asked_for() -> None:
    first, second = addresses([shift, shift], np.float64)
    assert first == second != addresses([shift], np.float32)[0]


def test_code_that_calls_by_address_is_found_again(tmp_path: Path) -> None:
    """In a second process nothing is compiled, and the address is that process's own."""
    code = (
        "import numpy as np\nfrom numba.core import event\nfrom simlab import networks\n"
        "found = []\n"
        "class Seen(event.Listener):\n"
        "    def on_start(self, event): pass\n"
        "    def on_end(self, event): found.append(event.data['dispatcher'].py_func.__name__)\n"
        "event.register('numba:compile', Seen())\n"
        "net = networks.MLP(width=64, depth=2)\n"
        "theta = net.initialise(3, np.random.default_rng(0))\n"
        "X = np.random.default_rng(1).standard_normal((200, 3))\n"
        "print(np.sum(net.gradient(theta, X, X[:, 0])).hex(), 'compiled_forward' in found, 'gradient' in found)\n"
    )
    environment = {**os.environ, "SIMLAB_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split()
        for _ in range(2)
    )
    assert first[1:] == ["True", "True"]
    assert second == [first[0], "False", "False"]


def test_without_a_compiler() -> None:
    """The whole net, both layouts of its tiles."""
    code = (
        "import numpy as np\nfrom simlab import networks\nnet = networks.MLP(width=64, depth=2)\n"
        "theta = net.initialise(3, np.random.default_rng(0))\n"
        "X = np.random.default_rng(1).standard_normal((130, 3))\n"
        "for some in (X, X[:5]):\n"
        "    print(np.sum(np.abs(net.gradient(theta, some, some[:, 0]))))\n"
    )
    plain, compiled = (
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        for off in ("1", "0")
    )
    np.testing.assert_allclose(np.array(plain, float), np.array(compiled, float), rtol=1e-12)
