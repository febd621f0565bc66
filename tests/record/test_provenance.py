"""Where a number comes from: what is recorded of libraries and CPU, and how two of them are compared."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import scipy.linalg.blas  # noqa: F401  loads SciPy's BLAS
from threadpoolctl import threadpool_info

from simlab.record.provenance import changes, provenance

X86 = platform.machine() in ("x86_64", "AMD64")


def told(**environment: str) -> dict[str, Any]:
    """The provenance that a process of its own writes."""
    code = "import json; from simlab.record.provenance import provenance; print(json.dumps(provenance()))"
    plain = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "NUMBA_CPU_NAME")}
    env = {**plain, **environment}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_versions_of_all_that_computes() -> None:
    versions = provenance()["versions"]
    for name in ("numpy", "scipy", "numba", "llvmlite", "h5py", "python-flint", "pydantic", "threadpoolctl"):
        assert versions[name] == importlib.metadata.version(name)
    assert versions["python"] == platform.python_version()


def test_the_blas_is_the_one_in_use() -> None:
    blas = provenance()["blas"]
    loaded = [library for library in threadpool_info() if library["user_api"] == "blas"]
    assert blas
    for library in loaded:
        user = next((u for u in ("numpy", "scipy") if u in library["filepath"].split("site-packages")[-1]), None)
        about = blas[user or library["internal_api"]]
        assert about["name"] == library["internal_api"]
        assert about["version"] == library["version"]
        assert about.get("core_type") == library.get("architecture")
        assert about["threading"] == library["threading_layer"]


def test_it_is_plain_and_names_no_path_of_this_machine() -> None:
    text = json.dumps(provenance())
    assert json.loads(text) == provenance()
    assert sys.prefix not in text
    assert str(Path.home()) not in text


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists() or not X86, reason="needs the flags of an x86 CPU on Linux")
def test_the_level_of_vector_instructions() -> None:
    found = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    assert found is not None
    flags = found[1].split()
    wanted = [level for flag, level in (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("avx", "AVX")) if flag in flags]
    assert provenance()["machine"]["simd"] == (wanted or ["SSE4.2"])[0]


@pytest.mark.skipif(not X86, reason="the core types named here are those of x86")
def test_a_core_type_that_is_forced_is_recorded() -> None:
    plain, forced = told(), told(OPENBLAS_CORETYPE="Sandybridge", NUMBA_CPU_NAME="generic")
    if "openblas" not in [about["name"] for about in plain["blas"].values()]:
        pytest.skip("NumPy and SciPy use another BLAS here")
    cpu_types = {about["core_type"] for about in forced["blas"].values() if about["name"] == "openblas"}
    assert cpu_types == {"Sandybridge"}
    assert forced["machine"]["compiled_for"] == "generic"
    assert forced["machine"]["core_type"] == plain["machine"]["core_type"]
    assert forced["environment"] == {"OPENBLAS_CORETYPE": "Sandybridge", "NUMBA_CPU_NAME": "generic"}
    assert "environment.NUMBA_CPU_NAME: not set → generic" in changes(plain, forced)
    assert "environment.NUMBA_CPU_NAME: generic → not set" in changes(forced, plain)
    assert changes(plain, told()) == []


def test_changes_are_named_and_an_earlier_format_is_compared_by_what_it_has() -> None:
    now = provenance()
    earlier = deepcopy(now)
    del earlier["blas"], earlier["environment"], earlier["machine"]["simd"], earlier["versions"]["llvmlite"]
    assert changes(earlier, now) == []
    earlier["versions"]["numpy"] = "1.0"
    earlier["machine"]["cpu"] = "another"
    assert changes(earlier, now) == [
        f"versions.numpy: 1.0 → {now['versions']['numpy']}", f"machine.cpu: another → {now['machine']['cpu']}",
    ]  # fmt: skip
