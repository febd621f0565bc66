"""What the README promises across types of CPU: the quickstart's recorded numbers agree to 1e-10.

Of a recorded name's largest value: a training loss that ends at 1e-15 of its start is made of rounding errors, which
no two types of CPU share.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support import cpu_types

QUICKSTART = Path(__file__).parents[1] / "runs" / "quickstart.toml"
AGREEMENT = 1e-10


def recorded(directory: Path, *settings: str) -> dict[str, NDArray[np.float64]]:
    """The quickstart's numbers by name, computed with these settings of the environment and compiled for them."""
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "NUMBA_CPU_NAME")}
    environment |= dict(setting.split("=") for setting in settings)
    environment["SIMLAB_CACHE_DIR"] = str(directory / "cache")
    command = [sys.executable, "-m", "simlab", "run", str(QUICKSTART), "-o", str(directory / "run"), "--quiet"]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    with h5py.File(directory / "run" / "results.h5") as file:
        datasets = {name: item[()] for name, item in file.items() if isinstance(item, h5py.Dataset)}
    return {name: np.asarray(v, dtype=np.float64) for name, v in datasets.items() if v.dtype.kind in "fi"}


@pytest.fixture(scope="module")
def as_it_is(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NDArray[np.float64]]:
    return recorded(tmp_path_factory.mktemp("as_it_is"))


@pytest.mark.slow
@pytest.mark.parametrize("setting", cpu_types.here())
def test_the_quickstart_agrees(setting: str, as_it_is: dict[str, NDArray[np.float64]], tmp_path: Path) -> None:
    found = recorded(tmp_path, setting)
    assert found.keys() == as_it_is.keys()
    assert len(found["train_loss"].ravel()) > 100
    for name, values in as_it_is.items():
        largest = np.max(np.abs(values), where=np.isfinite(values), initial=0.0)
        np.testing.assert_allclose(found[name], values, rtol=0.0, atol=AGREEMENT * largest, err_msg=name)


@pytest.mark.slow
def test_a_type_of_cpu_is_really_another(tmp_path: Path) -> None:
    """OpenBLAS says which kernels it took: without this the comparison would be one of equals."""
    script = "import numpy, threadpoolctl; print({i.get('architecture') for i in threadpoolctl.threadpool_info()})"
    for setting in cpu_types.here():
        name, value = setting.split("=")
        if name == "OPENBLAS_CORETYPE":
            command = [sys.executable, "-c", script]
            done = subprocess.run(command, env={**os.environ, name: value}, capture_output=True, text=True, check=True)
            assert value.lower() in done.stdout.lower()
