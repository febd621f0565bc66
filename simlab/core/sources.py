"""The package's own source files: their hashes, and which of them a file imports."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
EXTENDS_NUMBA = re.compile(
    rb"\b(overload(_\w+)?|lower_\w+|type_callable|infer(_\w+)?|typeof_impl|as_numba_type|register_\w+"
    rb"|make_attribute_wrapper|unbox|box|jitclass|structref|StructRef)\b"
)
NOT_EXTENDING = ("core/code_key.py", "core/jit.py", "core/sources.py")  # they use these words otherwise


@functools.cache
def source_hash() -> str:
    """Hash of every Python file of the package: tells a result which code made it."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def in_package(path: str) -> Path | None:
    """The file, if it is one of the package's."""
    file = Path(path).resolve()
    return file if file.is_relative_to(PACKAGE) else None


def extending_files() -> list[Path]:
    """The files of the package that may change how numba compiles by being imported."""
    return [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).as_posix() not in NOT_EXTENDING
        and b"numba" in (text := path.read_bytes())
        and EXTENDS_NUMBA.search(text)
    ]


@functools.cache
def with_imports(path: Path) -> str:
    """Hash of a file of the package and of every file of the package that it imports, directly or not."""
    reached, todo = set[Path](), [path]
    while todo:
        file = todo.pop()
        if file not in reached:
            reached.add(file)
            todo += _imported_files(file)
    digest = hashlib.sha256()
    for file in sorted(reached):
        digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def _imported_files(path: Path) -> list[Path]:
    inside = path.relative_to(PACKAGE.parent).with_suffix("").parts
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
    """The files that ``import name`` runs; `name` may end in something that is not a module."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return
    folder = PACKAGE
    for part in parts[1:]:
        yield folder / "__init__.py"
        if (file := folder / f"{part}.py").is_file():
            yield file
        if not (folder := folder / part).is_dir():
            return
    if (file := folder / "__init__.py").is_file():
        yield file
