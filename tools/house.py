"""Counts how a checkout of simlab is built: what the house rules forbid, found in the text of its files.

    python tools/house.py            # this checkout
    python tools/house.py OTHER      # another one, of any age
    python tools/house.py --list     # with file and line of everything that is counted

The rules, which tests/test_rules.py enforces: a kind is an object with methods, so nobody asks a kind for its module,
probes it by hasattr, or compares its name; an underscore means private to the room; argument lists are short.
What is allowed all the same stands in two tables with its reason, `NO_KINDS` and `LONG_SIGNATURES`.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_ARGUMENTS = 8
KIND_NAMES = {"kind", "kind_of"}
ALL = ("simlab", "tools")
NO_KINDS = {
    "simlab/activations/_functions.py": ({"function"}, "a function of the user's, or a ufunc"),
    "simlab/activations/custom.py": ({"function"}, "a function of the user's, or a ufunc"),
    "simlab/cli/_progress.py": ({"shell"}, "IPython's shell, which may be a notebook's"),
    "simlab/core/catalogue.py": ({"value"}, "any value in a module's namespace"),
    "simlab/core/checks.py": ({"values"}, "a user's data, which may be a sparse matrix of scipy's"),
    "simlab/core/code_key.py": ({"value", "module"}, "anything that compiled code refers to"),
    "simlab/core/json_schema.py": ({"mark"}, "an annotation of pydantic's"),
    "simlab/figures/words.py": ({"value", "other"}, "a value of a coordinate, a number or text"),
    "simlab/machines/estimator.py": ({"self", "X"}, "scikit-learn: what is learned is there after `fit`; a data frame"),
    "simlab/training/estimator.py": ({"self"}, "scikit-learn: what is learned is there after `fit`"),
    "simlab/record/checked.py": ({"dataset"}, "a member of an HDF5 file, which may be damaged"),
}
"""File → the names of objects in it that may be probed by hasattr, and what they are: no kinds."""
LONG_SIGNATURES = {
    "simlab/__init__.py": ({"run", "train"}, "public: every argument has a name and a default"),
    "simlab/machines/path.py": ({"ridge_path"}, "public: every argument beyond the data has a default"),
}
"""File → functions that may have more arguments, and why. Commands may too: click makes each option an argument."""


@dataclass(frozen=True)
class Found:
    """One place that a rule speaks of.

    file: path relative to the checkout, with forward slashes.
    line: number of the line, starting at 1.
    text: the text of the line, or what is wrong there.
    """

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Source:
    """A Python file of a checkout.

    file: path relative to the checkout, with forward slashes.
    text: its text.
    tree: its syntax tree.
    """

    file: str
    text: str
    tree: ast.Module

    def at(self, node: ast.expr | ast.stmt) -> Found:
        return Found(self.file, node.lineno, self.text.splitlines()[node.lineno - 1].strip())


def sources(root: Path, folders: tuple[str, ...] = ALL) -> Iterator[Source]:
    """The Python files of these folders of a checkout."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            yield Source(path.relative_to(root).as_posix(), text, ast.parse(text))


def modules_of_kinds(source: Source) -> Iterator[Found]:
    """``module_of(kind)``: asking a kind for its module."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute) and _name(node) == "module_of":
            yield source.at(node)


def probes(source: Source) -> Iterator[Found]:
    """``hasattr(kind, …)`` and ``getattr(kind, "name", default)``: asking a kind whether something is there.

    Modules may be asked, and what is in them: ``hasattr(os, "getuid")``. So may the objects in `NO_KINDS`.
    """
    modules, (others, _) = _modules(source.tree), NO_KINDS.get(source.file, (set(), ""))
    for node in ast.walk(source.tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
            continue
        if node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3):
            name = _first_name(node.args[0])
            if name not in modules and name not in others:
                yield source.at(node)


def comparisons_of_names(source: Source) -> Iterator[Found]:
    """``x.kind == "relu"``, ``kind_of(x) in (…)``: what a kind can do, told by its name."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Compare) and any(
            isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in node.ops
        ):
            sides = [node.left, *node.comparators]
            if any(_is_kind_name(side) for side in sides) and any(_is_text(side) for side in sides):
                yield source.at(node)
        elif isinstance(node, ast.Match) and _is_kind_name(node.subject):
            yield source.at(node)


