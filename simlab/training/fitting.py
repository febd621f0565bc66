"""Training: from a network, a flow and arrays to a `Trained`.

Training runs the experiment `gradient_flow`, with the same loops, observables and random streams as a point of a sweep.
The only difference: the arrays are given instead of drawn from laws.

Random streams: ``init`` for the weights at the start; ``batches`` and ``noise`` for the flows that need them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from simlab.core import catalogue, checks
from simlab.core.checks import BadData
from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.parsing import choose, parse
from simlab.core.rng import Streams
from simlab.experiments.course import SampledCourse
from simlab.experiments.gradient_flow import GradientFlow
from simlab.flows.flow import Flow
from simlab.losses.loss import Loss
from simlab.networks.network import Trainable
from simlab.observables.observable import Observable
from simlab.record.provenance import provenance
from simlab.training import threads as limits
from simlab.training.arrays import Arrays, checked, encoded
from simlab.training.given_inputs import GivenInputs
from simlab.training.given_values import GivenValues
from simlab.training.trained import Trained

MOST_SEED = (1 << 128) - 1
"""Largest seed: 128 bits."""
Progress = Callable[[float, float], None]
"""Called with (done, total): numbers of steps, or of records for a flow in continuous time."""
TRAIN_NAMES = {
    "target.kind = 'given_values'": "y is given as values",
    "data.kind = 'given_inputs'": "X is given as rows",
    "validation_samples = 0": "X_validation is not given",
    "experiment.validation_samples": "X_validation and y_validation",
    "test_samples = 0": "X_test is not given",
    "experiment.test_samples": "X_test and y_test",
    "test_samples = ": "rows of X_test = ",
    "observables": "observe",
}
"""Name in a spec → argument of `train`, for errors. Order matters: `test_samples = 0` before `test_samples = `."""


class Options(TypedDict, total=False):
    """Arguments of `simlab.train` other than network, X, y and flow; its docstring explains each."""

    loss: str | Loss | Mapping[str, Any]
    X_test: ArrayLike | None
    y_test: ArrayLike | None
    X_validation: ArrayLike | None
    y_validation: ArrayLike | None
    observe: str | Observable | Mapping[str, Any] | Iterable[str | Observable | Mapping[str, Any]] | None
    records: int
    spacing: str
    at: Iterable[float]
    seed: int | None
    dtype: DTypeLike
    threads: int


def train(
    network: Trainable | str | Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    flow: Flow | Mapping[str, Any],
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Trained:
    """As `simlab.train`, whose docstring explains the options; `progress` is called about every half second."""
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise TypeError(f"train() has no argument {unknown[0]!r}{nearest(unknown[0], Options.__annotations__)}")
    threads, seed = limits.checked(options.get("threads", 1)), _seed(options.get("seed"))
    net, chosen_flow = _chosen("networks", network, "network"), _chosen("flows", flow, "flow")
    loss: Loss = _chosen("losses", options.get("loss", "squared"), "loss")
    arrays = checked(
        X,
        y,
        (options.get("X_test"), options.get("y_test")),
        (options.get("X_validation"), options.get("y_validation")),
    )
    if loss.labels != "real" and isinstance(net, Trainable):
        arrays = encoded(arrays, loss, net.output_count())
    experiment = _experiment(net, chosen_flow, loss, arrays, options)
    with limits.limited(threads):
        return _follow(experiment, arrays, seed, threads, progress)


def _seed(seed: Any) -> int:
    """The seed, checked; a random one for None."""
    return secrets.randbits(32) if seed is None else checks.whole(seed, "seed", least=0, most=MOST_SEED)


def _chosen(room: str, value: Any, key: str) -> Any:
    """The kind that `value` (an object, a class, a name or a table) stands for; refuses a kind of another room.

    room: "networks", "flows" or "observables".
    key: what an error calls the value.
    """
    found = choose(room, _plain(value) if isinstance(value, Mapping) else value, key)
    if not isinstance(found, catalogue.contract(room)):
        must = f"must be one of simlab.{room}, such as {one_of(catalogue.names(room))}"
        raise BadInput(f"{key} = {shown(value)}: {must}") from None
    return found


def _plain(value: Any) -> Any:
    """A table in which NumPy's numbers and arrays are Python's numbers and lists, as TOML would give them."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _experiment(network: Any, flow: Flow, loss: Loss, arrays: Arrays, options: Options) -> GradientFlow:
    """The experiment that this training runs; raises BadInput if its parts do not fit together."""
    if isinstance(network, Trainable) and network.output_count() != arrays.columns:
        columns, outputs = _counted(arrays.columns, "column"), _counted(network.output_count(), "output")
        raise BadData(f"y has {columns}: network.kind = {network.kind!r} has {outputs} here; they must agree")
    if flow.draws_fresh():
        raise BadData("flow.fresh = true: X and y are given, so that there is no law to draw new samples from")
    listed = checks.listed(options.get("at", ()), "at", "a list of steps or times")
    fields = {
        "samples": len(arrays.y),
        "test_samples": len(arrays.y_test),
        "validation_samples": len(arrays.y_validation),
        "records": checks.whole(options.get("records", 101), "records"),
        "spacing": options.get("spacing", "linear"),
        "at": [checks.number(at, "at") for at in listed],
        "dtype": checks.float_type(options.get("dtype", "float64")).name,
        "network": network,
        "flow": flow,
        "observables": _observables(options.get("observe"), arrays),
        "data": GivenInputs(dim=arrays.dim),
        "target": GivenValues(columns=arrays.columns, labels=loss.labels),
        "loss": loss,
    }
    try:
        experiment = parse(GradientFlow, fields)
    except BadInput as error:
        raise BadData(_in_names_of_train(str(error))) from None
    for one in experiment.observables if not len(arrays.y_test) else ():
        if one.needs_test:
            raise BadData(f"X_test is not given: the observable {one.kind} is measured there; give X_test and y_test")
    return experiment


