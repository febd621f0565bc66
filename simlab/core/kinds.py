"""Kinds: the objects a spec is made of. ``kind = "two_layer"`` is `simlab.networks.TwoLayer`.

A kind is a frozen model (`Kind`), defined in a file of its own: ``class TwoLayer(Trainable)`` in
simlab/networks/two_layer.py. Its TOML name is the file's name, its room the folder. The class's name is the file's name
without underscores, in capitals as the field writes it (`TwoLayer`, `MLP`, `ReLU`).

Each room has one more file, named in the singular (`ROOMS`), with its contract: the abstract class or classes that
every kind of the room is a subclass of. A field that holds a kind is annotated with the contract that it needs
(``network: Trainable``), which says both the room and what the kind must be able to do.

How kinds are found, also those of other packages, is told in `simlab.core.catalogue`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from simlab.core.catalogue import (
    ROOMS,
    able,
    added,
    all_examples,
    attributes,
    check_name,
    contract,
    document,
    examples,
    first_line,
    get,
    loaded,
    names,
    plain,
    rooms,
)

__all__ = [
    "ROOMS", "Kind", "KindClass", "Table", "able", "added", "all_examples", "attributes", "changed_fields",
    "check_name", "contract", "document", "examples", "first_line", "get", "loaded", "names", "plain", "rooms", "snake",
]  # fmt: skip

if TYPE_CHECKING:  # pydantic has no public name for it
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class KindClass(ModelMetaclass):
    """The class of kind classes: what calling one does, and what the TAB key shows of it.

    Python's completer lists `dir` of the object, of its class and of every base that ``__bases__`` gives. There
    pydantic's BaseModel, with its forty names, is left out; it stays in ``__mro__``, which Python itself goes by.
    """

    if not TYPE_CHECKING:  # for type checkers the signature is that of the fields

        def __call__(cls, *positional: Any, **fields: Any) -> Any:
            from simlab.core.parsing import made

            if positional:
                raise TypeError(f"{cls.__name__} takes named fields only: {', '.join(cls.model_fields)}")
            return made(cls, fields) if issubclass(cls, Kind) else super().__call__(**fields)

    def __dir__(cls) -> list[str]:
        return sorted({*cls.model_fields, *cls.shown})  # type: ignore[attr-defined]

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]
        return tuple(base for base in super().__bases__ if base is not BaseModel) or (object,)


class Table(BaseModel, metaclass=KindClass):
    """A validated TOML table: frozen, strict (no silent conversion), no unknown keys, no NaN or infinity.

    wide: fields whose integers may be longer than 64 bits.
    shown: methods and attributes that TAB shows beside the fields.
    """

    wide: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def __dir__(self) -> list[str]:
        return dir(type(self))


class Kind(Table):
    """The base of every kind.

    Class attributes, which are no fields:

    kind: name in TOML, such as "two_layer".
    room: the room, such as "networks".
    examples: tables of fields, without ``kind``, that contract tests run and ``simlab show`` prints. One per kind of
        use; needed where a field has no default.
    lack: what the error says of a kind that does not fulfil this contract, where a field needs it.
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
        if package == "simlab" and room:  # one of another package is in the room of its contract
            cls.room = room
        cls.kind = file if plain(file) == plain(cls.__name__) else snake(cls.__name__)

    @classmethod
    def of_function(cls, function: Any, key: str) -> Kind | None:
        """The kind that a Python function stands for, such as `np.tanh`; None where the room has no such thing."""
        return None

    def __repr__(self) -> str:
        """``two_layer(width=3, activation=tanh())``: fields that have their default are left out."""
        return f"{self.kind}({', '.join(f'{name}={value!r}' for name, value in changed_fields(self).items())})"

    def __str__(self) -> str:
        return repr(self)


def snake(name: str) -> str:
    """``TwoLayer`` → ``two_layer``"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def changed_fields(kind: Kind) -> dict[str, Any]:
    """Name → value of the fields that differ from their default, or have none."""
    return {
        name: getattr(kind, name)
        for name, field in type(kind).model_fields.items()
        if field.is_required() or getattr(kind, name) != field.get_default(call_default_factory=True)
    }
