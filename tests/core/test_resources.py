"""Cores and memory under affinity and control groups: real affinity, made-up control groups."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

import simlab
from simlab.core import resources
from simlab.lab.options import RunOptions
from simlab.lab.spec import resolve
from tests.support.runs import small_tables

GB = 1 << 30
V2 = "30 23 0:26 {root} /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
V1_CPU = "33 31 0:30 {root} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct"
V1_MEMORY = "35 31 0:32 {root} /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory"
Machine = Callable[..., Path]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A system of 64 cores and 256 GB, with the given cgroup and mountinfo lines and files."""

    def make(cgroup: str, mounts: list[str], files: dict[str, str], root: str = "/") -> Path:
        every = {"proc/self/cgroup": cgroup, "proc/self/mountinfo": "\n".join(m.format(root=root) for m in mounts)}
        for name, text in (every | {f"sys/fs/cgroup/{name}": text for name, text in files.items()}).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text + "\n")
        monkeypatch.setattr(resources, "SYSTEM", tmp_path)
        return tmp_path

    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("svmem", (), {"available": 256 * GB})())
    return make


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("300000 100000", 3), ("150000 100000", 2), ("5000 100000", 1), ("max 100000", 64), ("9900000 100000", 64)],
)
def test_the_quota_of_version_2(machine: Machine, text: str, wanted: int) -> None:
    machine("0::/user/job", [V2], {"user/job/cpu.max": text})
    assert resources.cores() == wanted


def test_an_outer_group_limits_as_well(machine: Machine) -> None:
    files = {"user/cpu.max": "200000 100000", "user/job/cpu.max": "800000 100000", "user/memory.max": str(8 * GB)}
    machine("0::/user/job", [V2], files)
    assert resources.cores() == 2
    assert resources.free_memory() == 8 * GB


@pytest.mark.parametrize(("quota", "wanted"), [("250000", 3), ("-1", 64), ("0", 64)])
def test_the_quota_of_version_1(machine: Machine, quota: str, wanted: int) -> None:
    files = {"cpu,cpuacct/job/cpu.cfs_quota_us": quota, "cpu,cpuacct/job/cpu.cfs_period_us": "100000"}
    machine("3:cpuset:/other\n2:cpu,cpuacct:/job\n0::/", [V1_CPU], files)
    assert resources.cores() == wanted


def test_memory_of_version_2_counts_what_is_used_but_for_cached_files(machine: Machine) -> None:
    stat = f"anon {2 * GB}\ninactive_file {GB}\nactive_file {GB}"
    files = {"job/memory.max": str(10 * GB), "job/memory.current": str(4 * GB), "job/memory.stat": stat}
    system = machine("0::/job", [V2], files)
    assert resources.free_memory() == 7 * GB
    (system / "sys/fs/cgroup/job/memory.high").write_text(f"{6 * GB}\n")
    assert resources.free_memory() == 3 * GB
    (system / "sys/fs/cgroup/job/memory.current").write_text(f"{99 * GB}\n")
    assert resources.free_memory() == 0


def test_memory_of_version_1(machine: Machine) -> None:
    files = {
        "memory/job/memory.limit_in_bytes": str(10 * GB),
        "memory/job/memory.usage_in_bytes": str(4 * GB),
        "memory/job/memory.stat": f"inactive_file 5\ntotal_inactive_file {GB}",
        "memory/memory.limit_in_bytes": "9223372036854771712",
    }
    machine("4:memory:/job\n0::/", [V1_CPU, V1_MEMORY], files)
    assert resources.free_memory() == 7 * GB


@pytest.mark.parametrize(
    ("cgroup", "root"),
    [("0::/", "/"), ("0::/docker/a1", "/docker/a1"), ("0::/../../elsewhere", "/"), ("0::/docker/a1", "/")],
    ids=["namespace", "mounted group", "outside the namespace", "path that is not there"],
)
def test_a_container_sees_its_own_group_as_the_root(machine: Machine, cgroup: str, root: str) -> None:
    machine(cgroup, [V2], {"cpu.max": "400000 100000", "memory.max": str(3 * GB)}, root)
    assert (resources.cores(), resources.free_memory()) == (4, 3 * GB)


def test_without_control_groups_the_machine_is_the_limit(machine: Machine, tmp_path: Path) -> None:
    shutil.rmtree(machine("", [], {}) / "proc")
    assert (resources.cores(), resources.free_memory()) == (64, 256 * GB)


def test_affinity_counts(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine("0::/job", [V2], {"job/cpu.max": "800000 100000"})
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5}, raising=False)
    assert resources.cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert resources.cores() == 8


def test_workers_share_the_cores_that_may_be_used(machine: Machine) -> None:
    machine("0::/job", [V2], {"job/cpu.max": "800000 100000"})
    tables = small_tables(**{"network.width": [10, 20]})
    for threads, workers in ((1, 8), (3, 2), (16, 1)):
        tables["experiment"]["threads"] = threads
        assert RunOptions().worker_count(resolve(tables)) == workers


@pytest.mark.skipif(shutil.which("taskset") is None, reason="no taskset here to set the affinity of a process")
def test_a_process_held_to_one_core_plans_one_worker(tmp_path: Path, write_spec: Callable[..., Path]) -> None:
    path = write_spec(small_tables(**{"network.width": [10, 20]}))
    core = str(min(os.sched_getaffinity(0)))
    command = [sys.executable, "-m", "simlab", "run", str(path), "--dry-run", "--json"]
    done = subprocess.run(["taskset", "-c", core, *command], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert json.loads(done.stdout)["workers"] == 1


def test_nothing_else_asks_for_cores_or_memory() -> None:
    """One helper, used everywhere; the provenance names the machine's cores whatever may be used of them."""
    package = Path(simlab.__file__).parent
    asks = ("cpu_count", "sched_getaffinity", "virtual_memory", "meminfo", "sysconf")
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in asks)
    }
    assert found == {"core/resources.py", "record/provenance.py"}
