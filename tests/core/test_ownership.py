"""Compiled code is loaded from no place that another user can have written."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from simlab.core import code_cache, ownership, sources
from simlab.core.code_cache import LAYOUT
from simlab.core.ownership import is_own_file, is_private, is_safe_base, make_private, read_own

US = os.getuid()
SOMEBODY = US + 4242
USER = f"simlab-{US}"
LOOP = "from simlab.core.jit import jit\n\n@jit\ndef loop(x):\n    return x + 1.0\n"
CALL = """
import os, simlab.loop, simlab.core.code_cache as c
value = simlab.loop.loop(1.0)
stats = simlab.loop.loop.stats
print(value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), c.cache_dir())
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory like /tmp, and nothing else where a cache could lie."""
    place = tmp_path / "system"
    place.mkdir()
    place.chmod(0o1777)
    blocked = tmp_path / "a file"
    blocked.touch()
    for name in ("SIMLAB_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(blocked))
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv(code_cache.PRIVATE, raising=False)
    monkeypatch.setenv(code_cache.PRIVATE, "")  # so that what is set in its stead is taken back
    code_cache.cache_dir.cache_clear()
    yield place
    code_cache.cache_dir.cache_clear()


def as_foreign(monkeypatch: pytest.MonkeyPatch, *foreign: Path) -> None:
    """These belong to somebody else: truly where we are root, else as far as `lstat` tells."""
    if US == 0:
        for path in foreign:
            os.chown(path, SOMEBODY, SOMEBODY, follow_symlinks=False)
        return
    real = Path.lstat

    def lstat(self: Path) -> os.stat_result:
        found = real(self)
        return os.stat_result((*found[:4], SOMEBODY, *found[5:])) if self in foreign else found

    monkeypatch.setattr(Path, "lstat", lstat)


def test_the_systems_directory_is_used_where_all_is_ours(temporary: Path) -> None:
    assert code_cache.cache_dir() == temporary / USER / LAYOUT
    assert [path.lstat().st_mode & 0o777 for path in (temporary / USER, temporary / USER / LAYOUT)] == [0o700, 0o700]


def planted_parent_for_all(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / USER / LAYOUT).mkdir(parents=True)
    (place / USER).chmod(0o777)


def planted_parent_for_the_group(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / USER / LAYOUT).mkdir(parents=True)
    (place / USER).chmod(0o770)


def planted_link(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "elsewhere" / LAYOUT).mkdir(parents=True, mode=0o700)
    (place / USER).symlink_to(place / "elsewhere")


def planted_inner_link(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / USER).mkdir(mode=0o700)
    (place / "elsewhere").mkdir(mode=0o700)
    (place / USER / LAYOUT).symlink_to(place / "elsewhere")


def foreign_parent(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / USER / LAYOUT).mkdir(parents=True)
    as_foreign(monkeypatch, place / USER)


def foreign_cache(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / USER / LAYOUT).mkdir(parents=True)
    (place / USER).chmod(0o700)
    as_foreign(monkeypatch, place / USER / LAYOUT)


def open_cache(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / USER / LAYOUT).mkdir(parents=True)
    (place / USER).chmod(0o700)
    (place / USER / LAYOUT).chmod(0o777)


PLANTS = [
    planted_parent_for_all, planted_parent_for_the_group, planted_link, planted_inner_link, foreign_parent,
    foreign_cache, open_cache,
]  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_directory_is_not_used(plant, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(temporary, monkeypatch)
    found = code_cache.cache_dir()
    assert found is not None
    assert found.parent.parent == temporary
    assert found.parent.name not in (USER, "elsewhere")
    assert found.parent.lstat().st_mode & 0o777 == 0o700
    assert os.environ[code_cache.PRIVATE] == str(found.parent), "workers find the same"
    code_cache.cache_dir.cache_clear()
    assert code_cache.cache_dir() == found
    code_cache._remove(found.parent, os.getpid() + 1)
    assert found.exists(), "only who made it removes it"
    code_cache._remove(found.parent, os.getpid())
    assert not found.parent.exists()
    code_cache.cache_dir.cache_clear()
    assert code_cache.cache_dir() != found, "gone: another one"


def test_a_systems_directory_that_all_may_change_is_not_used(temporary: Path) -> None:
    temporary.chmod(0o777)
    assert code_cache.cache_dir() is None
    assert list(temporary.iterdir()) == []


def test_a_foreign_private_directory_from_the_environment_is_not_used(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted_link(temporary, monkeypatch)
    (temporary / "simlab-others").mkdir()
    as_foreign(monkeypatch, temporary / "simlab-others")
    monkeypatch.setenv(code_cache.PRIVATE, str(temporary / "simlab-others"))
    found = code_cache.cache_dir()
    assert found is not None
    assert found.parent.name != "simlab-others"


def test_a_chosen_directory_may_be_a_link_but_not_anybodys(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, link = temporary / "real", temporary / "link"
    real.mkdir()
    link.symlink_to(real)
    monkeypatch.setenv("SIMLAB_CACHE_DIR", str(link))

    def found() -> Path | None:
        code_cache.cache_dir.cache_clear()
        return code_cache.cache_dir()

    for mode, used in ((0o755, True), (0o775, True), (0o777, False), (0o1777, True), (0o700, True)):
        real.chmod(mode)
        assert (found() == real / LAYOUT) is used, oct(mode)
    (real / LAYOUT / "lock").symlink_to(temporary / "precious")
    assert found() != real / LAYOUT, "locking would write through it"
    (real / LAYOUT / "lock").unlink()
    as_foreign(monkeypatch, real)
    assert found() != real / LAYOUT


def test_files_are_read_if_only_we_can_have_written_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.write_bytes(b"mine")
    for mode, text in ((0o600, b"mine"), (0o644, b"mine"), (0o664, None), (0o646, None)):
        own.chmod(mode)
        assert read_own(str(own)) == text
    own.chmod(0o600)
    (tmp_path / "link").symlink_to(own)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("link", "pipe", "absent", "."):
        assert read_own(str(tmp_path / name)) is None
    assert [is_own_file(tmp_path / name) for name in ("own", "absent", "link", "pipe")] == [True, True, False, False]
    (tmp_path / "second name").hardlink_to(own)
    assert read_own(str(own)) is None
    (tmp_path / "second name").unlink()
    assert read_own(str(own)) == b"mine"
    monkeypatch.setattr(os, "getuid", lambda: SOMEBODY)
    assert read_own(str(own)) is None
    assert not is_own_file(own)


def test_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    assert not is_private(tmp_path / "file")
    assert not is_safe_base(tmp_path / "file")
    assert make_private(tmp_path, "a", "b") == tmp_path / "a" / "b"
    (tmp_path / "a").chmod(0o720)
    assert make_private(tmp_path, "a", "b") is None
    assert is_safe_base(tmp_path / "a"), "our group may write what we chose"
    monkeypatch.setattr(os, "getuid", lambda: SOMEBODY)
    assert not is_private(tmp_path / "a" / "b")
    monkeypatch.setattr(ownership, "ROOT", US)
    assert not is_safe_base(tmp_path / "a"), "root's, and a group may write it"
    (tmp_path / "a").chmod(0o1777)
    assert is_safe_base(tmp_path / "a")


class Payload:
    """Unpickled, it leaves a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def package_in(tmp_path: Path) -> Path:
    copy = tmp_path / "copy" / "simlab"
    shutil.copytree(sources.PACKAGE / "core", copy / "core", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "__init__.py").write_text("")
    (copy / "loop.py").write_text(LOOP)
    return copy


