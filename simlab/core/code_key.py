"""The key of compiled code: a hash of everything that the machine code of one function depends on.

Numba compiles a function together with what it refers to: helpers are inlined, module constants frozen. `code_key`
walks from the function along the same references and hashes what it meets:

- the function: its bytecode, constants (without the docstring), defaults, and the values that it closes over;
- each global that the bytecode loads, in the same way: compiled functions with their flags and declared signatures,
  plain functions, named tuples, enums, numba types; numbers, strings and arrays by value;
- code that numba runs while it compiles (intrinsics), and classes: the text of their file and of every file of simlab
  that this file imports;
- functions and classes of other packages: their name and the package's version. Packages that add kinds to simlab are
  treated like simlab itself, by their sources: who writes one edits it without raising its version;
- anything else: the sources of the whole package.

Not hashed are line numbers, comments, docstrings and functions that are not reached. Editing them recompiles nothing.

Some files change how numba compiles just by being imported (`overload`, `register_model`, …). No reference leads to
them, so every such file of the package is part of every key.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import sys
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.typing import Signature
from numba.extending import _Intrinsic

from simlab.core.sources import PACKAGE, adding_packages, extending_files, in_package, source_hash, with_imports

# Types of values that are hashed by their repr.
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), range, slice)
# Types of values that can refer to themselves, so that the walk must remember them.
MAY_RECUR = (Dispatcher, FunctionType, type, list, dict)
SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "USING_SVML", "ENABLE_AVX")
"""Settings of numba (``NUMBA_…``) that change machine code. The CPU's name and features are in numba's own index."""


class NotKeyable(Exception):
    """The code depends on something of unknown version, such as a user's module."""


def code_key(dispatcher: Dispatcher) -> str:
    """The key of a compiled function. Every name that the function uses must be defined already."""
    walk = _Walk()
    walk.add(_ambient())
    walk.add(dispatcher)
    return walk.digest.hexdigest()[:24]


@functools.cache
def _ambient() -> tuple[Any, ...]:
    """What every compiled function depends on: versions, settings of numba, files that extend numba."""
    settings = tuple(repr(getattr(numba.config, name, None)) for name in SETTINGS)
    versions = sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__
    return versions, settings, tuple(with_imports(path) for path in extending_files())


@functools.cache
def _loaded_globals(code: CodeType) -> tuple[str, ...]:
    """Names of the globals that the code and the functions inside it load, in alphabetical order."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_loaded_globals(constant))
    return tuple(sorted(names))


def _names(code: CodeType) -> set[str]:
    """All names and strings in the code: the attributes that it can ask a module for are among them."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
        elif isinstance(constant, str):
            names.add(constant)
    return names


def _version(module: str) -> str | None:
    """The version of the package that a module belongs to. None: it has none, or its sources count instead."""
    top = module.partition(".")[0]
    if top == PACKAGE.name or top in adding_packages():
        return None
    if top in sys.stdlib_module_names and top != "__main__":
        return sys.version
    version = getattr(sys.modules.get(top), "__version__", None)
    return version if isinstance(version, str) else None


