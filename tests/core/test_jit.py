"""The house decorator: never stale, safe between processes, works where nothing can be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from simlab.core import code_cache, sources
from simlab.core import jit as house

HELPER = """
from simlab.core.jit import jit

@jit
def helper(x):
    return x + {added}
"""
LOOP = """
import sys
from simlab.core.jit import jit
from simlab.helper import helper

@jit
def loop(n):
    total = 0.0
    for i in range(n):
        total += helper(1.0)
    return total

if __name__ == "__main__":
    import simlab.loop
    value = simlab.loop.loop(10)
    stats = simlab.loop.loop.stats
    print(value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of simlab's core with a loop in one file and its helper in another."""
    copy = tmp_path / "copy" / "simlab"
    shutil.copytree(sources.PACKAGE / "core", copy / "core", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "__init__.py").write_text("")
    (copy / "helper.py").write_text(HELPER.format(added=1.0))
    (copy / "loop.py").write_text(LOOP)
    return copy


def call(package: Path, **environment: str) -> tuple[float, int, int]:
    env = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"SIMLAB_CACHE_DIR": str(package.parent / "cache"), **environment}
    done = subprocess.run(
        [sys.executable, "-c", "import runpy; runpy.run_module('simlab.loop', run_name='__main__')"],
        env=env, cwd=package.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    value, hits, misses = done.stdout.split()
    return float(value), int(hits), int(misses)


def test_an_edited_helper_in_another_file_is_never_stale(package: Path) -> None:
    assert call(package) == (20.0, 0, 1)
    assert call(package) == (20.0, 1, 0), "unedited code must come from the cache"
    (package / "helper.py").write_text(HELPER.format(added=2.0))
    assert call(package) == (30.0, 0, 1)


def test_plain_numba_would_be_stale_here(package: Path) -> None:
    """The guard guards something: without the hash in the path the old number comes back."""
    for name in ("helper.py", "loop.py"):
        text = (package / name).read_text().replace("from simlab.core.jit import jit", "import numba")
        (package / name).write_text(text.replace("@jit", "@numba.njit(cache=True)"))
    assert call(package)[0] == 20.0
    text = (package / "helper.py").read_text()
    (package / "helper.py").write_text(text.replace("x + 1.0", "x + 2.0"))
    assert call(package)[0] == 20.0, "numba's own cache now notices: the house hash may go"


def test_falls_back_where_the_cache_cannot_be_written(package: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("not a directory")
    places = {"SIMLAB_CACHE_DIR": str(blocked / "x"), "XDG_CACHE_HOME": str(blocked), "HOME": str(blocked)}
    spare = tmp_path / "spare"
    spare.mkdir()
    assert call(package, **places, TMPDIR=str(spare)) == (20.0, 0, 1)
    assert list(spare.glob("simlab-*/compiled-*/*.nbi")), "the system's temporary directory is the last resort"


def test_use_is_noted_and_what_is_unused_is_removed(package: Path) -> None:
    cache, long_ago = package.parent / "cache" / "compiled-1", time.time() - 40 * 86400
    cache.mkdir(parents=True)
    unused = cache / f"simlab.gone.loop-{'0' * 24}.py311.nbi"
    unused.touch()
    os.utime(unused, (long_ago, long_ago))
    assert call(package) == (20.0, 0, 1)
    assert not unused.exists()
    indices = list(cache.glob("*.nbi"))
    assert len(indices) == 2, "the loop and its helper"
    for index in indices:
        os.utime(index, (long_ago, long_ago))
    assert call(package) == (20.0, 1, 0)
    assert max(index.stat().st_mtime for index in indices) > long_ago + 86400


def test_variants_of_a_made_function_have_names_of_their_own() -> None:
    """Numba's symbols are made of it: of two variants of one name the other's machine code might be called."""

    def made(named: str) -> Any:
        @house.jit(named=named)
        def scaled(x: float) -> float:
            return 2 * x

        return scaled.py_func.__qualname__  # type: ignore[attr-defined]

    assert made("one kind").endswith("scaled_one_kind")
    assert len({made(""), made("a"), made("b")}) == 3


def test_functions_outside_the_package_are_compiled_but_not_cached() -> None:
    @house.jit
    def double(x: float) -> float:
        return 2 * x

    assert double(4.0) == 8.0
    assert double.stats.cache_path is None


def test_decorating_leaves_numbas_configuration_alone() -> None:
    before = numba.config.CACHE_DIR
    from simlab.flows._descent import descend

    assert descend[np.float64].stats.cache_path.startswith(str(code_cache.cache_dir()))
    after = numba.config.CACHE_DIR
    assert before == after


def test_division_by_zero_follows_numpy() -> None:
    @house.jit
    def divide(a: float, b: float) -> float:
        return a / b

    assert divide(1.0, 0.0) == np.inf


RACE = """
import sys
import numpy as np
import simlab.race
kinds = [np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16]
for k in kinds[:: int(sys.argv[1])]:
    got = simlab.race.total(np.arange(10, dtype=k))
    assert got == 45, (k, got)
"""


def test_processes_that_compile_at_once_do_not_mix_up_their_code(package: Path) -> None:
    """Two processes save different signatures of one function at the same time; later loads must be right."""
    (package / "race.py").write_text(
        "from simlab.core.jit import jit\n\n@jit\ndef total(x):\n"
        "    s = x[0]\n    for i in range(1, x.size):\n        s += x[i]\n    return s\n"
    )
    env = {**os.environ, "PYTHONPATH": str(package.parent), "SIMLAB_CACHE_DIR": str(package.parent / "cache")}

    def start(order: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", RACE, order], env=env, cwd=package.parent)

    for _ in range(2):
        racing = [start("1"), start("-1")]
        assert [process.wait(120) for process in racing] == [0, 0]
    assert start("1").wait(120) == 0
