"""Specs: resolved, hashed, compared, overridden."""

from __future__ import annotations

import contextlib
import tomllib
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab import activations
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.lab.differences import differences
from simlab.lab.spec import override, resolve
from tests.support.runs import small_tables


def test_resolving_twice_changes_nothing(tables: dict[str, Any]) -> None:
    spec = resolve(tables)
    again = resolve(tomllib.loads(spec.text))
    assert again.hash == spec.hash
    assert again.text == spec.text


def test_defaults_are_written_out_and_do_not_matter(tables: dict[str, Any]) -> None:
    spec = resolve(tables)
    assert spec.tables["network"]["scaling"] == "ntk"
    assert spec.threads == 1
    tables["network"]["scaling"] = "ntk"
    tables["observables"] = ["train_loss", "test_loss", {"kind": "weight_movement"}]
    assert resolve(tables).hash == spec.hash


def test_what_changes_a_number_changes_the_hash(tables: dict[str, Any]) -> None:
    base = resolve(tables)
    settings = ["experiment.seed=4", "experiment.threads=2", "flow.alpha=2.0", "sweep.seeds=4", "data.radius=2.0"]
    assert len({base.hash, *(resolve(override(tables, [s])).hash for s in settings)}) == 6
    tables["figure"] = {"kind": "trajectories", "y": ["train_loss"]}
    assert resolve(tables).hash == base.hash


def test_a_seed_is_drawn_and_kept(tables: dict[str, Any]) -> None:
    del tables["experiment"]["seed"]
    drawn = resolve(tables)
    assert f"seed = {drawn.seed}" in drawn.text
    assert resolve(tables).seed != drawn.seed
    assert resolve(tables, seed=drawn.seed).hash == drawn.hash


def test_a_required_key_may_come_from_the_sweep(tables: dict[str, Any]) -> None:
    del tables["network"]["width"]
    spec = resolve(tables)
    assert [spec.at(point).network.width for point in (0, 5)] == [10, 20]


def test_kinds_can_be_swept() -> None:
    tables = small_tables(**{"target.kind": ["relu_teacher"], "target.neurons": [1, 2]})
    spec = resolve(tables)
    assert spec.at(1).target.neurons == 2


def test_differences_are_named(tables: dict[str, Any]) -> None:
    old, new = resolve(tables), resolve(override(tables, ["network.scaling=mean_field", "sweep.seeds=5"]))
    assert differences(old, new) == ["network.scaling: ntk → mean_field", "sweep.seeds: 3 → 5"]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("flow.alpha=2.0", 2.0),
        ("flow.alpha = 2.0", 2.0),
        ("network.scaling=ntk", "ntk"),
        ('network.scaling="ntk"', "ntk"),
    ],
)
def test_settings_are_toml_or_a_bare_word(setting: str, value: Any) -> None:
    table, _, key = setting.partition("=")[0].strip().partition(".")
    assert override(small_tables(), [setting])[table][key] == value


@pytest.mark.parametrize("setting", ["width", "width=3", "=3", ".=3", "network.=3"])
def test_bad_settings_are_named(setting: str) -> None:
    with pytest.raises(BadInput, match="--set"):
        override(small_tables(), [setting])


def test_a_value_that_the_sweep_overrides_must_be_right_too(tables: dict[str, Any]) -> None:
    tables["network"]["width"] = -20
    with pytest.raises(BadInput, match=r"network\.width = -20"):
        resolve(tables)


def test_one_observable_may_stand_alone() -> None:
    assert resolve(small_tables() | {"observables": "train_loss"}).tables["observables"] == [{"kind": "train_loss"}]


