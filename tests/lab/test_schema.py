"""The JSON Schema of specs: every good spec passes, bad ones do not, by an independent validator."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from simlab import claims, figures
from simlab.core import catalogue, json_schema
from simlab.core.errors import SimlabError
from simlab.lab.results import merged_outputs
from simlab.lab.schema import spec_schema
from simlab.lab.spec import override, resolve

RUNS = sorted((Path(__file__).parents[2] / "runs").glob("*.toml"))
QUICKSTART = """
observables = ["train_loss", { kind = "tangent_drift", points = 4 }]
[experiment]
kind = "gradient_flow"
seed = 1
samples = 10
[data]
kind = "uniform_sphere"
dim = 5
[target]
kind = "relu_teacher"
[network]
kind = "two_layer"
width = 8
activation = { kind = "monomial", degree = 2 }
[flow]
kind = "gradient_descent"
steps = 5
step = 0.1
[sweep]
"flow.alpha" = [1.0, 2.0]
seeds = 2
[figure]
kind = "trajectories"
y = ["train_loss"]
"""


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    found = spec_schema()
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def claim_specs() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in catalogue.names("claims"):
        claim = claims.get(name)
        for size, text in (("quick", claim.quick), ("full", claim.full)):
            tables = tomllib.loads(text)
            yield f"{name} {size}", tables
            yield f"{name} {size} control", override(tables, claim.control)


def test_every_shipped_spec_is_right(schema: Draft202012Validator) -> None:
    specs = {path.stem: tomllib.loads(path.read_text()) for path in RUNS}
    specs |= dict(claim_specs())
    specs |= {f"example {i} {kind}": t for i, (kind, t) in enumerate(catalogue.all_examples("experiments"))}
    assert len(specs) > 150
    for name, tables in specs.items():
        errors = [f"{error.json_path}: {error.message}" for error in schema.iter_errors(tables)]
        assert not errors, (name, errors[:3])


@pytest.mark.parametrize("name", ["quickstart", "lazy_training", "decay", "radial_flow", "beyond_kernels"])
def test_what_a_run_directory_keeps_is_right(schema: Draft202012Validator, name: str) -> None:
    """A resolved spec: every default written out, every axis by value."""
    (path,) = [path for path in RUNS if path.stem == name]
    assert schema.is_valid(tomllib.loads(resolve(tomllib.loads(path.read_text())).text))


class Mark(Enum):
    """What a change may put in the place of a value; named, so that every process names the tests alike."""

    REMOVED = "removed"


REMOVED = Mark.REMOVED
GOOD: list[dict[str, Any]] = [
    {},
    {"observables": "train_loss"},
    {"network": {"kind": "two_layer"}, "sweep.network.width": [5, 6]},
    {"network.width": REMOVED, "sweep": {"network": {"width": [5, 6]}}},
    {"network": REMOVED, "sweep": {"network": [{"kind": "two_layer", "width": 5}]}},
    {"network.kind": REMOVED, "sweep.network.kind": ["two_layer"]},
    {"network.activation": {"kind": "monomial"}, "sweep.network.activation.degree": [2, 3]},
    {"network.activation": "tanh"},
    {"experiment.samples": REMOVED, "sweep.experiment.samples": {"range": [5, 9, 2]}},
    {"sweep": {"flow.step": {"geomspace": [0.1, 0.2, 2]}, "flow.alpha": [1, 2], "zip": [["flow.step", "flow.alpha"]]}},
    {"sweep": {"network.width": {"range": [1, 4]}, "independent": ["network.width"]}},
    {"target": "relu_teacher", "figure": REMOVED, "sweep": REMOVED},
]  # fmt: skip
BAD: list[dict[str, Any]] = [
    {"experiment.kind": "gradientflow"},
    {"experiment": REMOVED},
    {"experiment.samples": REMOVED},
    {"experiment.samples": 0},
    {"experiment.samples": "many"},
    {"experiment.seed": -1},
    {"experiment.thread": 2},
    {"experiment.network": {"kind": "two_layer", "width": 3}},
    {"netwrok": {"kind": "two_layer", "width": 3}},
    {"network": REMOVED},
    {"network.width": REMOVED},
    {"network.widht": 5},
    {"network.width": -5},
    {"network.kind": "two_layr"},
    {"network.kind": REMOVED},
    {"network.scaling": "ntkk"},
    {"network.bias": "yes"},
    {"network.activation": "reluu"},
    {"network.activation": {"kind": "monomial"}},
    {"network.activation": {"kind": "custom"}},
    {"network": "two_layer"},
    {"data.dim": 0},
    {"flow.step": True},
    {"observables": ["trainloss"]},
    {"observables": [{"kind": "neuron_snapshots"}]},
    {"sweep": {}},
    {"sweep.network.width": []},
    {"sweep.netwrk.width": [3, 4]},
    {"sweep.network.widht": [3, 4]},
    {"sweep.network.width": 3},
    {"sweep.experiment.seed": [1, 2]},
    {"sweep.flow.alpha": {"lnspace": [0, 1, 3]}},
    {"sweep.flow.alpha": {"linspace": [0, 1]}},
    {"sweep.flow.alpha": {"linspace": [0, 1, 0.5]}},
    {"sweep.seeds": 0},
    {"sweep.zip": ["flow.alpha"]},
    {"figure.kind": "pie"},
    {"figure.y": []},
    {"figure": "trajectories"},
]  # fmt: skip


def load(tables: dict[str, Any]) -> None:
    """As `simlab run` does before anything is written."""
    spec = resolve(tables)
    if spec.figure is not None:
        figures.choose(spec.figure, merged_outputs(spec))


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    """The small spec with some keys set or removed; axes of the sweep keep their dots."""
    tables = deepcopy(tomllib.loads(QUICKSTART))
    for key, value in changes.items():
        table, _, rest = key.partition(".")
        here, name = (tables, table) if not rest else (tables[table], rest)
        if value is REMOVED:
            del here[name]
        else:
            here[name] = value
    return tables


@pytest.mark.parametrize("changes", GOOD, ids=str)
def test_good_specs_pass_both(schema: Draft202012Validator, changes: dict[str, Any]) -> None:
    load(changed(changes))
    assert [error.message for error in schema.iter_errors(changed(changes))] == []


@pytest.mark.parametrize("changes", BAD, ids=str)
def test_bad_specs_are_refused_by_both(schema: Draft202012Validator, changes: dict[str, Any]) -> None:
    tables = changed(changes)
    assert not schema.is_valid(tables)
    with pytest.raises(SimlabError):
        load(tables)


def test_a_missing_field_is_said_where_it_is_missing(schema: Draft202012Validator) -> None:
    """Not at the top: an editor underlines the table."""
    (error,) = schema.iter_errors(changed({"network.width": REMOVED}))
    assert list(error.absolute_path) == ["network"]
    assert "'width' is a required property" in error.message


@pytest.mark.parametrize("room", [room for room in catalogue.rooms() if room not in ("claims", "experiments")])
def test_the_schema_of_one_kind_takes_its_examples(room: str) -> None:
    for kind in catalogue.names(room):
        table = json_schema.kind_schema(room, kind)
        Draft202012Validator.check_schema(table)
        if kind not in json_schema.in_toml(room):
            continue
        own = Draft202012Validator(table)
        for example in catalogue.examples(room, kind):
            given = {"kind": kind, **example}
            assert own.is_valid(given), (room, kind, example)
            assert not own.is_valid({**given, "no_such_field": 1})
            for name in json_schema.required(catalogue.get(room, kind)):
                assert not own.is_valid({key: value for key, value in given.items() if key != name})
