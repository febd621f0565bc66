"""One learner on one target, a trained net or a kernel machine, and its error at the end. [S3 §6], MATH §9.

The learners, all on the same samples:

    "descent"   the network, trained by the flow
    "tangent"   the network linearised where it was drawn: f₀ + K(·,X)(K + λI)⁻¹(y − f₀), K its exact tangent kernel, of
                all outputs together where the network tells it (`tangent_blocks`), else the mean over outputs
    "last"      its last layer alone: ridge regression with the conjugate kernel H Hᵀ
    "kernel"    kernel ridge regression with the kernel given

A kernel machine takes that of the `ridges`, in units of the mean of K's diagonal, which has the least error on the
validation data; a search over steps and weight decays is an axis of the sweep, whose best is to be chosen by
`validation_error` as well. Test data choose nothing. Errors are E‖f − y‖², summed over the outputs; those of a net that
diverged are NaN. Where the target is F + αG(F) the parts of both in f are recorded (`simlab.targets.hierarchy`).

coordinates = "target" shows the learner those coordinates of x alone that the target depends on.
Streams: ``data``, ``validation``, ``test`` (inputs), ``target``, ``init``; flows: ``batches``, ``fresh``, ``noise``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import shown
from simlab.core.params import AsTuple, Room, kind_of, module_of
from simlab.core.params import Params as Base
from simlab.core.rng import Streams
from simlab.data.splits import draw
from simlab.experiments import _descent, _heavy_tail
from simlab.experiments._descent import drawn
from simlab.flows.flow import Flow
from simlab.flows.problem import GOING, Problem
from simlab.kernels.kernel import Kernel
from simlab.machines import dense
from simlab.networks.bound import Bound, diverged_weights
from simlab.record.schema import Output
from simlab.record.segments import State

Floats = NDArray[np.float64]
SECONDS = 0.5


class Params(Base):
    learner: Literal["descent", "tangent", "last", "kernel"] = Field("descent", description="what learns")
    label: str = Field("", description="what a sweep calls this learner with its settings; of no other use")
    samples: int = Field(ge=1, description="number n of training samples")
    validation_samples: int = Field(1000, ge=1, description="samples that choose the ridge")
    test_samples: int = Field(2000, ge=2, description="samples on which the error is measured")
    ridges: Annotated[tuple[Annotated[float, Field(ge=0)], ...], AsTuple] = Field(
        (1e-4, 1e-3, 1e-2, 1e-1, 1.0), min_length=1, description="ridges λ, in units of the mean of K's diagonal"
    )
    coordinates: Literal["all", "target"] = Field("all", description="target: only those that the target depends on")
    dtype: Literal["float64", "float32"] = Field("float64", description="precision of the descent")
    data: Annotated[Base, Room("data")]
    target: Annotated[Base, Room("targets")]
    network: Annotated[Base, Room("networks")]
    flow: Flow
    kernel: Annotated[Kernel | None, Room("kernels")] = Field(None, description="of the learner kernel")

    @model_validator(mode="after")
    def _learner_is_there(self) -> Params:
        if self.learner == "kernel" and self.kernel is None:
            raise ValueError("learner = 'kernel': give a [kernel] table")
        needed = {"descent": "loops", "tangent": "tangent_gram", "last": "hidden"}.get(self.learner)
        if needed and not hasattr(module_of(self.network), needed):
            raise ValueError(f"network.kind = {kind_of(self.network)!r}: learner = {self.learner!r} needs its {needed}")
        if len(set(self.ridges)) < len(self.ridges):
            raise ValueError(f"ridges = {shown(list(self.ridges))}: each may be named once")
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> Params:
        _descent.check_flow(self.flow, self.network, self.target, self.data, self.samples, self.dtype)
        _heavy_tail.check_outer_weights(self.data, self.network)
        if not getattr(module_of(self.data), "FINITE", False):  # whose files may not be here
            self.target.check_in_spec(self.data.dimension())
            if self.coordinates == "target" and not self.target.knows_coordinates:
                raise ValueError(f"coordinates = 'target': target.kind = {kind_of(self.target)!r} has none of its own")
        return self


_SMALL: dict[str, Any] = {
    "experiment": {"kind": "rivals", "samples": 40, "validation_samples": 20, "test_samples": 30},
    "data": {"kind": "boolean_cube", "dim": 5},
    "target": {"kind": "allen_zhu_li", "pairs": 2, "group": 2},
    "network": {"kind": "resnet3", "width": 12, "outputs": 2},
    "flow": {"kind": "sgd", "steps": 60, "step": 0.1, "batch": 10, "momentum": 0.9},
}


def _small(**fields: Any) -> dict[str, Any]:
    return _SMALL | {"experiment": {**_SMALL["experiment"], **fields}}


EXAMPLES: tuple[dict[str, Any], ...] = (
    _SMALL,
    _small(learner="tangent"),
    _small(learner="last", coordinates="target"),
    _small(learner="kernel") | {"kernel": {"kind": "laplace", "c": 1.0}},
)


@dataclass
class Work:
    """Inputs and values of training, validation and test, the target, the net at its start and what it descends on."""

    X: Floats
    y: Floats
    X_validation: Floats
    y_validation: Floats
    X_test: Floats
    y_test: Floats
    target: Any
    parts: tuple[Floats, Floats] | None
    theta0: Floats
    problem: Problem | None


def outputs(params: Params) -> dict[str, Output]:
    return {
        "test_error": Output("E‖f − y‖² on the test data; NaN where the net diverged"),
        "test_error_se": Output("its standard error over the test inputs"),
        "validation_error": Output("the same on the validation data"),
        "train_error": Output("the same on the training data"),
        "composed_power": Output("α² E‖G(F)‖², the error of having learned F alone; NaN where the target has no parts"),
        "learned_simple": Output("coefficient of F in f; NaN where the target has no parts"),
        "learned_composed": Output("coefficient of αG(F) in f; NaN where the target has no parts"),
        "ridge_chosen": Output("ridge of the least validation error, in units of K's mean diagonal; NaN for a net"),
        "ending": Output("how the flow ended", dtype="int8", codes=_descent.ENDINGS),
        "diverged": Output("whether the flow was stopped before its end", dtype="int8", codes=_descent.NO_YES),
    }


def prepare(params: Params, streams: Streams) -> Work:
    law, network = module_of(params.data), module_of(params.network)
    counts = {"data": params.samples, "validation": params.validation_samples, "test": params.test_samples}
    inputs = draw(params.data, counts, streams)
    target: Any = drawn(params.target, law.dimension(params.data), streams["target"])
    shown = target.coordinates if params.coordinates == "target" else slice(None)

    def labelled(X: Floats) -> tuple[Floats, Floats]:
        return np.ascontiguousarray(X[:, shown]), np.reshape(target(X), (len(X), -1))

    def fresh(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        return labelled(law.sample(params.data, n, rng))

    (X, y), validation, test = (labelled(rows) for rows in inputs.values())
    theta0, problem = network.initialise(params.network, X.shape[1], streams["init"]), None
    if params.learner == "descent":
        problem = Problem.of(
            Bound(params.network, X.shape[1], params.dtype), X, y, params.flow.output_scale(),
            width=getattr(params.network, "width", None), fresh=None if getattr(law, "FINITE", False) else fresh,
        )  # fmt: skip
    parts = target.parts(inputs["test"]) if hasattr(target, "parts") else None
    return Work(X, y, *validation, *test, target, parts, theta0, problem)


def start(params: Params, work: Work, streams: Streams) -> State:
    if work.problem is None:
        return {"finished": False}
    net = params.flow.start(work.problem, work.theta0, streams)
    return {"finished": False} | {_descent.NET + key: value for key, value in net.arrays().items()}


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    if work.problem is None:
        state["finished"] = True
        return _errors(work, *_machine(params, work), GOING)
    flow = params.flow
    net, until = _descent.part(flow, state, _descent.NET), flow.last()
    if net.ending == GOING:
        flow.advance(work.problem, net, until, SECONDS)
    state |= {_descent.NET + key: value for key, value in net.arrays().items()}
    if net.ending == GOING and flow.now(net) < until:
        return {}
    state["finished"] = True
    theta, alpha = np.asarray(net.theta, np.float64), flow.output_scale()
    bound = Bound(params.network, work.X.shape[1])

    def trained(X: Floats) -> Floats:
        with diverged_weights():
            f: Floats = alpha * bound.value(theta, X)
        return f if net.ending == GOING else np.full_like(f, np.nan)

    fits = Fits(*(trained(X) for X in (work.X, work.X_validation, work.X_test)))
    return _errors(work, fits, float("nan"), net.ending)


class Fits(NamedTuple):
    """f at the inputs of training, validation and test, (n, k) each."""

    train: Floats
    validation: Floats
    test: Floats


def _machine(params: Params, work: Work) -> tuple[Fits, float]:
    """The kernel machine at the ridge that the validation data choose, and that ridge."""
    gram, before = _gram(params, work)
    K, across = gram(work.X, None), gram(work.X_validation, work.X)
    y = (work.y - before(work.X)).reshape(len(K), -1)
    unit = float(np.trace(K)) / len(K)
    held_out = work.y_validation - before(work.X_validation)
    solved = [dense.solve(K, y, ridge * unit).coefficients for ridge in params.ridges]
    scores = [_mean_square((across @ alpha).reshape(held_out.shape) - held_out) for alpha in solved]
    best = int(np.argmin(scores))
    # In blocks: a matrix-valued kernel against all test inputs at once would be the largest array of all.
    rows = [work.X_test[i : i + 500] for i in range(0, len(work.X_test), 500)]
    test = [(gram(some, work.X) @ solved[best]).reshape(len(some), -1) + before(some) for some in rows]
    train, validation = ((G @ solved[best]).reshape(-1, work.y.shape[1]) for G in (K, across))
    fits = Fits(train + before(work.X), validation + before(work.X_validation), np.concatenate(test))
    return fits, params.ridges[best]


def _gram(params: Params, work: Work) -> tuple[Callable[[Floats, Floats | None], Floats], Callable[[Floats], Floats]]:
    """The Gram matrix of the learner, and what it predicts without any sample."""
    network, theta0 = params.network, work.theta0
    module = module_of(network)

    def nothing(X: Floats) -> Floats:
        return np.zeros((len(X), work.y.shape[1]))

    if params.learner == "kernel":
        assert params.kernel is not None
        kernel = params.kernel
        return lambda X, Y: kernel.gram(X, Y, threads=1), nothing
    if params.learner == "last":

        def conjugate(X: Floats, Y: Floats | None) -> Floats:
            H = module.hidden(network, theta0, X)
            return np.asarray(H @ (H if Y is None else module.hidden(network, theta0, Y)).T)

        return conjugate, nothing
    several = work.y.shape[1] > 1 and hasattr(module, "tangent_blocks")
    tangent = module.tangent_blocks if several else module.tangent_gram
    return (
        lambda X, Y: tangent(network, theta0, X, Y),
        lambda X: np.reshape(module.forward(network, theta0, X), (len(X), -1)),
    )


def _mean_square(residual: Floats) -> float:
    return float(np.sum(residual**2) / len(residual))


def _errors(work: Work, fits: Fits, ridge: float, ending: int) -> dict[str, NDArray[Any]]:
    f = fits.test
    squares = np.sum((f - work.y_test) ** 2, axis=1)
    simple = composed = power = float("nan")
    if work.parts is not None:
        power = work.target.alpha**2 * _mean_square(work.parts[1])
    if work.parts is not None and ending == GOING:
        learned = work.target.learned(f, work.parts)
        simple, composed = learned.simple, learned.composed
    found = {
        "test_error": float(squares.mean()),
        "test_error_se": float(np.std(squares, ddof=1) / len(squares) ** 0.5),
        "validation_error": _mean_square(fits.validation - work.y_validation),
        "train_error": _mean_square(fits.train - work.y),
        "composed_power": power,
        "learned_simple": simple,
        "learned_composed": composed,
        "ridge_chosen": ridge,
        "ending": ending,
        "diverged": int(ending != GOING),
    }
    return {name: np.asarray(value) for name, value in found.items()}


def finished(params: Params, state: State) -> bool:
    return bool(state["finished"])


def progress(params: Params, state: State) -> tuple[float, float]:
    """Of a flow; a kernel machine is one step."""
    clock = _descent.NET + params.flow.clock
    return (float(state[clock]), params.flow.last()) if clock in state else (float(state["finished"]), 1.0)


def cost(params: Params) -> tuple[float, float]:
    """Of a descent 6 flops a sample and weight a step; of a machine its factorisations and 4 products a pair."""
    dim, n, k = module_of(params.data).dimension(params.data), params.samples, getattr(params.network, "outputs", 1)
    others = params.validation_samples + params.test_samples
    if params.learner == "descent":
        weights = module_of(params.network).loops(params.network, dim).size
        rows = params.flow.batch_size() or n
        steps = params.flow.last() if params.flow.clock == "step" else 3000
        return 6.0 * steps * rows * weights, 8.0 * 9
    n, others = (n * k, others * k) if params.learner == "tangent" else (n, others)
    return len(params.ridges) * n**3 / 3 + 4.0 * n * (n + others) * getattr(params.network, "width", 100), 8.0 * 9


def memory(params: Params) -> float:
    """Of a descent θ and where it began; of a machine the Gram matrix."""
    dim = module_of(params.data).dimension(params.data)
    if params.learner == "descent":
        return float(16 * module_of(params.network).loops(params.network, dim).size + 8 * dim * params.samples)
    return 8.0 * params.samples**2
