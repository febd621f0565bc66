"""What recompiles a function and what does not: edits of a small package, run in processes of their own."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from simlab import activations
from simlab.core import code_key, sources
from simlab.core import jit as house

FILES = {
    "parts.py": '''
from typing import NamedTuple
import numpy as np
from numba import float64, int64
from simlab.core.jit import jit
from simlab.deep import deep

WEIGHT = 3.0
TABLE = np.array([1.0, 2.0])
SIGNATURE = float64(float64)

class Pair(NamedTuple):
    first: float
    second: float

@jit
def helper(x):
    """Adds."""
    return x + 1.0

@jit
def middle(x):
    return deep(x)

@jit
def inner(x):
    return x * 2.0

@jit
def with_default(x, more=5.0):
    return x + more

@jit(signatures=[SIGNATURE])
def declared(x):
    return x + 0.5

def unrelated():
    return 1
''',
    "deep.py": """
from simlab.core.jit import jit

@jit
def deep(x):
    return x + 10.0
""",
    "machine.py": """
from numba import types
from numba.core.extending import intrinsic
from simlab.written import ADDED

@intrinsic
def shifted(typing, x):
    def code(context, builder, signature, args):
        return builder.fadd(args[0], context.get_constant(types.float64, ADDED))
    return types.float64(types.float64), code
""",
    "written.py": "ADDED = 7.0\n",
    "loops.py": '''
from simlab import parts
from simlab.core.jit import jit
from simlab.machine import shifted
from simlab.parts import TABLE, WEIGHT, Pair, declared, helper, inner, middle, with_default

@jit
def of_helper(x):
    """A docstring."""
    return helper(x)

@jit
def of_deep(x):
    return middle(x)

@jit
def of_constant(x):
    return x * WEIGHT

@jit
def of_table(x):
    return x * TABLE[1]

@jit
def of_tuple(x):
    return Pair(x, 2.0 * x)[0]

@jit
def of_default(x):
    return with_default(x)

@jit
def of_declared(x):
    return declared(x)

@jit
def of_intrinsic(x):
    return shifted(x)

@jit
def of_flags(x):
    return x / 4.0

@jit
def of_nothing(x):
    return x

def made(function, name):
    @jit(named=name)
    def of_closure(x):
        return function(x)
    return of_closure

of_closure = made(inner, "inner")
''',
    "claims/__init__.py": "",
    "claims/claim.py": "STATEMENT = 'one'\n",
}
CALL = """
import json, simlab.loops as loops
def seen(name):
    function = getattr(loops, name)
    value = float(function(1.0))
    return value, sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values())
