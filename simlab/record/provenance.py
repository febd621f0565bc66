"""Where a number comes from: versions, sources, commit and machine, written into every file."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from simlab.core.sources import PACKAGE, source_hash

LIBRARIES = ("simlab", "numpy", "scipy", "numba", "h5py")


@functools.cache
def provenance() -> dict[str, Any]:
    """Plain, JSON-ready, and free of clocks and host names."""
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    versions["python"] = platform.python_version()
    return {
        "versions": versions,
        "sources": source_hash(),
        "git_commit": _git_commit(),
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "system": platform.system()},
    }


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
