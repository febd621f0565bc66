"""From a table to a kind and back, and the one line that says what is wrong."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from simlab import activations
from simlab.core.errors import BadInput
from simlab.core.kinds import Kind
from simlab.core.parsing import AsTuple, choose, contracts_of, dump, first_wrong, parse, rooms_of
from simlab.networks.network import FeatureMap, Network
from simlab.observables.observable import Observable


class Example(Kind):
    size: int = Field(ge=1)
    rate: float = 0.5
    name: str | None = None
    network: Network | None = None
    watched: tuple[Observable, ...] = ()
    map: FeatureMap | None = None


@given(st.integers(1, 10**9), st.floats(-1e300, 1e300), st.one_of(st.none(), st.text(max_size=5)), st.integers(1, 99))
def test_dump_and_parse_are_inverse(size: int, rate: float, name: str | None, width: int) -> None:
    table: dict[str, Any] = {"size": size, "rate": rate, "network": {"kind": "two_layer", "width": width}}
    table |= {"watched": ["train_loss", {"kind": "weight_movement"}]} | ({} if name is None else {"name": name})
    made = parse(Example, table)
    assert parse(Example, dump(made)) == made
    assert made.network is not None
    assert made.network.kind == "two_layer"


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
        ({"size": 1, "map": "two_layer"}, "spec.map.width: missing"),
        (
            {"size": 1, "map": {"kind": "two_layer", "width": 3}},
            "spec.map.kind = 'two_layer': it has no features (allowed: fourier_features, neural_tangent, random",
        ),
        ({"size": 1, "watched": [{"kind": "nothing"}]}, "spec.watched[0].kind = 'nothing': unknown kind"),
    ],
)  # fmt: skip
def test_bad_values_are_named(table: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(Example, table, "spec")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_made_are_values() -> None:
    one, two = parse(Example, {"size": 2}), parse(Example, {"size": 2})
    assert one == two
    assert hash(one) == hash(two)
    with pytest.raises(ValueError, match="frozen"):
        one.size = 3


def test_a_field_tells_room_and_contract() -> None:
    assert contracts_of(Example) == {"network": Network, "watched": Observable, "map": FeatureMap}
    assert rooms_of(Example) == {"network": "networks", "watched": "observables", "map": "networks"}


def test_python_may_give_names_classes_files_functions_and_objects() -> None:
    found = [choose("activations", one, "φ") for one in ("tanh", {"kind": "tanh"}, activations.Tanh, activations.tanh)]
    found += [choose("activations", one, "φ") for one in (activations.Tanh(), np.tanh)]
    assert found == [activations.Tanh()] * 6
    assert choose("activations", ["tanh", "relu"], "φ") == (activations.Tanh(), activations.ReLU())


def test_the_first_wrong_of_many_values() -> None:
    assert first_wrong(Example, "size", [1, 2.0, 3]) is None
    assert first_wrong(Example, "size", [1, 2.5, 0]) == 1
    assert first_wrong(Example, "size", [*[1] * 20_000, 0]) == 20_000
    assert first_wrong(Counted, "count", [1, 1 << 63]) == 1
    assert first_wrong(Counted, "seed", [1, 1 << 63]) is None


class Counted(Kind):
    wide = ("seed",)

    count: int = 1
    maybe: int | None = None
    several: Annotated[tuple[int, ...], AsTuple] = ()
    either: int | float = 1
    real: float = 1.0
    flag: bool = False
    seed: int = 0


@pytest.mark.parametrize(
    ("table", "field", "value"),
    [
        ({"count": 2e3}, "count", 2000),
        ({"count": -0.0}, "count", 0),
        ({"maybe": 7.0}, "maybe", 7),
        ({"several": [1.0, 2, 3e2]}, "several", (1, 2, 300)),
        ({"either": 2.0}, "either", 2.0),
        ({"real": 2.0}, "real", 2.0),
        ({"count": float(2**53)}, "count", 2**53),
    ],
)
def test_integers_may_be_written_as_floats(table: dict[str, Any], field: str, value: Any) -> None:
    found = getattr(parse(Counted, table), field)
    assert found == value
    assert type(found) is type(value)
    assert "." not in str(dump(parse(Counted, table))[field]) or isinstance(value, float)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"count": 2.5}, "count = 2.5: must be a valid integer"),
        ({"count": float("nan")}, "count = nan: must be a"),
        ({"count": float("inf")}, "count = inf: must be a"),
        ({"count": 1e300}, "count = 1e+300: must be a valid integer"),
        ({"seed": 1e20}, "seed = 1e+20: must be a valid integer"),  # a float of 54 bits is not the seed that was meant
        ({"flag": 1.0}, "flag = 1.0: must be a valid boolean"),
        ({"several": [1.0, 2.5]}, "must be a valid integer"),
    ],
)
def test_other_floats_are_no_integers(table: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(Counted, table)
    assert says in str(caught.value)
