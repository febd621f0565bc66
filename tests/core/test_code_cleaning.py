"""Unused compiled code goes, used code and everything that is not simlab's stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from filelock import FileLock

from simlab.core import code_cleaning
from simlab.core.code_cleaning import DAY_SECONDS, clean

NOW = time.time()
KEY = "0123456789abcdef01234567"


def put(path: Path, days: float, size: int = 10) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    os.utime(path, (NOW - days * DAY_SECONDS, NOW - days * DAY_SECONDS))
    return path


def entry(directory: Path, name: str, used: float, written: float, size: int = 10) -> list[Path]:
    """An index used, and two data files written, so many days ago."""
    base = f"simlab.networks.loops.{name}-{KEY}.py311"
    files = [put(directory / f"{base}.nbi", used, size)]
    return [*files, *(put(directory / f"{base}.{i}.nbc", written, size) for i in (1, 2))]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "compiled-1").mkdir()
    return tmp_path / "compiled-1"


def cleaned(directory: Path, days_later: float = 0.0) -> None:
    clean(directory, FileLock(directory / "lock"), NOW + days_later * DAY_SECONDS)


def test_code_that_nothing_used_for_a_month_goes(directory: Path) -> None:
    used, unused = entry(directory, "used", 29, 200), entry(directory, "unused", 31, 31)
    foreign = [put(directory / name, 400) for name in ("notes.txt", "mine.nbi", "lock", f"a-{KEY}.py311.nbc")]
    half_written = put(directory / f"a.f-{KEY}.py311.1.nbc.tmp.0011aabb", 31)
    cleaned(directory)
    assert all(file.exists() for file in (*used, *foreign))
    assert not any(file.exists() for file in (*unused, half_written))


def test_beyond_the_limit_what_was_used_longest_ago_goes(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cleaning, "MOST_BYTES", 1000)
    entries = {days: entry(directory, f"f{days}", days, 20, size=100) for days in (1, 2, 3, 4, 5)}  # 300 bytes each
    cleaned(directory)
    assert {days for days, files in entries.items() if files[0].exists()} == {1, 2, 3}
    assert {days for days, files in entries.items() if files[2].exists()} == {1, 2, 3}


def test_once_a_day(directory: Path) -> None:
    cleaned(directory)
    unused = entry(directory, "unused", 31, 31)
    cleaned(directory, 0.5)
    assert unused[0].exists()
    cleaned(directory, 1.5)
    assert not unused[0].exists()


def test_earlier_layouts_go_when_nobody_uses_them(directory: Path) -> None:
    base = directory.parent
    old = put(base / "numba-0123456789abcdef" / "room_aa" / "loop.nbi", 3)
    in_use = put(base / "numba-fedcba9876543210" / "room_aa" / "loop.nbi", 1)
    read = put(base / "numba-aaaaaaaaaaaaaaaa" / "room_aa" / "loop.nbi", 9)
    os.utime(read, (NOW, NOW - 9 * DAY_SECONDS))
    foreign = put(base / "numba-mine" / "x", 400), put(base / "other" / "x", 400)
    elsewhere = put(base.parent / f"{base.name}-elsewhere" / "x", 400)
    (base / "numba-bbbbbbbbbbbbbbbb").symlink_to(elsewhere.parent)
    for path in (old, in_use, read):
        for folder in (path.parent, path.parent.parent):
            os.utime(folder, (NOW - 3 * DAY_SECONDS, NOW - 3 * DAY_SECONDS))
    cleaned(directory)
    assert not (base / "numba-0123456789abcdef").exists()
    assert all(path.exists() for path in (in_use, read, *foreign, elsewhere))


def test_a_locked_layout_stays(directory: Path) -> None:
    old = directory.parent / "numba-0123456789abcdef"
    put(old / "loop.nbi", 3)
    with FileLock(old / "lock"):
        for path in (old / "lock", old):
            os.utime(path, (NOW - 3 * DAY_SECONDS, NOW - 3 * DAY_SECONDS))
        cleaned(directory)
        assert (old / "loop.nbi").exists()


def test_nothing_is_said_where_nothing_can_be_removed(tmp_path: Path) -> None:
    clean(tmp_path / "missing", FileLock(tmp_path / "lock"), NOW)