def test_setting_a_swept_key_would_do_nothing_and_is_refused(tables: dict[str, Any]) -> None:
    nested = {**tables, "sweep": {"network": {"width": [10, 20]}}}
    with pytest.raises(BadInput, match="is an axis of the sweep"):
        override(nested, ["network.width=5"])
    with pytest.raises(BadInput, match="is an axis of the sweep"):
        override(tables, ["network.width=5"])
    assert override(tables, ["sweep.network.width=[5]"])["sweep"]["network.width"] == [5]


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("network.widht=5", 'network.widht = 5: unknown key; did you mean "width"?'),
        ("network.width=0", "network.width = 0: must be greater than or equal to 1"),
        ("network.width=big", "network.width = 'big': must be a valid integer"),
        ("network.width=10.5", "network.width = 10.5: must be a valid integer"),
        ("flow.step=nan", "flow.step = nan: must be a number greater than 0"),
        ("flow.step=-1", "flow.step = -1: must be a number greater than 0"),
        ("network.kind=two_layers", "network.kind = 'two_layers': unknown kind; did you mean \"two_layer\"?"),
        ("experiment.kind=gradient_flwo", "did you mean \"gradient_flow\"?"),
        ("experiment.samples=0", "experiment.samples = 0"),
        ("experiment.sampels=5", "experiment.sampels = 5: unknown key; did you mean \"samples\"?"),
        ("experiment.seed=-1", "experiment.seed = -1"),
        ("experiment.threads=0", "experiment.threads = 0"),
        ("netwrok.width=5", "[netwrok]: unknown table; did you mean \"network\"?"),
        ("sweep.network.width=[10, -3]", "network.width = -3"),
        ("sweep.network.width=[10, 2.5]", "network.width = 2.5"),
        ("sweep.flow.alhpa=[1.0]", "flow.alhpa = 1.0: unknown key; did you mean \"alpha\"?"),
        ("sweep.nowhere.x=[1]", "[nowhere]: unknown table"),
        ("sweep.experiment.seed=[1, 2]", "sweep.experiment.seed: cannot be swept"),
        ("sweep.experiment.threads=[1, 2]", "sweep.experiment.threads: cannot be swept"),
        ("experiment.network=two_layer", "experiment.network: unknown key; give it as a table of its own, [network]"),
        ("network.width=1" + 5000 * "0", "TOML too large to read"),
        ("network.width=" + 5000 * "[", "TOML too large to read"),
        ("network.width=1" + 30 * "0", "network.width = 1" + 30 * "0"),
    ],
)  # fmt: skip
def test_bad_values_name_key_and_value(setting: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        resolve(override(small_tables(), [setting]))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_axis_of_whole_tables() -> None:
    """The table comes first and single keys after it; neither changes the other's list."""
    two = [{"kind": "two_layer"}, {"kind": "two_layer", "scaling": "mean_field"}]
    tables = small_tables(**{"network.width": [3, 4], "network": two})
    spec = resolve(tables)
    found = [spec.at(point).network for point in range(4)]
    assert [(n.width, n.scaling) for n in found] == [(3, "ntk"), (3, "mean_field"), (4, "ntk"), (4, "mean_field")]
    assert spec.sweep.axes["network"] == two
    assert spec.sweep.dimensions[1].coords["network"][1] == '{"kind": "two_layer", "scaling": "mean_field"}'
    assert resolve(tomllib.loads(spec.text)).hash == spec.hash
    with pytest.raises(BadInput, match=r"network is an axis of the sweep; set sweep\.network="):
        override(tables, ["network.scaling=ntk"])
    for bad in ({"network": [{"kind": "two_layer", "wide": 3}]}, {"network": [3]}, {"experiment": [{"seed": 1}]}):
        with pytest.raises(BadInput):
            resolve(small_tables(**bad))


def test_an_observable_given_twice_is_refused() -> None:
    tables = small_tables() | {"observables": ["train_loss", "train_loss"]}
    with pytest.raises(BadInput, match="train_loss is recorded by two"):
        resolve(tables)


@given(
    st.dictionaries(
        st.sampled_from(["experiment", "data", "network", "flow", "sweep", "figure", "x"]),
        st.recursive(
            st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "width", "a.b"]), inner)
            ),
            max_leaves=6,
        ),
    )
)
def test_any_table_is_either_a_spec_or_bad_input(given_tables: dict[str, Any]) -> None:
    """No other exception, whatever is thrown at it."""
    with contextlib.suppress(BadInput):
        resolve(small_tables() | given_tables)


def test_a_named_part_can_be_set_whole_or_by_field() -> None:
    tables = {"experiment": {"kind": "staircase"}, "activation": "relu"}
    assert override(tables, ["activation=step"])["activation"] == "step"
    assert override(tables, ["activation.slope=0.2"])["activation"] == {"kind": "relu", "slope": 0.2}
    assert override(tables, ['figure={kind="staircases"}'])["figure"] == {"kind": "staircases"}


