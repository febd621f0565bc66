"""Kinds: the objects a spec is made of. ``kind = "two_layer"`` in TOML is the class `simlab.networks.TwoLayer`.

- A kind is a frozen model (`Kind`), defined in a file of its own: ``class TwoLayer(Trainable)`` in
  simlab/networks/two_layer.py.
- Its name in TOML is the name of the file (two_layer), its room the name of the folder (networks).
- The class is named like the file, without underscores, in the capitals that the field uses (`TwoLayer`, `MLP`,
  `ReLU`).
- Each room has one more file, named in the singular (network.py), with the room's contract: the abstract classes
  that its kinds are subclasses of.
- A field that holds a kind is annotated with the contract it needs: ``network: Trainable``. This says from which
  room the kind comes and what it must be able to do.

Related: `simlab.core.catalogue` finds kinds by name, also those of other packages; `simlab.core.parsing` makes them
from TOML tables.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from simlab.core import signatures
from simlab.core.catalogue import plain

if TYPE_CHECKING:  # pydantic has no public name for it
    from pydantic._internal._model_construction import ModelMetaclass
    from pydantic.fields import FieldInfo
else:
    ModelMetaclass = type(BaseModel)


class KindClass(ModelMetaclass):
    """The class of kind classes. It decides what ``TwoLayer(width=3)`` does and what the TAB key shows.

    Python's completer lists `dir` of an object, of its class and of every class in ``__bases__``. pydantic's BaseModel
    would add forty names, so it is left out of ``__bases__``. It stays in ``__mro__``, which Python itself uses.
    """

    if TYPE_CHECKING:  # type checkers take the signature of a call from the fields
        model_fields: dict[str, FieldInfo]
        shown: tuple[str, ...]
    else:

        def __call__(cls, *positional: Any, **fields: Any) -> Any:
            from simlab.core.parsing import build

            if positional:
                raise TypeError(f"{cls.__name__} takes named fields only: {', '.join(cls.model_fields)}")
            return build(cls, fields) if issubclass(cls, Kind) else super().__call__(**fields)

    def __dir__(cls) -> list[str]:
        return sorted({*cls.model_fields, *cls.shown})

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]
        return tuple(base for base in super().__bases__ if base is not BaseModel) or (object,)


class Table(BaseModel, metaclass=KindClass):
    """A validated TOML table: frozen, strict (no silent conversion), no unknown keys, no NaN or infinity.

    wide: names of fields whose integers may be longer than 64 bits.
    shown: methods and attributes that TAB shows beside the fields.
    """

    wide: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        cls.__signature__ = signatures.of_fields(cls.model_fields)

    def __dir__(self) -> list[str]:
        return dir(type(self))


class Kind(Table):
    """The base class of every kind.

    Class attributes, which are not fields:

    kind: name in TOML, such as "two_layer"; set from the file's name.
    room: name of the room, such as "networks"; set from the folder's name.
    examples: tables of fields, without ``kind``. Contract tests run them and ``simlab show`` prints the first. A kind
        with a field that has no default needs at least one.
    lack: of a contract: what the error says of a kind that does not fulfil it, where a field needs it.
    """

    kind: ClassVar[str] = "kind"
    room: ClassVar[str] = ""
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({},)
    lack: ClassVar[str] = "not of use here"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        package, _, path = cls.__module__.partition(".")
        room, _, file = path.rpartition(".")
        file = file or package
        if package == "simlab" and room:  # a class of another package inherits the room from its contract
            cls.room = room
        cls.kind = file if plain(file) == plain(cls.__name__) else snake(cls.__name__)

    @classmethod
    def of_function(cls, function: Any, key: str) -> Kind | None:
        """The kind that a Python function such as `np.tanh` stands for; None where the room has no such kinds."""
        return None

    def __repr__(self) -> str:
        """``two_layer(width=3, activation=tanh())``; fields that have their default are left out."""
        return f"{self.kind}({', '.join(f'{name}={value!r}' for name, value in changed_fields(self).items())})"

    def __str__(self) -> str:
        return repr(self)


def snake(name: str) -> str:
    """``TwoLayer`` → ``two_layer``"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def changed_fields(kind: Kind) -> dict[str, Any]:
    """Name → value of each field that differs from its default or has none."""
    return {
        name: getattr(kind, name)
        for name, field in type(kind).model_fields.items()
        if field.is_required() or getattr(kind, name) != field.get_default(call_default_factory=True)
    }
