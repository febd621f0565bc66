"""States: dataclasses of what a checkpoint stores of an unfinished computation.

>>> @dataclass
... class Place(State):
...     step: int
...     theta: NDArray[np.float64]
>>> Place(3, np.zeros(2)).arrays()
{'step': 3, 'theta': array([0., 0.])}

A field that is a state itself gives names with its own name as prefix: ``theta`` inside ``net`` becomes ``net_theta``.
A field that is None is not stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from simlab.core.errors import BadInput


@dataclass
class State:
    """Base of states, whose fields are arrays, numbers, text, Generators or other states."""

    def arrays(self) -> dict[str, Any]:
        """Name → array, number, text or Generator, ready for the checkpoint."""
        found: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, State):
                found |= {f"{one.name}_{name}": inner for name, inner in value.arrays().items()}
            elif value is not None:
                found[one.name] = value
        return found

    @classmethod
    def of(cls, arrays: Mapping[str, Any], **inner: type[State]) -> Self:
        """The state whose `arrays` these are.

        arrays: name → value, as the checkpoint returns them.
        inner: field → its class, for every field that is a state itself.
        """
        values: dict[str, Any] = {}
        for one in fields(cls):
            if one.name in inner:
                part = {k.removeprefix(f"{one.name}_"): v for k, v in arrays.items() if k.startswith(f"{one.name}_")}
                values[one.name] = inner[one.name].of(part) if part else None
            elif one.name in arrays or one.default is None:  # None is not kept
                values[one.name] = arrays.get(one.name)
            else:
                raise BadInput(f"the checkpoint has no {one.name}: another version of simlab wrote it; begin anew")
        return cls(**values)
