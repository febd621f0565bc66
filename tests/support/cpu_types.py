"""Types of CPU that this machine can behave like, as settings of the environment: one per line when run as a module.

OpenBLAS has kernels for each type of CPU and takes those that OPENBLAS_CORETYPE names; Numba compiles for the CPU that
NUMBA_CPU_NAME names. Both are read when the process starts.
"""

from __future__ import annotations

from pathlib import Path

NEEDS = {
    "OPENBLAS_CORETYPE=Sandybridge": {"avx"},
    "OPENBLAS_CORETYPE=Haswell": {"avx2", "fma"},
    "OPENBLAS_CORETYPE=SkylakeX": {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"},
    "NUMBA_CPU_NAME=generic": set[str](),
}
"""Setting → the instructions that the CPU must have for it."""


def here() -> list[str]:
    """The settings that this CPU can run; only Numba's where its instructions are not listed (no Linux on x86)."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    flags = set(next((line.partition(":")[2] for line in lines if line.startswith("flags")), "").split())
    return [setting for setting, needed in NEEDS.items() if needed <= flags]


if __name__ == "__main__":
    print(*here(), sep="\n")
