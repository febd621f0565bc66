"""Declared signatures: compiled when needed, for just these types, as if compiled at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import float32, float64, int64, types, void
from numpy.typing import NDArray

from simlab.core.jit import FLAGS, jit

PHI = float64(float64, float64[::1])
A = np.array([2.0])


def scaled() -> Any:
    @jit(signatures=[PHI])
    def phi(z: float, a: NDArray[np.float64]) -> float:
        return z * a[0]

    return phi


def test_nothing_is_compiled_before_the_first_call() -> None:
    phi = scaled()
    assert phi.signatures == []
    assert phi(3.0, A) == 6.0
    assert phi.signatures == [PHI.args]


@pytest.mark.parametrize("z", [3, np.float32(3), np.int8(3), True])
def test_arguments_are_converted_to_what_is_declared(z: Any) -> None:
    """Just as when the signature is compiled at once, also in the first call."""
    eager: Any = numba.njit([PHI], **FLAGS)(scaled().py_func)
    phi = scaled()
    for _ in range(2):
        assert phi(z, A) == eager(z, A)
        assert type(phi(z, A)) is float
    assert phi.signatures == [PHI.args], "and nothing else is compiled"


@pytest.mark.parametrize(
    "arguments", [("a", A), (1.0, A.astype(np.float32)), (1.0, np.zeros((2, 2))), (1.0, np.zeros(4)[::2])]
)
def test_other_arguments_are_refused_before_and_after_the_first_call(arguments: Any) -> None:
    phi = scaled()
    with pytest.raises(TypeError, match="No matching definition"):
        phi(*arguments)
    phi(1.0, A)
    with pytest.raises(TypeError, match="No matching definition"):
        phi(*arguments)
    assert phi.signatures == [PHI.args]


def test_a_loop_takes_it_as_a_pointer_and_another_closes_over_it() -> None:
    phi, other, never = scaled(), scaled(), scaled()

    @jit(signatures=[float64(types.FunctionType(PHI), float64[::1])])
    def through(f: Any, a: NDArray[np.float64]) -> float:
        return float(f(4.0, a))

    @jit
    def around(z: int) -> float:
        return float(other(z, np.ones(1)))  # an integer: converted, not compiled for

    assert through.signatures == []  # type: ignore[attr-defined]
    assert (through(phi, A), around(5)) == (8.0, 5.0)
    assert (phi.signatures, other.signatures, never.signatures) == ([PHI.args], [PHI.args], [])
    wrong = jit(signatures=[float64(float64)])(lambda z: z)
    with pytest.raises(TypeError):
        through(wrong, A)
    assert len(through.signatures) == 1  # type: ignore[attr-defined]


def test_of_several_signatures_only_the_needed_is_compiled() -> None:
    @jit(signatures=[void(float64[::1]), void(float32[::1])])
    def double(x: NDArray[Any]) -> None:
        for i in range(x.size):
            x[i] *= 2

    single = np.ones(3, np.float32)
    double(single)
    assert len(double.signatures) == 1  # type: ignore[attr-defined]
    wide = np.ones(3)
    double(wide)
    assert (single[0], wide[0]) == (2.0, 2.0)
    with pytest.raises(TypeError, match="No matching definition"):
        double(np.ones(3, np.int64))


def test_signatures_that_could_be_taken_for_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="must differ in the type of an array"):
        jit(signatures=[float64(float64), int64(int64)])(lambda x: x)


COLD = """
import importlib, pkgutil
from numba.core import event
recorder = event.install_recorder("numba:compile")
with recorder as seen:
    import simlab
    for room in ("core", "sphere", "activations", "kernels", "networks", "flows", "theory", "data", "machines"):
        package = importlib.import_module(f"simlab.{room}")
        for module in pkgutil.iter_modules(package.__path__, f"simlab.{room}."):
            importlib.import_module(module.name)
print([record[1].data["dispatcher"].py_func.__qualname__ for record in seen.buffer])
"""


def test_imports_compile_nothing_and_write_nothing(tmp_path: Path) -> None:
    env = {**os.environ, "SIMLAB_CACHE_DIR": str(tmp_path / "cold")}
    done = subprocess.run([sys.executable, "-c", COLD], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
    assert not (tmp_path / "cold").exists()
