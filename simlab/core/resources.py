"""Cores and memory that this process may use, which may be less than the machine has.

A process can be limited in two ways, and both count here:

- CPU affinity (`taskset`, Slurm, a cpuset): the cores that it may run on.
- Control groups (containers, Slurm, systemd): a share of CPU time, and bytes of memory. A limit of a group holds for
  all groups inside it, so every group from the process's own up to the root is read. Version 2 of the interface has
  the files ``cpu.max`` and ``memory.max``, version 1 ``cpu.cfs_quota_us`` and ``memory.limit_in_bytes``.

Systems without control groups (macOS) have no such files, and no such limits.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

SYSTEM = Path("/")
"""Directory of proc/ and of the mounts of control groups."""


def cores() -> int:
    """Number of cores that this process may use: by its affinity, and by its quota of CPU time, rounded up."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(mine, math.ceil(_cpu_quota(SYSTEM))))


def free_memory() -> int:
    """Bytes that this process could allocate now without swapping or being killed."""
    import psutil  # here: importing it takes 50 ms

    limits = [*_values(SYSTEM, "memory", _free_bytes_v1), *_values(SYSTEM, "", _free_bytes_v2)]
    return max(0, int(min([psutil.virtual_memory().available, *limits])))


@functools.cache  # reading it takes a millisecond, longer than a small Gram matrix
def _cpu_quota(system: Path) -> float:
    """CPU seconds per second that the control groups allow; at most the machine's number of cores."""
    quotas = [*_values(system, "cpu", _quota_v1), *_values(system, "", _quota_v2)]
    return min([os.cpu_count() or 1, *quotas])


def _quota_v1(group: Path) -> float | None:
    """CPU seconds per second that one group allows; None without a limit, which the file writes as -1."""
    quota, period = _number(group / "cpu.cfs_quota_us"), _number(group / "cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None


def _quota_v2(group: Path) -> float | None:
    """As `_quota_v1`. The file holds ``quota period`` in microseconds; a quota of ``max`` is no limit."""
    quota, _, period = _text(group / "cpu.max").partition(" ")
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() and int(period) else None


def _free_bytes_v1(group: Path) -> int | None:
    """Bytes that one group has left; None where there is no such file.

    "No limit" is a number near 2^63: more than any machine has.
    """
    limit, used = _number(group / "memory.limit_in_bytes"), _number(group / "memory.usage_in_bytes")
    return None if limit is None else limit - (used or 0) + _cache(group, "total_inactive_file")


def _free_bytes_v2(group: Path) -> int | None:
    """Bytes that one group has left; None without a limit.

    Above ``memory.high`` a process is slowed down very much, above ``memory.max`` it is killed.
    """
    limits = [_number(group / name) for name in ("memory.max", "memory.high")]
    known = [limit for limit in limits if limit is not None]
    used = _number(group / "memory.current") or 0
    return min(known) - used + _cache(group, "inactive_file") if known else None


def _cache(group: Path, name: str) -> int:
    """Bytes of files kept in memory: the group counts them as used, but frees them before a process is killed.

    name: their key in ``memory.stat``.
    """
    for line in _text(group / "memory.stat").splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.isdecimal():
            return int(value)
    return 0


def _values(system: Path, controller: str, read: Callable[[Path], float | None]) -> Iterator[float]:
    """Limits of every group that holds this process.

    system: the directory `SYSTEM`, another in tests.
    controller: "cpu" or "memory" of version 1; "" for version 2, which has one hierarchy for all.
    read: directory of a group → its limit; None without a limit.
    """
    for group in _groups(system, controller):
        if (value := read(group)) is not None:
            yield value


@functools.cache
def _groups(system: Path, controller: str) -> tuple[Path, ...]:
    """The directories of the groups that hold this process, innermost first. system, controller: as in `_values`."""
    path = _path_in_hierarchy(system, controller)
    for line in _text(system / "proc/self/mountinfo").splitlines() if path is not None else ():
        # "36 35 98:0 ROOT MOUNTPOINT options … - TYPE source SUPEROPTIONS": ROOT is the group that the mount shows.
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or len(kind) < 3 or kind[0] != ("cgroup" if controller else "cgroup2"):
            continue
        if controller and controller not in kind[2].split(","):
            continue
        mount, shown = system / fields[4].lstrip("/"), fields[3].rstrip("/")
        inside = str(path).removeprefix(shown) if f"{path}/".startswith(f"{shown}/") else ""
        group = mount / inside.lstrip("/")
        if ".." in group.parts or not group.is_dir():  # in a container, whose own group is mounted as the root
            group = mount
        return (group, *(parent for parent in group.parents if parent.is_relative_to(mount)))
    return ()


def _path_in_hierarchy(system: Path, controller: str) -> str | None:
    """Path of the process's group, from ``proc/self/cgroup``, whose lines are ``number:controllers:path``."""
    for line in _text(system / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (controller in controllers.split(",")) if controller else (number == "0" and not controllers):
            return path
    return None


def _number(path: Path) -> int | None:
    """The number in a file; None where there is no file, or a word such as ``max``."""
    try:
        return int(_text(path))
    except ValueError:
        return None


def _text(path: Path) -> str:
    """The text of a file; "" where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
