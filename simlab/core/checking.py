"""What every kind must do, whatever its room: the part that all contract checks (`simlab.<room>.check`) share."""

from __future__ import annotations

import pickle
from typing import Any

from simlab.core.kinds import Kind
from simlab.core.parsing import dump, parse


def ensure(true: Any, says: str) -> None:
    """Raise AssertionError with the line `says` unless `true`. Unlike ``assert`` it also works under ``python -O``."""
    if not true:
        raise AssertionError(says)


def check_value(kind: Kind, contract: type[Kind]) -> None:
    """Raise AssertionError unless `kind` is an immutable value of this contract.

    Equality, hash and repr survive pickling; its TOML table gives an equal kind; fields are described and frozen.
    """
    ensure(isinstance(kind, contract), f"{kind!r}: not a subclass of {contract.__name__}")
    name = repr(kind)
    copy = pickle.loads(pickle.dumps(kind))
    ensure(copy == kind, f"{name}: its pickle is not equal to it")
    ensure(hash(copy) == hash(kind), f"{name}: two equal ones have different hashes")
    ensure(repr(copy) == name, f"{name}: two equal ones have different reprs")
    back = parse(type(kind), dump(kind), kind.kind)
    ensure(back == kind, f"{name}: its table {dump(kind)} gives another one, {back!r}")
    for field, description in type(kind).model_fields.items():
        ensure(description.description, f"{kind.kind}: the field {field} has no description")
        try:
            setattr(kind, field, getattr(kind, field))
        except Exception:  # whatever a frozen model raises
            continue
        raise AssertionError(f"{kind.kind}: the field {field} can be changed; kinds are frozen")
