"""Where a number comes from: versions, sources, commit, BLAS and machine, written into every file.

Last digits depend on the CPU in two ways: BLAS chooses its loops by the core type that it finds, and Numba compiles for
the CPU that LLVM finds. Both are recorded as they are in use, with the variables that force another choice.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simlab.core.sources import PACKAGE, entry_points, source_hash

LIBRARIES = ("simlab", "numpy", "scipy", "numba", "llvmlite", "h5py", "python-flint", "pydantic", "threadpoolctl")
FORCING = ("OPENBLAS_CORETYPE", "MKL_CBWR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NPY_DISABLE_CPU_FEATURES")
"""Environment variables that make libraries behave as on another CPU."""
SIMD = {"AVX-512": "avx512f", "AVX2": "avx2", "AVX": "avx", "SSE4.2": "sse4.2", "SVE": "sve", "NEON": "neon"}
"""Vector instructions, widest first, by LLVM's names."""


@functools.cache
def provenance() -> dict[str, Any]:
    """Plain, JSON-ready, and free of clocks and host names."""
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    versions["python"] = platform.python_version()
    versions |= {point.dist.name: point.dist.version for point in entry_points() if point.dist is not None}
    return {
        "versions": versions,
        "sources": source_hash(),
        "git_commit": _git_commit(),
        "blas": _blas(),
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "system": platform.system(), **_vectors()},
        "environment": {name: os.environ[name] for name in FORCING if name in os.environ},
    }


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """``versions.numpy: 2.1.0 → 2.4.6`` for all that differs; what only one of them knows is not compared."""
    old, new = (dict(_leaves(_with_unset(one), "")) for one in (before, now))
    return [f"{key}: {old[key]} → {new[key]}" for key in old if key in new and old[key] != new[key]]


def _with_unset(made_by: Mapping[str, Any]) -> dict[str, Any]:
    """A variable that was not set counts: the choice was left to the library."""
    unset = dict.fromkeys(FORCING, "not set")
    return {**made_by, **({"environment": unset | made_by["environment"]} if "environment" in made_by else {})}


def _leaves(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _blas() -> dict[str, dict[str, str]]:
    """The BLAS of NumPy and that of SciPy, or by its own name one that they share, as loaded now.

    Of each the name, version, threading layer, and the core type whose loops it runs.
    """
    import numpy as np
    import scipy.linalg.blas  # noqa: F401  loads SciPy's
    from threadpoolctl import threadpool_info

    keys = {"name": "internal_api", "version": "version", "threading": "threading_layer", "core_type": "architecture"}
    found = {}
    for library in threadpool_info():
        if library["user_api"] == "blas":
            folders = Path(library["filepath"]).parts  # …/numpy.libs/libopenblas.so, …/numpy/.dylibs/…
            users = [user for user in ("numpy", "scipy") if user in folders or f"{user}.libs" in folders]
            about = {key: str(library[name]) for key, name in keys.items() if library.get(name)}
            found[users[0] if users else about["name"]] = about
    if not set(found) - {"scipy"}:  # NumPy's cannot be asked, as Apple's
        built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        found["numpy"] = {key: str(built[key]) for key in ("name", "version")}
    return found


def _vectors() -> dict[str, str]:
    """The CPU as LLVM knows it and its widest vector instructions; the CPU that Numba compiles for."""
    import llvmlite.binding as llvm
    from numba import config

    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
    level = next((name for name, feature in SIMD.items() if features.get(feature)), "")
    return {"core_type": cpu, "simd": level, "compiled_for": config.CPU_NAME or cpu}


def _git_commit() -> str:
    """The commit of a checkout; empty for an installed package."""
    if not (PACKAGE.parent / ".git").exists():
        return ""
    done = subprocess.run(
        ["git", "-C", str(PACKAGE.parent), "rev-parse", "--verify", "--quiet", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
