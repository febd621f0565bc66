"""The source files that results depend on: simlab's and those of packages that add kinds; their hashes and imports."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of simlab."""
EXTENDS_NUMBA = re.compile(
    rb"\b(overload(_\w+)?|lower_\w+|type_callable|infer(_\w+)?|typeof_impl|as_numba_type|register_\w+"
    rb"|make_attribute_wrapper|unbox|box|jitclass|structref|StructRef)\b"
)
"""Words of numba by which a file can change how other functions are compiled."""
NOT_EXTENDING = ("core/code_key.py", "core/jit.py", "core/sources.py")
"""Files that contain these words but change nothing."""


@functools.cache
def entry_points() -> tuple[importlib.metadata.EntryPoint, ...]:
    """Every entry point of a group ``simlab.…``: kinds that other packages add (`simlab.core.catalogue`)."""
    found = importlib.metadata.entry_points()
    return tuple(
        point for group in sorted(found.groups) if group.startswith("simlab.") for point in found.select(group=group)
    )


@functools.cache
def adding_packages() -> dict[str, Path]:
    """Package that adds kinds → its folder, or its file where it is a single module. Imports none of them."""
    found = {}
    for name in sorted({point.value.partition(":")[0].partition(".")[0] for point in entry_points()}):
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            continue
        if spec is None or name == PACKAGE.name:
            continue
        if place := next(iter(spec.submodule_search_locations or ()), spec.origin):
            found[name] = Path(place).resolve()
    return found


def _folders() -> dict[str, Path]:
    """Package → its folder, or its file, of simlab and of every package that adds kinds."""
    return {PACKAGE.name: PACKAGE, **adding_packages()}


def _source_files() -> list[Path]:
    """Every Python file of these packages, simlab's first."""
    folders = _folders().values()
    return [path for at in folders for path in (sorted(at.rglob("*.py")) if at.is_dir() else [at])]


def _label(path: Path) -> str:
    """The name by which a file goes into a hash: its path inside simlab, or ``+package/…`` in another package."""
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE).as_posix()
    root = next(at for at in adding_packages().values() if path.is_relative_to(at))
    return "+" + path.relative_to(root.parent).as_posix()


@functools.cache
def source_hash() -> str:
    """Hash of every Python file of simlab and of the packages that add kinds: recorded with the results it made."""
    digest = hashlib.sha256()
    for path in _source_files():
        digest.update(_label(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def in_package(path: str) -> Path | None:
    """The file at `path`, resolved; None where it is neither of simlab nor of a package that adds kinds."""
    file = Path(path).resolve()
    return file if any(file.is_relative_to(at) for at in _folders().values()) else None


def extending_files() -> list[Path]:
    """The files that, when imported, may change how numba compiles other functions."""
    return [
        path
        for path in _source_files()
        if _label(path) not in NOT_EXTENDING and b"numba" in (text := path.read_bytes()) and EXTENDS_NUMBA.search(text)
    ]


@functools.cache
def with_imports(path: Path) -> str:
    """Hash of a file and of every file of these packages that it imports, directly or indirectly."""
    reached, todo = set[Path](), [path]
    while todo:
        file = todo.pop()
        if file not in reached:
            reached.add(file)
            todo += _imported_files(file)
    digest = hashlib.sha256()
    for file in sorted(reached):
        digest.update(_label(file).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def _imported_files(path: Path) -> list[Path]:
    """The files of these packages that a file imports itself, also inside its functions."""
    root = next(at for at in _folders().values() if path.is_relative_to(at))
    inside = path.relative_to(root.parent).with_suffix("").parts
    package = ".".join(inside[:-1])
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return [file for name in sorted(names) for file in _files_of(name)]


def _files_of(name: str) -> Iterator[Path]:
    """The files that importing `name` runs, packages' ``__init__.py`` included. Its last part may be no module."""
    parts = name.split(".")
    folder = _folders().get(parts[0])
    if folder is None:
        return
    if folder.is_file():
        yield folder
        return
    for part in parts[1:]:
        yield folder / "__init__.py"
        if (file := folder / f"{part}.py").is_file():
            yield file
        if not (folder := folder / part).is_dir():
            return
    if (file := folder / "__init__.py").is_file():
        yield file
