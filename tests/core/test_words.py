"""A field in the words of TOML."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from pydantic import Field

from simlab.core import catalogue, json_schema, words
from simlab.core.kinds import Kind
from simlab.core.parsing import rooms_of

ROOMS = [room for room in catalogue.rooms() if room != "claims"]


@pytest.mark.parametrize(
    ("room", "kind", "field", "says", "default"),
    [
        ("networks", "two_layer", "width", "integer, at least 1", "required"),
        ("networks", "two_layer", "scaling", 'one of "ntk", "mean_field", "none"', 'default "ntk"'),
        ("networks", "two_layer", "bias", "true or false", "default false"),
        ("networks", "two_layer", "inner_std", 'number or "unit"', "may be left out"),
        ("networks", "three_layer_mean_field", "spread", "number, at least 0 and below 1", "default 0.5"),
        ("activations", "hermite", "degree", "integer, from 0 to 50", "required"),
        ("targets", "monomials", "terms", "list of lists of integers, at least 1 of them", "required"),
        ("experiments", "gp_width", "network", 'table with kind = "mlp"', "required"),
        ("figures", "scaling", "y", "list of texts, 1 to 6 of them", "required"),
        ("data", "arrays", "path", "text, not empty", "required"),
        ("activations", "custom", "phi", "a Python object, not for TOML", "required"),
    ],
)
def test_words(room: str, kind: str, field: str, says: str, default: str) -> None:
    cls = catalogue.get(room, kind)
    assert words.of_field(cls, field) == says
    assert words.default_of(cls, field) == default


def test_a_choice_names_some_kinds_and_where_the_others_are() -> None:
    said = words.of_field(catalogue.get("networks", "two_layer"), "activation")
    first = catalogue.names("activations")[0]
    assert said.startswith(f"table with kind, one of {first}, ")
    assert said.endswith("… (`simlab list activations`); or a name")


@pytest.mark.parametrize("room", ROOMS)
def test_no_word_of_python(room: str) -> None:
    """Of any field of any kind."""
    for kind in catalogue.names(room):
        cls = catalogue.get(room, kind)
        for name in cls.model_fields:
            said = f"{words.of_field(cls, name)}; {words.default_of(cls, name)}"
            for word in ("None", "True", "False", "Literal", "tuple", "float,", "str,", "Params", "'"):
                assert word not in said, (kind, name, said)


@pytest.mark.parametrize("room", ROOMS)
def test_a_default_is_toml_that_gives_the_default(room: str) -> None:
    """Read back by TOML and validated, it is what is used where the field is left out."""
    for kind in catalogue.names(room):
        cls = catalogue.get(room, kind)
        schema = json_schema.of_kind(room, kind)["properties"]
        given = {name: schema[name]["default"] for name in cls.model_fields if "default" in schema[name]}
        read = tomllib.loads("\n".join(f"{name} = {words.toml(value)}" for name, value in given.items()))
        assert read == given
        assert rooms_of(cls).keys() <= schema.keys()


@pytest.mark.parametrize("value", [1, 2.5, 1e-9, True, 'a"b', [1, [2.0, "x"]], {"kind": "relu", "at": [1]}, [], {}])
def test_values_are_written_as_toml_reads_them(value: Any) -> None:
    assert tomllib.loads(f"x = {words.toml(value)}")["x"] == value


def test_bounds_are_those_of_the_model() -> None:
    class Bounds(Kind):
        low: float = Field(gt=0)
        high: int | None = Field(None, le=7)
        both: float = Field(0.5, ge=0, lt=1)

    said = [words.of_field(Bounds, name) for name in Bounds.model_fields]
    assert said == ["number, above 0", "integer, at most 7", "number, at least 0 and below 1"]