class _Walk:
    """Feeds `digest` with values and everything that they refer to.

    Each method hashes one sort of thing, and begins with a word for that sort, so that different things of equal
    content have different hashes.
    """

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        # id of a value met before → its number, and the value: as long as it lives, no other value gets its id.
        self._met: dict[int, tuple[int, Any]] = {}

    def _put(self, *parts: object) -> None:
        """Hash texts or bytes, each with its length in front: ("ab", "c") and ("a", "bc") differ."""
        for part in parts:
            raw = part if isinstance(part, bytes) else str(part).encode()
            self.digest.update(b"%d:" % len(raw) + raw)

    def add(self, value: Any) -> None:
        """Hash a value, with everything that it refers to. A function or class met before counts by its number."""
        kind = type(value)
        if kind in PLAIN:
            self._put(kind.__name__, repr(value))
            return
        if isinstance(value, MAY_RECUR):  # constants do not: equal ones may be one object here and two elsewhere
            if id(value) in self._met:
                self._put("met", self._met[id(value)][0])
                return
            self._met[id(value)] = len(self._met), value
        if isinstance(value, Dispatcher):
            compiled: Any = value
            self._put("compiled", compiled._compiler.pipeline_class.__qualname__)
            self.add_each(compiled.targetoptions, compiled.locals, getattr(value, "declared", ()), compiled.py_func)
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, CodeType):
            self._code(value, None)
        elif isinstance(value, np.ndarray | np.generic):
            array = np.asarray(value)
            if array.dtype.hasobject:
                self._whole_package()
            self._put(kind.__name__, array.dtype.descr, array.shape, array.flags.f_contiguous, array.tobytes())
        elif isinstance(value, np.dtype):
            self._put("dtype", value.descr)
        elif isinstance(value, enum.Enum):
            self._put("member", value.name)
            self.add_each(value.value, kind)
        elif isinstance(value, dict):
            self._put("dict", len(value))
            self.add_each(*(part for pair in value.items() for part in pair))
        elif isinstance(value, set | frozenset):
            self._put("set", len(value))
            self.add_each(*sorted(value, key=repr))
        elif isinstance(value, tuple | list):
            self._put(len(value))
            self.add_each(kind, *value)
        elif isinstance(value, types.Type):
            self._type(value)
        elif isinstance(value, Signature):
            self._put("signature")
            self.add_each(value.return_type, *value.args)
        elif isinstance(value, _Intrinsic):
            self._put("intrinsic", value._name)
            self._file(value._defn.__code__.co_filename)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, BuiltinFunctionType | MethodDescriptorType | np.ufunc):
            self._foreign(getattr(value, "__module__", None) or kind.__module__, value.__name__)
        else:
            self._whole_package()

    def add_each(self, *values: Any) -> None:
        for value in values:
            self.add(value)

    def _function(self, function: FunctionType) -> None:
        """A plain function: its code, defaults, closed-over values and the globals that it loads."""
        self._put("function", function.__module__, function.__qualname__)
        if in_package(function.__code__.co_filename) is None and (version := _version(function.__module__)):
            self._put(version)
            return
        self._code(function.__code__, function.__doc__)
        self.add_each(function.__defaults__, function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:  # nothing was assigned to the name yet
                self._put("empty")
        for name in _loaded_globals(function.__code__):
            self._put(name)
            if name in function.__globals__:
                value = function.__globals__[name]
                if isinstance(value, ModuleType):
                    self._module(value, _names(function.__code__))
                else:
                    self.add(value)

    def _code(self, code: CodeType, docstring: str | None) -> None:
        """Bytecode with its constants. docstring: the function's, which is its first constant and does not count."""
        self._put("code", code.co_code, code.co_exceptiontable, code.co_flags, code.co_argcount)
        self._put(code.co_posonlyargcount, code.co_kwonlyargcount)
        self.add_each(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        constants = code.co_consts
        if docstring is not None and constants and constants[0] == docstring:
            constants = ("docstring", *constants[1:])
        for constant in constants:
            if isinstance(constant, CodeType):
                self._code(constant, None)
            else:
                self.add(constant)

    def _module(self, module: ModuleType, names: set[str]) -> None:
        """A module: the attributes that the code may ask it for. names: all names in that code."""
        self._put("module", module.__name__)
        if version := _version(module.__name__):
            self._put(version)
        elif getattr(module, "__file__", None) is None or in_package(str(module.__file__)) is None:
            raise NotKeyable(module.__name__)
        else:
            for name in sorted(names & vars(module).keys()):
                self._put(name)
                value = vars(module)[name]
                if isinstance(value, ModuleType):
                    self._module(value, names)
                else:
                    self.add(value)

    def _type(self, value: types.Type) -> None:
        """A type of numba's; of a function, named tuple or enum also what it is the type of."""
        self._put("type", type(value).__name__, repr(value))
        if isinstance(value, types.Dispatcher):
            self.add(value.dispatcher)
        elif hasattr(value, "instance_class"):  # types of named tuples and of enums
            self.add(value.instance_class)

    def _class(self, value: type) -> None:
        """A class: members of an enum, fields of a named tuple, of any other the text of its file."""
        self._put("class", value.__module__, value.__qualname__)
        if version := _version(value.__module__):
            self._put(version)
        elif issubclass(value, enum.Enum):
            self.add({name: member.value for name, member in value.__members__.items()})
        elif issubclass(value, tuple) and hasattr(value, "_fields"):
            self.add_each(value._fields, getattr(value, "_field_defaults", {}))
        else:
            self._file(getattr(sys.modules.get(value.__module__), "__file__", None) or "")

    def _file(self, path: str) -> None:
        """The text of a file of the package, and of the files that it imports."""
        if (file := in_package(path)) is None:
            raise NotKeyable(path)
        self._put("file", with_imports(file))

    def _foreign(self, module: str, name: str) -> None:
        """A function of another package: its name and that package's version."""
        if (version := _version(module)) is None:
            raise NotKeyable(name)
        self._put("foreign", module, name, version)

    def _whole_package(self) -> None:
        """All sources: for a value of which nothing else is known."""
        self._put("package", source_hash())