def classes_named_params(source: Source) -> Iterator[Found]:
    """``class Params``: a kind is named for what it is."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and node.name == "Params":
            yield source.at(node)


def private_imports(source: Source) -> Iterator[Found]:
    """Imports of an underscored module or name of another room."""
    here = _room(source.file)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            imported = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        else:
            continue
        for parts in (name.split(".") for name in imported):
            if parts[0] in ALL and tuple(parts[:2]) != here and any(map(_is_private, parts)):
                yield source.at(node)
                break


def long_argument_lists(source: Source) -> Iterator[Found]:
    """Functions of more than eight arguments, compiled ones too; ``self`` and ``cls`` do not count.

    Commands may have more, and those in `LONG_SIGNATURES`.
    """
    allowed, _ = LONG_SIGNATURES.get(source.file, (set(), ""))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in allowed:
            if any(_name(one) == "command" for one in node.decorator_list):
                continue
            a = node.args
            names = [one.arg for one in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
            count = len(names) - (names[:1] in (["self"], ["cls"]))
            if count > MOST_ARGUMENTS:
                yield Found(source.file, node.lineno, f"def {node.name}: {count} arguments")


def type_ignores(source: Source) -> Iterator[Found]:
    """Comments that tell the type checker to look away."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and token.string.startswith("# type: ignore"):
            yield Found(source.file, token.start[0], token.line.strip())


def unknown_attributes(source: Source) -> Iterator[Found]:
    """The same for an attribute that the type does not have."""
    for found in type_ignores(source):
        if re.search(r"type: ignore\[[^\]]*attr-defined", found.text):
            yield found


RULES: dict[str, Callable[[Source], Iterator[Found]]] = {
    "module_of": modules_of_kinds,
    "hasattr of a kind, getattr with a default": probes,
    "comparisons of a kind's name": comparisons_of_names,
    "classes named Params": classes_named_params,
    "underscored imports across rooms": private_imports,
    f"functions with more than {MOST_ARGUMENTS} arguments": long_argument_lists,
    "type: ignore": type_ignores,
    "type: ignore[attr-defined]": unknown_attributes,
}


def _name(node: ast.expr) -> str:
    """The last name of ``name``, ``x.name`` or ``x.name(…)``."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _first_name(node: ast.expr) -> str:
    """``os`` of ``os.path.join(…)``."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def _modules(tree: ast.Module) -> set[str]:
    """Names under which a file imports modules: ``import numpy as np``, ``from simlab import kernels``."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "simlab":
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def _is_kind_name(node: ast.expr) -> bool:
    """``x.kind`` or ``kind_of(x)``. A plain variable may hold text that a user typed; ``x.dtype.kind`` is NumPy's."""
    if not isinstance(node, ast.Attribute | ast.Call) or _name(node) not in KIND_NAMES:
        return False
    return not (isinstance(node, ast.Attribute) and _name(node.value) == "dtype")


def _is_text(node: ast.expr) -> bool:
    """A string, a collection of strings, or a constant in capitals that may hold them."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(map(_is_text, node.elts))
    return (isinstance(node, ast.Constant) and isinstance(node.value, str)) or _name(node).isupper()


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _room(file: str) -> tuple[str, ...]:
    """("simlab", "networks") of simlab/networks/mlp.py; ("simlab",) of simlab/training.py."""
    return tuple(Path(file).parts[:-1][:2])


def lines(root: Path, folders: tuple[str, ...]) -> int:
    """Number of lines of the Python files."""
    return sum(source.text.count("\n") for source in sources(root, folders))


def main() -> None:
    parser = argparse.ArgumentParser(description="Counts how a checkout of simlab is built.")
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--list", action="store_true", help="print file and line of everything that is counted")
    options = parser.parse_args()
    if not (options.checkout / "simlab").is_dir():
        sys.exit(f"{options.checkout}: no checkout of simlab")
    every = list(sources(options.checkout))
    for name, rule in RULES.items():
        found = [one for source in every for one in rule(source)]
        shipped = sum(one.file.startswith("simlab/") for one in found)
        print(f"{name:<40} simlab {shipped:>5}   tools {len(found) - shipped:>4}")
        if options.list:
            print(*(f"    {one}" for one in found), sep="\n")
    counts = {folder: lines(options.checkout, (folder,)) for folder in ("simlab", "tools", "tests")}
    print(f"{'lines':<40} " + "   ".join(f"{folder} {count:>6}" for folder, count in counts.items()))


if __name__ == "__main__":
    main()