def test_an_axis_may_list_names() -> None:
    tables = {
        "experiment": {"kind": "staircase", "learner": "rf", "dim": 5, "size": 3},
        "sweep": {"activation": ["relu", "tanh"]},
    }
    spec = resolve(tables)
    assert [repr(spec.at(i).activation) for i in range(2)] == [repr(activations.get(name)) for name in ("relu", "tanh")]


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        (
            {"data": {"kind": "uniform_sphere", "dim": 3}},
            r"data\.kind = 'uniform_sphere': no set of labelled images \(allowed: images",
        ),
        ({"experiment": {"ridges": []}}, r"experiment\.ridges = \[\]: must name at least 1"),
        ({"experiment": {"ridges": [1e-3, 0.0]}}, r"experiment\.ridges = .* each must be positive, not 0\.0"),
    ],
)
def test_a_part_that_does_not_fit_is_named(tables: dict[str, Any], says: str) -> None:
    good = deepcopy(catalogue.examples("experiments", "real_data")[0])
    for name, fields in tables.items():
        good[name] = {**(good[name] if name == "experiment" else {}), **fields}
    with pytest.raises(BadInput, match=says):
        resolve(good)


_SGD = {"kind": "sgd", "steps": 50, "step": 0.1, "batch": 4}


@pytest.mark.parametrize(
    ("kind", "table", "fields", "says"),
    [
        ("gradient_flow", "network", {"width": 21, "doubled": True}, "network.width = 21: must be even"),
        ("gradient_flow", "flow", {"step": "auto", "step_unit": "edge"}, "flow.step_unit = 'edge': not with"),
        ("gradient_flow", "experiment", {"spacing": "listed", "at": [100]}, "experiment.at = [100.0]: 100.0 is not"),
        ("gradient_flow", "flow", {**_SGD, "batch": 11}, "flow.batch = 11: more than the 10 training samples"),
        ("gradient_flow", "sweep", {"experiment.samples": [60, 3], "flow": [_SGD]}, "flow.batch = 4: more than the 3"),
        ("gradient_flow", "network", {"kind": "linearised", "network": {"kind": "linearised", "network": "two_layer"}},
         "network.network.network.width: missing"),
        ("population_flow", "flow", {"step": "auto", "step_unit": "absolute"}, "flow.step = 'auto': there is no"),
        ("population_flow", "flow", {"step_unit": "edge"}, "flow.step_unit = 'edge': there is no tangent kernel"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_named_whole(kind: str, table: str, fields: dict[str, Any], says: str) -> None:
    good = deepcopy(catalogue.examples("experiments", kind)[0])
    good[table] = fields if "network" in fields else {**good.get(table, {}), **fields}
    with pytest.raises(BadInput) as caught:
        resolve(good)
    assert str(caught.value).startswith(says)


def test_a_solver_in_single_precision_is_refused() -> None:
    good = deepcopy(catalogue.examples("experiments", "gradient_flow")[2])
    good["experiment"]["dtype"] = "float32"
    with pytest.raises(BadInput, match=r"^experiment\.dtype = 'float32': flow\.kind = 'ode'"):
        resolve(good)


def test_whole_numbers_written_as_floats_are_the_same_spec(tables: dict[str, Any]) -> None:
    """``steps = 2e3`` is 2000: same hash, same text, integers in results; fields that are floats stay floats."""
    as_floats = deepcopy(tables)
    as_floats["flow"]["steps"] = float(tables["flow"]["steps"])
    as_floats["experiment"]["samples"] = float(tables["experiment"]["samples"])
    as_floats["experiment"]["seed"] = 3.0
    as_floats["sweep"] = {"network.width": [1e1, 20], "seeds": 3.0}
    one, two = resolve(tables), resolve(as_floats)
    assert two.hash == one.hash
    assert two.text == one.text
    assert [type(value) for value in two.sweep.axes["network.width"]] == [int, int]
    swept = resolve(small_tables(**{"flow.alpha": [1.0, 2.0], "network.width": {"logspace": [1, 2, 2]}}))
    assert swept.sweep.axes == {"flow.alpha": [1.0, 2.0], "network.width": [10, 100]}
    assert [type(value) for value in swept.sweep.axes["flow.alpha"]] == [float, float]


def test_whole_numbers_of_axes_that_advance_together() -> None:
    zipped = {"network.width": [10.0, 20.0], "flow.step": [1.0, 2.0], "zip": [["network.width", "flow.step"]]}
    axes = resolve(small_tables(**zipped)).sweep.axes
    assert {key: [type(value) for value in values] for key, values in axes.items()} == {
        "network.width": [int, int],
        "flow.step": [float, float],
    }


def test_the_bundled_specs_are_what_they_were() -> None:
    """A table of floats where integers are meant would resolve to another hash; nothing else may."""
    from simlab.lab import bundled

    tables = tomllib.loads(bundled.get("quickstart").text)
    floats = deepcopy(tables)
    floats["sweep"]["network.width"] = [float(width) for width in tables["sweep"]["network.width"]]
    assert resolve(floats).hash == resolve(tables).hash