def call(package: Path) -> tuple[str, int, int, Path]:
    env = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", CALL], env=env, cwd=package.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    value, hits, misses, place = done.stdout.split(maxsplit=3)
    return value, int(hits), int(misses), Path(place.strip())


def test_a_planted_or_damaged_file_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    files, mark = code_cache._OwnFiles(str(tmp_path), "loop", "key"), tmp_path / "mark"
    old = os.umask(0o002)
    files.save("signature", [1, 2])
    os.umask(old)
    index, data = tmp_path / "loop.nbi", tmp_path / "loop.1.nbc"
    assert {path.lstat().st_mode & 0o777 for path in (index, data)} == {0o600}, "whatever the umask"
    assert files.load("signature") == [1, 2]
    assert code_cache._OwnFiles(str(tmp_path), "loop", "another key").load("signature") is None
    payload = pickle.dumps(Payload(mark))
    (tmp_path / "planted").write_bytes(payload)
    for file in (index, data):
        kept = file.read_bytes()
        file.write_bytes(payload)
        file.chmod(0o666)  # as from a time when all could write here
        assert files.load("signature") is None
        file.unlink()
        file.symlink_to(tmp_path / "planted")
        assert files.load("signature") is None
        files.save("signature", [1, 2])
        assert not file.is_symlink()
        assert (tmp_path / "planted").read_bytes() == payload, "not written through"
        assert files.load("signature") == [1, 2]
        for damaged in (b"", kept[: len(kept) // 2], b"\xff" * 100):
            file.write_bytes(damaged)
            assert files.load("signature") is None
            files.save("signature", [1, 2])
            assert files.load("signature") == [1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop.1.nbc", "loop.nbi", "planted"]
    index.write_bytes(payload)  # ours: this shows that the payload works
    files.load("signature")
    assert mark.exists()


def test_a_whole_planted_cache_is_not_loaded_and_workers_share_a_private_one(temporary: Path, tmp_path: Path) -> None:
    package, cache, mark = package_in(tmp_path), temporary / USER / LAYOUT, tmp_path / "mark"
    assert call(package) == ("2.0", 0, 1, cache)
    assert call(package) == ("2.0", 1, 0, cache), "kept, and found again"
    (index,) = cache.glob("*.nbi")
    index.write_bytes(pickle.dumps(Payload(mark)))
    (temporary / USER).chmod(0o777)
    value, hits, misses, place = call(package)
    assert (value, hits, misses) == ("2.0", 0, 1)
    assert place.parent.parent == temporary
    assert place.parent != temporary / USER
    assert not mark.exists()
    assert not place.parent.exists(), "removed at the end"
    script = f"import subprocess, sys; exec({CALL!r})\nsubprocess.run([sys.executable, '-P', '-c', {CALL!r}])"
    env = {**os.environ, "PYTHONPATH": str(package.parent)}
    done = subprocess.run([sys.executable, "-P", "-c", script], env=env, capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=3) for line in done.stdout.splitlines()]
    assert sorted(line[1] for line in lines) == ["0", "1"], "compiled once, loaded by the processes it started"
    assert len({line[3] for line in lines}) == 1
    assert [path.name for path in temporary.iterdir()] == [USER]
