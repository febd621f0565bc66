"""Attributes of a kind's class without importing its file: only the statements that they need are run.

A claim's specs are texts that a few lines of its file put together. The rest of the file draws and fits, and imports
slow libraries for that. `constants` runs those few lines alone, in their order:

- the assignments in the class that give the wanted attributes;
- the assignments and functions of the file that these depend on;
- the imports that these need. Modules of simlab are not imported either, but read in the same way.
"""

from __future__ import annotations
import __future__

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from simlab.core.catalogue import added, document, get, plain
from simlab.core.sources import PACKAGE

ANNOTATIONS = __future__.annotations.compiler_flag
"""Leaves annotations unevaluated: the imports of the types that they name are not run."""


def constants(room: str, kind: str, names: Iterable[str]) -> SimpleNamespace:
    """Attributes of a kind's class, and as ``__doc__`` the docstring of its file.

    room, kind: which kind. One of another package is imported.
    names: the attributes.
    """
    if kind in added(room):
        cls = get(room, kind)
        return SimpleNamespace(**{name: getattr(cls, name) for name in names}, __doc__=document(room, kind))
    return SimpleNamespace(**_values(PACKAGE / room / f"{kind}.py", tuple(names)))


@functools.cache
def _values(path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """Name → value of these names of a file, and its docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    needed, statements, body = set(names), list[ast.stmt](), _flat(tree, path.stem)
    # More and more statements, until those that were found need nothing else.
    while len(found := [s for s in body if needed & set(_bound(s))]) > len(statements):
        statements = found
        needed.update(name for statement in statements for name in _used(statement))
    space: dict[str, Any] = {"__name__": ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)}
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            _import(statement, needed, space)
        else:
            module = ast.Module([statement], type_ignores=[])
            exec(compile(module, str(path), "exec", ANNOTATIONS, dont_inherit=True), space)
    return {**{name: space[name] for name in names}, "__doc__": ast.get_docstring(tree)}


def _flat(tree: ast.Module, kind: str) -> list[ast.stmt]:
    """The statements of a file, with its kind's class replaced by the assignments in that class."""
    found: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef) and plain(statement.name) == plain(kind):
            found += [inner for inner in statement.body if isinstance(inner, ast.Assign | ast.AnnAssign)]
        else:
            found.append(statement)
    return found


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield _name(node)


def _name(alias: ast.alias) -> str:
    """The name that an import defines: ``a`` for ``import a.b``."""
    return alias.asname or alias.name.partition(".")[0]


def _used(statement: ast.stmt) -> Iterator[str]:
    """The names that occur in a statement, also inside a function that it defines; annotations do not count."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            yield node.id
        for field, value in ast.iter_fields(node):
            if field not in ("annotation", "returns"):
                todo += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST)]


def _import(statement: ast.Import | ast.ImportFrom, needed: set[str], space: dict[str, Any]) -> None:
    """Define those names of an import statement that are `needed`, in `space`."""
    for alias in statement.names:
        if _name(alias) not in needed:
            continue
        module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
        if module.partition(".")[0] == PACKAGE.name:
            space[_name(alias)] = _of_simlab(PACKAGE.parent.joinpath(*module.split(".")), alias.name)
        else:
            one = type(statement)(**{**vars(statement), "names": [alias]})
            exec(compile(ast.Module([one], type_ignores=[]), "<import>", "exec"), space)


def _of_simlab(module: Path, name: str) -> Any:
    """What ``from module import name`` gives."""
    if (file := module / f"{name}.py").is_file():
        return _Module(file)
    file = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    return _values(file, (name,))[name]


class _Module:
    """Stands in for a module: its names have the values that its file gives them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        return _values(self._path, (name,))[name]
