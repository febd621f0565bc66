"""Cores and memory that this process may use, which may be less than the machine has.

A process can be held back in two ways, and both count here:

- CPU affinity (`taskset`, Slurm, a cpuset): the cores that it may run on.
- Control groups (containers, Slurm, systemd): a share of CPU time, and bytes of memory. A limit of a group holds for
  all groups inside it, so every group from the process's own up to the root is asked. Version 2 of the interface has
  the files ``cpu.max`` and ``memory.max``, version 1 ``cpu.cfs_quota_us`` and ``memory.limit_in_bytes``.

Systems without control groups (macOS) have no such files, and no such limits.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

SYSTEM = Path("/")  # where proc/ and the mounts of control groups are found


def cores() -> int:
    """Cores that this process may use: its affinity, and its quota of CPU time rounded up to whole cores."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(mine, math.ceil(_cpu_quota(SYSTEM))))


def free_memory() -> int:
    """Bytes that this process could allocate now without swapping or being killed."""
    import psutil  # 50 ms

    limits = [*_values(SYSTEM, "memory", _room_v1), *_values(SYSTEM, "", _room_v2)]
    return max(0, int(min([psutil.virtual_memory().available, *limits])))


@functools.cache  # reading it takes a millisecond, a small Gram matrix less
def _cpu_quota(system: Path) -> float:
    """Cores' worth of CPU time that the control groups allow; at most the machine's cores."""
    quotas = [*_values(system, "cpu", _quota_v1), *_values(system, "", _quota_v2)]
    return min([os.cpu_count() or 1, *quotas])


def _quota_v1(group: Path) -> float | None:
    """Cores' worth of CPU time; None: no limit. A quota of -1 is none."""
    quota, period = _number(group / "cpu.cfs_quota_us"), _number(group / "cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None


def _quota_v2(group: Path) -> float | None:
    """The file holds ``quota period`` in microseconds; a quota of ``max`` is none."""
    quota, _, period = _text(group / "cpu.max").partition(" ")
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() and int(period) else None


def _room_v1(group: Path) -> int | None:
    # "No limit" is a number near 2^63, which leaves more room than any machine has.
    limit, used = _number(group / "memory.limit_in_bytes"), _number(group / "memory.usage_in_bytes")
    return None if limit is None else limit - (used or 0) + _cache(group, "total_inactive_file")


def _room_v2(group: Path) -> int | None:
    """Above ``memory.high`` a process is slowed to a crawl, above ``memory.max`` it is killed."""
    limits = [_number(group / name) for name in ("memory.max", "memory.high")]
    known = [limit for limit in limits if limit is not None]
    used = _number(group / "memory.current") or 0
    return min(known) - used + _cache(group, "inactive_file") if known else None


def _cache(group: Path, name: str) -> int:
    """Bytes of files kept in memory: counted as used, but given back before anybody is killed."""
    for line in _text(group / "memory.stat").splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.isdecimal():
            return int(value)
    return 0


def _values(system: Path, controller: str, of: Callable[[Path], float | None]) -> Iterator[float]:
    """What `of` finds in every group that holds this process, of one controller ("": version 2, all controllers)."""
    for group in _groups(system, controller):
        if (value := of(group)) is not None:
            yield value


@functools.cache
def _groups(system: Path, controller: str) -> tuple[Path, ...]:
    """The directories of the groups that hold this process, innermost first."""
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
    """The process's group in ``proc/self/cgroup``, whose lines are ``number:controllers:path``."""
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
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