print(json.dumps({name: seen(name) for name in vars(loops) if name.startswith("of_")}))
"""
VALUES = {
    "of_helper": 2.0, "of_deep": 11.0, "of_constant": 3.0, "of_table": 2.0, "of_tuple": 1.0, "of_default": 6.0,
    "of_declared": 1.5, "of_intrinsic": 8.0, "of_flags": 0.25, "of_nothing": 1.0, "of_closure": 2.0,
}  # fmt: skip


@pytest.fixture
def package(tmp_path: Path) -> Path:
    copy = tmp_path / "copy" / "simlab"
    shutil.copytree(sources.PACKAGE / "core", copy / "core", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "claims").mkdir()
    (copy / "__init__.py").write_text("")
    for name, text in FILES.items():
        (copy / name).write_text(text)
    return copy


def call(package: Path) -> dict[str, tuple[float, str]]:
    """(value, "loaded" or "compiled") of every loop, in a new process."""
    env = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    env["SIMLAB_CACHE_DIR"] = str(package.parent / "cache")
    done = subprocess.run([sys.executable, "-c", CALL], env=env, cwd=package.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    return {
        name: (value, {(1, 0): "loaded", (0, 1): "compiled"}[hits, misses])
        for name, (value, hits, misses) in seen.items()
    }


def edit(package: Path, file: str, *pairs: tuple[str, str]) -> None:
    text = (package / file).read_text()
    for old, new in pairs:
        assert text.count(old) == 1, (file, old)
        text = text.replace(old, new)
    (package / file).write_text(text)


def test_an_edit_recompiles_what_depends_on_it_and_nothing_else(package: Path) -> None:
    assert call(package) == {name: (value, "compiled") for name, value in VALUES.items()}

    # Docstrings, comments, line numbers, functions that are not called, files that are not used.
    edit(package, "parts.py", ('"""Adds."""', '"""Adds,\n\n    one."""'), ("return 1\n", "return 2\n"))
    edit(package, "loops.py", ('"""A docstring."""', '"""Another."""\n    # and a comment'))
    edit(package, "deep.py", ("\n@jit", "\n\n# lower down\n\n@jit"))
    (package / "claims" / "claim.py").write_text("STATEMENT = 'two'\n")
    (package / "new.py").write_text("x = 1\n")
    assert call(package) == {name: (value, "loaded") for name, value in VALUES.items()}

    # Each of these changes one loop, by what it reaches.
    edit(
        package, "parts.py", ("x + 1.0", "x + 2.0"), ("WEIGHT = 3.0", "WEIGHT = 4.0"), ("2.0]", "5.0]"),
        ("x * 2.0", "x * 8.0"), ("more=5.0", "more=6.0"), ("float64(float64)", "int64(float64)"),
        ("    first: float\n    second: float", "    second: float\n    first: float"),
    )  # fmt: skip
    edit(package, "deep.py", ("10.0", "20.0"))
    edit(package, "written.py", ("7.0", "9.0"))
    edit(package, "loops.py", ("@jit\ndef of_flags", "@jit(fastmath=True)\ndef of_flags"))
    changed = {
        "of_helper": 3.0, "of_deep": 21.0, "of_constant": 4.0, "of_table": 5.0, "of_tuple": 1.0, "of_default": 7.0,
        "of_declared": 1.0, "of_intrinsic": 10.0, "of_flags": 0.25, "of_closure": 8.0,
    }  # fmt: skip
    now = call(package)
    assert now.pop("of_nothing") == (1.0, "loaded")
    assert now == {name: (value, "compiled") for name, value in changed.items()}

    # Both versions are kept: going back compiles nothing.
    for name, text in FILES.items():
        (package / name).write_text(text)
    assert call(package) == {name: (value, "loaded") for name, value in VALUES.items()}


SET = """
import sys, simlab.loops as loops
first = loops.of_constant(1.0)
if len(sys.argv) > 1:
    loops.WEIGHT = 50.0