def _counted(count: int, noun: str) -> str:
    """Such as "1 column" or "2 columns"; an s marks any number but 1."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _observables(observe: Any, arrays: Arrays) -> list[Observable]:
    """What to measure; by default the losses on the data that are given, and how far the weights move."""
    if observe is None:
        test = ["test_loss"] if len(arrays.y_test) else []
        validation = ["validation_error"] if len(arrays.y_validation) else []
        observe = ["train_loss", *test, *validation, "weight_movement"]
    single = isinstance(observe, str | Mapping | Observable | type)
    listed = [observe] if single else checks.listed(observe, "observe", "a list of observables, or one")
    return [_chosen("observables", one, f"observe[{i}]") for i, one in enumerate(listed)]


def _in_names_of_train(line: str) -> str:
    """An experiment's error message with the names of `train`'s arguments instead of those of a spec."""
    for spec, here in TRAIN_NAMES.items():
        line = line.replace(spec, here)
    return line


def _follow(experiment: GradientFlow, arrays: Arrays, seed: int, threads: int, progress: Progress | None) -> Trained:
    """Run the flow to its end and gather what was measured."""
    streams = Streams(seed)
    outputs = experiment.outputs()
    work = _course(experiment, arrays, streams)
    state = experiment.start(work, streams)
    rows: dict[str, list[NDArray[Any]]] = {name: [] for name in outputs}
    while not experiment.finished(state):
        for name, values in experiment.advance(work, state).items():
            rows[name].append(np.asarray(values, outputs[name].dtype))
        if progress is not None:
            progress(*experiment.progress(state))
    trajectories = {name for name, output in outputs.items() if output.is_trajectory}
    columns = {n: np.concatenate(parts) if n in trajectories else parts[0] for n, parts in rows.items() if parts}
    return Trained(
        network=experiment.network,
        flow=experiment.flow,
        observables=experiment.observables,
        theta=np.array(state.net.theta, np.float64),
        theta0=np.array(work.theta0, np.float64),
        dim=arrays.dim,
        ending=outputs["ending"].codes[int(columns["ending"])],
        seed=seed,
        threads=threads,
        dtype=experiment.dtype,
        loss=experiment.minimised,
        columns=columns,
        outputs=outputs,
        made_by=provenance(),
    )


def _course(experiment: GradientFlow, arrays: Arrays, streams: Streams) -> SampledCourse:
    """What the flow follows: the given arrays, and weights drawn from the stream ``init``."""
    network = experiment.network
    theta0 = network.initialise(arrays.dim, streams["init"])
    return SampledCourse.of(
        experiment, network, arrays, theta0, dtype=experiment.dtype, data=experiment.data, loss=experiment.minimised
    )
