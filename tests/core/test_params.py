"""From a table to Params and back, and the one line that says what is wrong."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from simlab.core import lookup
from simlab.core.errors import BadInput
from simlab.core.params import Params, Room, dump, kind_of, parse


class Example(Params):
    size: int = Field(ge=1)
    rate: float = 0.5
    name: str | None = None
    network: Annotated[Params | None, Room("networks")] = None
    watched: Annotated[tuple[Params, ...], Room("observables")] = ()


@given(st.integers(1, 10**9), st.floats(-1e300, 1e300), st.one_of(st.none(), st.text(max_size=5)), st.integers(1, 99))
def test_dump_and_parse_are_inverse(size: int, rate: float, name: str | None, width: int) -> None:
    table: dict[str, Any] = {"size": size, "rate": rate, "network": {"kind": "two_layer", "width": width}}
    table |= {"watched": ["train_loss", {"kind": "weight_movement"}]} | ({} if name is None else {"name": name})
    params = parse(Example, table)
    assert parse(Example, dump(params)) == params
    assert params.network is not None
    assert kind_of(params.network) == "two_layer"


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"size": 0}, "spec.size = 0: must be greater than or equal to 1"),
        ({"size": 1.5}, "spec.size = 1.5: must be a valid integer"),
        ({"size": True}, "spec.size = True: must be a valid integer"),
        ({"size": "3"}, "spec.size = '3': must be a valid integer"),
        ({"size": 1, "rate": float("nan")}, "spec.rate = nan: must be a finite number"),
        ({"sise": 1}, "spec.sise = 1: unknown key; did you mean \"size\"?"),
        ({}, "spec.size: missing"),
        ({"size": 1, "network": {"width": 3}}, "spec.network.kind: missing (allowed: fourier_features, linearised"),
        ({"size": 1, "network": {"kind": "tow_layer"}}, "did you mean \"two_layer\"?"),
        ({"size": 1, "network": {"kind": "_signature"}}, "spec.network.kind = '_signature': unknown kind"),
        ({"size": 1, "network": {"kind": "two_layer", "width": -5}}, "spec.network.width = -5: must be greater"),
        ({"size": 1, "network": 7}, "spec.network = 7: must be a table"),
        ({"size": 1, "watched": [{"kind": "nothing"}]}, "spec.watched[0].kind = 'nothing': unknown kind"),
    ],
)  # fmt: skip
def test_bad_values_are_named(table: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(Example, table, "spec")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_params_are_values() -> None:
    one, two = parse(Example, {"size": 2}), parse(Example, {"size": 2})
    assert one == two
    assert hash(one) == hash(two)
    with pytest.raises(ValueError, match="frozen"):
        one.size = 3


def test_lookup_finds_files_that_define_params_and_no_others() -> None:
    assert "two_layer" in lookup.kinds("networks")
    assert not any(kind.startswith("_") for room in lookup.rooms() for kind in lookup.kinds(room))
    assert "lab" not in lookup.rooms()
    with pytest.raises(BadInput, match="unknown kind"):
        lookup.get("networks", "../core/params")