print(first, loops.of_constant(1))
"""


def test_code_compiled_after_a_global_was_set_is_not_taken_for_the_file_s(package: Path) -> None:
    def values(*arguments: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(package.parent), "SIMLAB_CACHE_DIR": str(package.parent / "cache")}
        command = [sys.executable, "-c", SET, *arguments]
        return subprocess.run(command, env=env, cwd=package.parent, capture_output=True, text=True, check=True).stdout

    assert values("set").split() == ["3.0", "50.0"]
    assert values().split() == ["3.0", "3.0"]
    assert values("set").split() == ["3.0", "50.0"]


def key(text: str, **names: Any) -> str:
    """The key of `loop`, defined by `text` in a file of the package."""
    space: dict[str, Any] = {"jit": house.jit, "np": np, "__name__": "simlab.planted", **names}
    exec(compile(text, str(sources.PACKAGE / "planted.py"), "exec"), space)
    return code_key.code_key(space["loop"])


LOOP = "@jit\ndef loop(x):\n    return x + value\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, 1), (0.0, -0.0), (1, True), ("a", b"a"), ((1, 2), [1, 2]), ((1, (2,)), ((1, 2),)),
        (np.zeros(2), np.zeros(2, np.float32)), (np.zeros(4), np.zeros((2, 2))), (np.array([0.0]), np.array([-0.0])),
        (np.zeros((2, 2)), np.zeros((2, 2), order="F")), (np.float64(1), 1.0), ({"a"}, {"b"}), (np.sin, np.cos),
        (len, abs), (complex, float),
    ],
)  # fmt: skip
def test_values_count_with_their_type(one: Any, other: Any) -> None:
    assert key(LOOP, value=one) == key(LOOP, value=one)
    assert key(LOOP, value=one) != key(LOOP, value=other)


def test_flags_bytecode_and_functions_inside_count() -> None:
    texts = [
        LOOP,
        LOOP.replace("x + value", "x - value"),
        LOOP.replace("@jit", "@jit(fastmath={'contract'})"),
        LOOP.replace("@jit", "@jit(fastmath={'reassoc'})"),
        LOOP.replace("x + value", "sum([y + value for y in x])"),
        LOOP.replace("x + value", "sum([y - value for y in x])"),
        LOOP.replace("(x)", "(x, y=1)"),
        LOOP.replace("(x)", "(x, y=2)"),
    ]
    assert len({key(text, value=1.0) for text in texts}) == len(texts)
    inside = "@jit\ndef loop(x):\n    return (lambda y: y + value)(x)\n"
    assert key(inside, value=1.0) != key(inside, value=2.0)


def test_functions_that_call_each_other_have_a_key() -> None:
    text = "@jit\ndef other(x):\n    return loop(x - {})\n\n@jit\ndef loop(x):\n    return other(x) if x > 0 else x\n"
    assert key(text.format(1)) == key(text.format(1)) != key(text.format(2))


def test_what_is_not_understood_counts_with_the_whole_package(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(LOOP, value=object()), key(LOOP, value=1.0)
    monkeypatch.setattr(code_key, "source_hash", lambda: "another package")
    assert key(LOOP, value=object()) != before[0]
    assert key(LOOP, value=1.0) == before[1]


def test_code_of_unknown_version_is_not_kept() -> None:
    module = type(sys)("nobodys")
    with pytest.raises(code_key.NotKeyable):
        key(LOOP, value=module)


def test_keys_do_not_depend_on_the_process() -> None:
    """Sets of strings come in another order, objects lie elsewhere."""
    script = (
        "from simlab.core.code_key import code_key\nfrom simlab.core.jit import jit\n"
        "from simlab.core import thin\nfrom simlab.networks import _two_layer_tile\n"
        "WORDS = frozenset('abcdefgh')\n@jit\ndef loop(x):\n    return x if x in WORDS else ''\n"
        "print([code_key(f) for f in (loop, thin.product, _two_layer_tile.backwards)])"
    )

    def keys(seed: str) -> str:
        env = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
        ).stdout

    first = keys("1")
    assert len(first) > 80
    assert first == keys("2")


def test_no_function_of_the_package_counts_with_the_whole_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else an edit of any claim would recompile it."""

    def whole() -> str:
        raise AssertionError("not understood")

    monkeypatch.setattr(code_key, "source_hash", whole)
    seen = set[str]()
    for room in ("core", "sphere", "activations", "kernels", "data", "networks", "theory", "flows"):
        package = importlib.import_module(f"simlab.{room}")
        for entry in pkgutil.walk_packages(package.__path__, f"simlab.{room}."):
            for name, value in vars(importlib.import_module(entry.name)).items():
                for loop in [value[np.float64], value[np.float32]] if isinstance(value, house.PerReal) else [value]:
                    if isinstance(loop, Dispatcher):
                        seen.add(f"{entry.name}.{name}:{code_key.code_key(loop)}")
    assert len(seen) > 150
    acts = {code_key.code_key(activations.get(kind).tile()[0]) for kind in ("relu", "tanh", "erf")}
    assert len(acts) == 3, "made by one function, over another φ each"


def test_no_file_of_the_package_changes_how_numba_compiles() -> None:
    """Such a file counts in every key: an edit of it would recompile everything."""
    assert sources.extending_files() == []


def test_a_file_that_changes_how_numba_compiles_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain.py").write_text("import numba\n")
    (tmp_path / "extends.py").write_text("from numba.extending import (\n    overload,\n)\n")
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    assert sources.extending_files() == [tmp_path / "extends.py"]
