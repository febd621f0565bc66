"""The key of compiled code: a hash of everything that the machine code of one function depends on.

Numba compiles a function together with what it refers to: helpers are inlined, module constants frozen. The key is
found by walking from the function over the same references. It hashes

- the function: its bytecode, constants (without the docstring), defaults, and the values of its closure;
- each global that the bytecode loads, in the same way: compiled functions with their flags and declared signatures,
  plain functions, named tuples, enums, numba types; numbers, strings and arrays by value;
- code that numba runs while it compiles (intrinsics), and classes: the text of their file and of every file of simlab
  that it imports;
- things of other packages: by their name and that package's version. A package that adds kinds to simlab counts as if
  it were a part of simlab: by its sources, so that nobody who writes one runs code of before the last edit.

Anything else counts with the sources of the whole package. Line numbers, comments, docstrings and functions that are
not reached do not count: editing them recompiles nothing.

A file that changes how numba compiles by being imported (`overload`, `register_model`, …) is not reached by walking.
Every such file of the package counts in every key.
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

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), range, slice)
MAY_RECUR = (Dispatcher, FunctionType, type, list, dict)
SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "USING_SVML", "ENABLE_AVX")
"""Settings of numba (``NUMBA_…``) that change machine code; the CPU's name and features are in numba's own index."""


class NotKeyable(Exception):
    """The code depends on something whose version cannot be told, such as a user's module."""


def code_key(dispatcher: Dispatcher) -> str:
    """The key of a compiled function; call it when every name that the function uses is defined."""
    walk = _Walk()
    walk.add(_ambient())
    walk.add(dispatcher)
    return walk.digest.hexdigest()[:24]


@functools.cache
def _ambient() -> tuple[Any, ...]:
    """What every compiled function depends on."""
    settings = tuple(repr(getattr(numba.config, name, None)) for name in SETTINGS)
    versions = sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__
    return versions, settings, tuple(with_imports(path) for path in extending_files())


@functools.cache
def _loaded_globals(code: CodeType) -> tuple[str, ...]:
    """Names of globals that the code loads, also from the functions inside it, in order of name."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_loaded_globals(constant))
    return tuple(sorted(names))


def _names(code: CodeType) -> set[str]:
    """Names of anything, and strings: the attributes that the code can ask a module for."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
        elif isinstance(constant, str):
            names.add(constant)
    return names


def _version(module: str) -> str | None:
    """The version of the package that a module belongs to; None where its sources count, and where there is none."""
    top = module.partition(".")[0]
    if top == PACKAGE.name or top in adding_packages():
        return None
    if top in sys.stdlib_module_names and top != "__main__":
        return sys.version
    version = getattr(sys.modules.get(top), "__version__", None)
    return version if isinstance(version, str) else None


class _Walk:
    """Feeds `digest` with a value and everything it refers to. What was met before counts by its number alone."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._met: dict[int, tuple[int, Any]] = {}  # the value too: its id stays taken

    def _put(self, *parts: object) -> None:
        for part in parts:
            raw = part if isinstance(part, bytes) else str(part).encode()
            self.digest.update(b"%d:" % len(raw) + raw)

    def add(self, value: Any) -> None:
        kind = type(value)
        if kind in PLAIN:
            self._put(kind.__name__, repr(value))
            return
        if isinstance(value, MAY_RECUR):  # not for constants: which of them are one object differs between processes
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
            self._foreign(value, getattr(value, "__module__", None) or kind.__module__, value.__name__)
        else:
            self._whole_package()

    def add_each(self, *values: Any) -> None:
        for value in values:
            self.add(value)

    def _function(self, function: FunctionType) -> None:
        self._put("function", function.__module__, function.__qualname__)
        if in_package(function.__code__.co_filename) is None and (version := _version(function.__module__)):
            self._put(version)
            return
        self._code(function.__code__, function.__doc__)
        self.add_each(function.__defaults__, function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:  # still empty
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
        """A module counts by the attributes that the code may ask it for."""
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
        self._put("type", type(value).__name__, repr(value))
        if isinstance(value, types.Dispatcher):
            self.add(value.dispatcher)
        elif hasattr(value, "instance_class"):  # a named tuple
            self.add(value.instance_class)

    def _class(self, value: type) -> None:
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
        if (file := in_package(path)) is None:
            raise NotKeyable(path)
        self._put("file", with_imports(file))

    def _foreign(self, value: Any, module: str, name: str) -> None:
        if (version := _version(module)) is None:
            raise NotKeyable(name)
        self._put("foreign", module, name, version)

    def _whole_package(self) -> None:
        self._put("package", source_hash())
