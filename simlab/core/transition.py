"""Old-style kinds (a module with `Params` and functions) and new-style ones (a class) side by side, both ways."""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any

from simlab.core import kinds

NEW = {  # (room, old function) → new method
    ("networks", "features"): "features_of",
    ("networks", "hidden"): "features",
    ("activations", "kinks"): "kink_points",
    ("targets", "outputs"): "components",
}
OPTIONAL = {"features", "neurons", "directions", "stages", "tangent_blocks", "exact"}
OLD = {(room, new): old for (room, old), new in NEW.items()}


def subclassed(cls: Any) -> None:
    """Old names in the module of a new-style kind: `Params`, `EXAMPLES`, functions of `params`, constants."""
    module = sys.modules.get(cls.__module__)
    if cls.__name__ == "Params":
        cls.kind = cls.__module__.rpartition(".")[2]
    if module is None or cls.__name__ == "Params":
        return
    file = cls.__module__.rpartition(".")[2]
    if kinds.plain(file) != kinds.plain(cls.__name__) or file in kinds.ROOMS.values():
        return
    if file.startswith("_") or "Params" in vars(module):
        return
    module.Params = cls

    def lookup(name: str) -> Any:
        if name == "EXAMPLES":
            return cls.examples
        if name.startswith("__"):
            raise AttributeError(name)
        if name.isupper():
            if hasattr(cls, name.lower()):
                return getattr(cls, name.lower())
            raise AttributeError(name)
        name = (
            NEW.get((cls.room, name), name) if callable(getattr(cls, NEW.get((cls.room, name), name), None)) else name
        )
        if name in OPTIONAL and getattr(getattr(cls, name, None), "__module__", "") == "simlab.networks.network":
            raise AttributeError(f"module {module.__name__} has no {name}")
        if not callable(getattr(cls, name, None)):
            raise AttributeError(f"module {module.__name__} has no {name}")
        return lambda params, *a, **k: getattr(params, name)(*a, **k)

    if "__getattr__" not in vars(module):
        module.__getattr__ = lookup


def passes(contract: Any, thing: Any) -> bool:
    """An old-style object passes for every contract of its room."""
    return passes_class(contract, type(thing))


def passes_class(contract: Any, other: Any) -> bool:
    if contract.__module__ == "simlab.core.params":  # an old-style annotation takes every kind
        return isinstance(other, kinds.KindClass) and kinds.Kind in other.__mro__
    if getattr(other, "__name__", "") != "Params" or not isinstance(other, kinds.KindClass):
        return False
    file = contract.__module__.rpartition(".")[2]
    return file in kinds.ROOMS.values() and contract.room == other.room


class Module:
    """What `module_of` gives for a new-style kind."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.cls = kind, type(kind)
        self.__name__ = self.cls.__module__

    def __getattr__(self, name: str) -> Any:
        module = sys.modules[self.cls.__module__]
        return getattr(module, name)


def bound(params: Any, name: str) -> Any:
    """A function, or a constant, of an old-style kind's module, as a method or attribute."""
    module: ModuleType = sys.modules[type(params).__module__]
    name = OLD.get((type(params).room, name), name)
    found = vars(module).get(name)
    if callable(found) and not isinstance(found, type):
        return functools.partial(found, params)
    if name.upper() in vars(module):
        return vars(module)[name.upper()]
    if (type(params).room, name) == ("networks", "particle_count"):
        return lambda: getattr(params, "width", None)
    if (type(params).room, name) == ("networks", "output_count"):
        return lambda: getattr(params, "outputs", 1)
    if type(params).room == "observables" and name in _OF_OBSERVABLES:
        return _OF_OBSERVABLES[name](type(params))
    value = default(type(params), name)
    return functools.partial(value, params) if callable(value) else value


_OF_OBSERVABLES: dict[str, Any] = {
    "needs_samples": lambda cls: cls.kind not in (
        "neuron_snapshots", "predictions", "risk", "teacher_alignment", "test_loss", "weight_movement",
    ),
    "needs_linearised": lambda cls: "linearised" in getattr(sys.modules[cls.__module__], "NEEDS", ()),
    "needs_descent": lambda cls: cls.kind == "kernel_distance",
}  # fmt: skip


def default(cls: Any, name: str) -> Any:
    """What the contracts of an old-style kind's room say where its module says nothing."""
    file = sys.modules[kinds.contract(cls.room).__module__]
    for found in vars(file).values():
        if isinstance(found, kinds.KindClass) and found.__module__ == file.__name__ and name in vars(found):
            return vars(found)[name]
    raise AttributeError(f"{cls.__module__}.Params has no {name}")


class Facts:
    """The constants of an old-style kind as those of a class."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def __getattr__(self, name: str) -> Any:
        module = sys.modules[self.cls.__module__]
        if self.cls.room == "observables" and name in _OF_OBSERVABLES:
            return _OF_OBSERVABLES[name](self.cls)
        return vars(module)[name.upper()] if name.upper() in vars(module) else default(self.cls, name)


def facts(cls: Any) -> Any:
    return Facts(cls) if cls.__name__ == "Params" else cls


def examples(room: str, kind: str) -> list[dict[str, Any]]:
    if room == "claims":
        return [{}]
    cls = kinds.get(room, kind)
    if cls.__name__ != "Params":
        return list(cls.examples)
    return list(getattr(sys.modules[cls.__module__], "EXAMPLES", ({},)))
