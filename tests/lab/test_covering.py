"""Few points stand for all: checked against going through every one of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.lab import covering as cov
from simlab.lab import spec as specs
from simlab.lab.spec import Spec, resolve


def tables(**sweep: Any) -> dict[str, Any]:
    found: dict[str, Any] = dict(
        catalogue.examples("experiments", "gradient_flow")[1]
    )  # sgd: its batch is bounded by samples
    found["experiment"] = {**found["experiment"], "seed": 1}
    return {**found, "sweep": sweep} if sweep else found


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the points that are parsed."""
    count = [0]
    real = specs._parse_point

    def counting(*args: Any) -> Any:
        count[0] += 1
        return real(*args)

    monkeypatch.setattr(specs, "_parse_point", counting)
    return count


SWEEPS: list[dict[str, Any]] = [
    {"flow.alpha": {"linspace": [1, 2, 100_000]}},
    {"flow.step": {"geomspace": [1e-3, 1, 100_000]}},
    {"network.width": {"range": [1, 100_001]}, "seeds": 3},
    {"flow.alpha": {"linspace": [1, 2, 250]}, "network.width": {"range": [1, 101]}, "flow.step": [0.1, 0.2, 0.3, 0.4]},
]


@pytest.mark.parametrize("sweep", SWEEPS)
def test_large_sweeps_of_independent_fields_take_few_points(sweep: dict[str, Any], parsed: list[int]) -> None:
    spec = resolve(tables(**sweep))
    assert spec.sweep.points >= 100_000
    assert parsed[0] < 500


@pytest.mark.parametrize("wrong", [-1.0, 0.0, "fast", True, 10**400, float("nan"), [1.0], {"kind": "x"}, 1e16])
def test_one_wrong_value_among_many_is_found_and_named(wrong: Any) -> None:
    rng = random.Random(repr(wrong))
    values: list[Any] = [rng.uniform(1, 2) for _ in range(100_000)]
    values[rng.randrange(len(values))] = wrong
    with pytest.raises(BadInput, match=r"flow\.alpha") as error:
        resolve(tables(**{"flow.alpha": values}))
    assert len(str(error.value)) < 500
    if isinstance(wrong, float | str):
        assert repr(wrong) in str(error.value)


def test_one_wrong_value_among_a_million_is_found() -> None:
    values: list[Any] = list(range(1, 1_000_001))
    values[random.Random(3).randrange(len(values))] = 2.5
    with pytest.raises(BadInput, match=r"network\.width = 2\.5: must be a valid integer"):
        resolve(tables(**{"network.width": values}))


def test_a_rule_between_fields_is_found_at_every_combination_it_looks_at() -> None:
    # The batch must not exceed the samples, unless it is drawn afresh: only the very last combination is wrong.
    base = tables()
    base["flow"] = {**base["flow"], "fresh": False}
    widths = {"range": [1, 2001]}
    good = {"network.width": widths, "flow.batch": {"range": [1, 41]}, "experiment.samples": {"range": [40, 80]}}
    assert resolve({**base, "sweep": good}).sweep.points == 2000 * 40 * 40
    bad = {**good, "flow.batch": {"range": [1, 42]}}
    with pytest.raises(BadInput, match=r"flow\.batch = 41: more than the 40 training samples"):
        resolve({**base, "sweep": bad})


def test_a_rule_between_fields_of_a_long_axis_is_found_at_its_ends() -> None:
    base = tables()
    base["flow"] = {**base["flow"], "fresh": False, "batch": 5}
    values = [*range(10, 60_000), 4]
    random.Random(1).shuffle(values)
    with pytest.raises(BadInput, match=r"flow\.batch = 5: more than the 4 training samples"):
        resolve({**base, "sweep": {"experiment.samples": values}})


def test_kinds_that_are_swept_are_looked_at_one_by_one() -> None:
    sweep = {"network.activation": ["relu", "tanh", "erf"], "flow.alpha": {"linspace": [1, 2, 1000]}}
    assert resolve(tables(**sweep)).sweep.points == 3000
    with pytest.raises(BadInput, match="no_such"):
        resolve(tables(**{**sweep, "network.activation": ["relu", "tanh", "no_such"]}))
    # A field that only one of the kinds has.
    with pytest.raises(BadInput, match="slope"):
        resolve(
            tables(
                **{
                    "network.activation": [{"kind": "leaky_relu"}, {"kind": "relu"}],
                    "network.activation.slope": [0.1, 0.2],
                }
            )
        )


def _small(**sweep: Any) -> Spec:
    return resolve(tables(**sweep))


@pytest.mark.parametrize(
    "function",
    [
        lambda p: p.samples * p.network.width,
        lambda p: p.flow.alpha if p.samples > 20 else -1,  # looks at alpha at some points only
        lambda p: hash(p.network),
        lambda p: 0,
        lambda p: (p.flow == p.flow, p.flow.step),
    ],
)
def test_a_cover_agrees_with_every_point(function: Any) -> None:
    spec = _small(**{
        "experiment.samples": [10, 20, 30], "network.width": [3, 4], "flow.alpha": [1.0, 2.0], "flow.step": [0.1, 0.2],
        "seeds": 2, "zip": [["network.width", "flow.step"]],
    })  # fmt: skip
    cover = cov.covering(spec, function, 1000)
    values = {point: function(spec.at(point)) for point in range(spec.sweep.points)}
    seen: dict[int, Any] = {}
    for point, value in cover.found.items():
        for other in cov.alike(spec, point, cover.dimensions):
            assert values[other] == value
            seen[other] = value
    assert seen == values
    assert len(cover.found) < spec.sweep.points


def test_progress_is_told_of_long_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cov, "PROGRESS_POINTS", 10)
    told: list[int] = []
    resolve(tables(**{"experiment.samples": {"range": [10, 100]}}), progress=told.append)
    assert told[0] == 10
    assert told == sorted(told)
    assert len(told) > 3
