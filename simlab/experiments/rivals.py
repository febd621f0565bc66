"""One learner on one target, a trained net or a kernel machine, and its error at the end. [S3 §6], MATH §9.

The learners, all on the same samples:

    "descent"   the network, trained by the flow
    "tangent"   the network linearised at its start: f₀ + K(·,X)(K + λI)⁻¹(y − f₀), K its exact tangent kernel. K is of
                all outputs together where the network gives that (`tangent_blocks`), else the mean over outputs
    "last"      its last layer alone: ridge regression with the conjugate kernel H Hᵀ
    "kernel"    kernel ridge regression with the given kernel

A kernel machine takes the ridge with the least error on the validation data; `ridges` are in units of the mean of K's
diagonal. A search over steps and weight decays is an axis of the sweep, whose best is to be chosen by
`validation_error` as well. Test data choose nothing. Errors are E‖f − y‖², summed over the outputs, and NaN for a net
that diverged. Where the target is F + αG(F), the parts of both in f are recorded (`simlab.targets.hierarchy`).

``coordinates = "target"`` shows the learner only those coordinates of x that the target depends on.

Streams: ``data``, ``validation``, ``test`` (inputs), ``target``, ``init``; flows: ``batches``, ``fresh``, ``noise``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.fields import EachOnce
from simlab.core.parsing import AsTuple
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.data.law import Law
from simlab.data.splits import draw
from simlab.experiments import _heavy_tail
from simlab.experiments.course import Samples
from simlab.experiments.experiment import ADVANCE_SECONDS, Columns, Experiment
from simlab.experiments.following import ENDINGS, NO_YES, SOLVER_STEPS, check_outputs
from simlab.flows.flow import Flow, FlowState
from simlab.flows.problem import GOING, Problem
from simlab.kernels.kernel import Kernel
from simlab.machines.ridge_choice import choose_ridge, mean_square
from simlab.networks.bound import Bound, diverged_weights
from simlab.networks.network import Trainable
from simlab.record.schema import Output
from simlab.targets import Hierarchy
from simlab.targets.target import Function, OfCoordinates, Target

Floats = NDArray[np.float64]
Gram = Callable[[Floats, Floats | None], Floats]
TEST_ROWS = 500
"""Test inputs predicted at a time."""
GUESSED_WIDTH = 100
"""Width of a network that has none, for estimates alone."""
_SMALL: dict[str, Any] = {
    "experiment": {"kind": "rivals", "samples": 40, "validation_samples": 20, "test_samples": 30},
    "data": {"kind": "boolean_cube", "dim": 5},
    "target": {"kind": "allen_zhu_li", "pairs": 2, "group": 2},
    "network": {"kind": "resnet3", "width": 12, "outputs": 2},
    "flow": {"kind": "sgd", "steps": 60, "step": 0.1, "batch": 10, "momentum": 0.9},
}


def _small(**fields: Any) -> dict[str, Any]:
    return _SMALL | {"experiment": {**_SMALL["experiment"], **fields}}


@dataclass
class Work:
    """What can be derived again.

    samples: inputs as the learner sees them, and values (n, k).
    target: the target as drawn.
    parts: F and G(F) at the test inputs; None for a target without parts.
    theta0: weights of the net at its start.
    problem: what the net descends on; None for a kernel machine.
    """

    samples: Samples
    target: Function
    parts: tuple[Floats, Floats] | None
    theta0: Floats
    problem: Problem | None


@dataclass
class RivalState(State):
    """Where the learner stands.

    finished: whether all is recorded.
    net: the flow of a net; None for a kernel machine.
    """

    finished: bool = False
    net: FlowState | None = None


class Fits(NamedTuple):
    """f at the inputs of training, validation and test, (n, k) each."""

    train: Floats
    validation: Floats
    test: Floats


class Rivals(Experiment):
    """The error of one learner at its end."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        _SMALL,
        _small(learner="tangent"),
        _small(learner="last", coordinates="target"),
        _small(learner="kernel") | {"kernel": {"kind": "laplace", "c": 1.0}},
    )

    learner: Literal["descent", "tangent", "last", "kernel"] = Field("descent", description="what learns")
    label: str = Field("", description="what a sweep calls this learner with its settings; of no other use")
    samples: int = Field(ge=1, description="number n of training samples")
    validation_samples: int = Field(1000, ge=1, description="samples that choose the ridge")
    test_samples: int = Field(2000, ge=2, description="samples on which the error is measured")
    ridges: Annotated[tuple[Annotated[float, Field(ge=0)], ...], AsTuple, EachOnce] = Field(
        (1e-4, 1e-3, 1e-2, 1e-1, 1.0), min_length=1, description="ridges λ, in units of the mean of K's diagonal"
    )
    coordinates: Literal["all", "target"] = Field("all", description="target: only those that the target depends on")
    dtype: Literal["float64", "float32"] = Field("float64", description="precision of the descent")
    data: Law = Field(description="law of the inputs")
    target: Target = Field(description="the function to be learned")
    network: Trainable = Field(description="the network that is trained")
    flow: Flow = Field(description="how it is trained")
    kernel: Kernel | None = Field(None, description="of the learner kernel")

    @model_validator(mode="after")
    def _learner_is_there(self) -> Self:
        if self.learner == "kernel" and self.kernel is None:
            raise ValueError("learner = 'kernel': give a [kernel] table")
        if self.learner == "last" and not self.network.has_features:
            raise ValueError(f"network.kind = {self.network.kind!r}: learner = 'last' needs its features")
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        self.target.check_function()
        check_outputs(self.network, self.target)
        self.flow.check_network(self.network, self.samples, self.dtype, self.data)
        _heavy_tail.check_start(self.data, self.network)
        if not self.data.finite:  # whose files may not be here
            self.target.check_in_spec(self.data.dimension())
        if self.coordinates == "target" and not self.target.knows_coordinates:
            raise ValueError(f"coordinates = 'target': target.kind = {self.target.kind!r} has none of its own")
        return self

    def outputs(self) -> dict[str, Output]:
        return {
            "test_error": Output("E‖f − y‖² on the test data; NaN where the net diverged"),
            "test_error_se": Output("its standard error over the test inputs"),
            "validation_error": Output("the same on the validation data"),
            "train_error": Output("the same on the training data"),
            "composed_power": Output(
                "α² E‖G(F)‖², the error of having learned F alone; NaN where the target has no parts"
            ),
            "learned_simple": Output("coefficient of F in f; NaN where the target has no parts"),
            "learned_composed": Output("coefficient of αG(F) in f; NaN where the target has no parts"),
            "ridge_chosen": Output("ridge of the least validation error, in units of K's mean diagonal; NaN for a net"),
            "ending": Output("how the flow ended", dtype="int8", codes=ENDINGS),
            "diverged": Output("whether the flow was stopped before its end", dtype="int8", codes=NO_YES),
        }

    def prepare(self, streams: Streams) -> Work:
        counts = {"data": self.samples, "validation": self.validation_samples, "test": self.test_samples}
        inputs = draw(self.data, counts, streams)
        target = self.target.draw_in_spec(self.data.dimension(), streams["target"])
        seen: Any = slice(None)
        if self.coordinates == "target":
            assert isinstance(target, OfCoordinates)  # validated
            seen = target.coordinates

        def labelled(X: Floats) -> tuple[Floats, Floats]:
            return np.ascontiguousarray(X[:, seen]), np.reshape(target(X), (len(X), -1))

        def fresh(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
            return labelled(self.data.sample(n, rng))

        train, validation, test = (labelled(rows) for rows in inputs.values())
        samples, X = Samples(*train, *test, *validation), train[0]
        theta0, problem = self.network.initialise(X.shape[1], streams["init"]), None
        if self.learner == "descent":
            problem = Problem.of(
                Bound(self.network, X.shape[1], self.dtype), *train, self.flow.output_scale(),
                width=self.network.particle_count(), fresh=None if self.data.finite else fresh,
            )  # fmt: skip
        parts = target.parts(inputs["test"]) if isinstance(target, Hierarchy) else None
        return Work(samples, target, parts, theta0, problem)

    def start(self, work: Work, streams: Streams) -> RivalState:
        net = None if work.problem is None else self.flow.start(work.problem, work.theta0, streams)
        return RivalState(net=net)

    def restore(self, arrays: Mapping[str, Any]) -> RivalState:
        return RivalState.of(arrays, net=self.flow.state_class)

    def advance(self, work: Work, state: RivalState) -> Columns:
        net, until = state.net, self.flow.last()
        if work.problem is None or net is None:
            state.finished = True
            return self.to_columns(_errors(work, *self._machine(work), GOING))
        if net.ending == GOING:
            self.flow.advance(work.problem, net, until, ADVANCE_SECONDS)
        if net.ending == GOING and self.flow.now(net) < until:
            return {}
        state.finished = True
        theta, alpha, ending = np.asarray(net.theta, np.float64), self.flow.output_scale(), net.ending
        samples = work.samples
        bound = Bound(self.network, samples.X.shape[1])

        def trained(X: Floats) -> Floats:
            with diverged_weights():
                f: Floats = alpha * bound.value(theta, X)
            return f if ending == GOING else np.full_like(f, np.nan)

        fits = Fits(*(trained(X) for X in (samples.X, samples.X_validation, samples.X_test)))
        return self.to_columns(_errors(work, fits, float("nan"), ending))

    def _machine(self, work: Work) -> tuple[Fits, float]:
        """The kernel machine at the ridge that the validation data choose, and that ridge."""
        gram, start = self._gram(work)
        X, y, X_validation = work.samples.X, work.samples.y, work.samples.X_validation
        K, K_validation = gram(X, None), gram(X_validation, X)
        y_validation = work.samples.y_validation - start(X_validation)
        unit = float(np.trace(K)) / len(K)
        chosen = choose_ridge(K, y - start(X), K_validation, y_validation, self.ridges, unit)
        # In blocks: a matrix-valued kernel against all test inputs at once would be the largest array of all.
        blocks = np.split(work.samples.X_test, range(TEST_ROWS, len(work.samples.X_test), TEST_ROWS))
        test = [(gram(some, X) @ chosen.alpha).reshape(len(some), -1) + start(some) for some in blocks]
        train, validation = ((G @ chosen.alpha).reshape(-1, y.shape[1]) for G in (K, K_validation))
        return Fits(train + start(X), validation + start(X_validation), np.concatenate(test)), chosen.ridge

    def _gram(self, work: Work) -> tuple[Gram, Callable[[Floats], Floats]]:
        """The Gram matrix of the learner, and what it predicts at the start, without any sample."""
        network, theta0, outputs = self.network, work.theta0, work.samples.y.shape[1]

        def nothing(X: Floats) -> Floats:
            return np.zeros((len(X), outputs))

        if self.learner == "kernel":
            assert self.kernel is not None  # validated
            kernel = self.kernel
            return lambda X, Y: kernel.gram(X, Y, threads=1), nothing
        if self.learner == "last":

            def conjugate(X: Floats, Y: Floats | None) -> Floats:
                H = network.features(theta0, X)
                return np.asarray(H @ (H if Y is None else network.features(theta0, Y)).T)

            return conjugate, nothing
        several = outputs > 1 and network.has_tangent_blocks
        tangent = network.tangent_blocks if several else network.tangent_gram
        return (
            lambda X, Y: tangent(theta0, X, Y),
            lambda X: np.reshape(network.forward(theta0, X), (len(X), -1)),
        )

    def finished(self, state: RivalState) -> bool:
        return bool(state.finished)

    def progress(self, state: RivalState) -> tuple[float, float]:
        """Of a flow; a kernel machine is one step."""
        if state.net is None:
            return float(state.finished), 1.0
        return float(self.flow.now(state.net)), self.flow.last()

    def cost(self) -> tuple[float, float]:
        """Of a descent 6 flops per sample, weight and step; of a machine its factorisations and 4 products per pair."""
        dim, n, k = self.data.dimension(), self.samples, self.network.output_count()
        others = self.validation_samples + self.test_samples
        if self.learner == "descent":
            steps = self.flow.last() if self.flow.clock == "step" else SOLVER_STEPS
            return 6.0 * steps * (self.flow.batch_size() or n) * self.network.size(dim), 8.0 * 9
        n, others = (n * k, others * k) if self.learner == "tangent" else (n, others)
        width = self.network.particle_count() or GUESSED_WIDTH
        return len(self.ridges) * n**3 / 3 + 4.0 * n * (n + others) * width, 8.0 * 9

    def memory(self) -> float:
        """Of a descent θ and where it began; of a machine the Gram matrix."""
        dim = self.data.dimension()
        if self.learner == "descent":
            return float(16 * self.network.size(dim) + 8 * dim * self.samples)
        return 8.0 * self.samples**2


def _errors(work: Work, fits: Fits, ridge: float, ending: int) -> dict[str, float]:
    """What is recorded: errors, and the parts of a hierarchical target that were learned."""
    samples, squares = work.samples, np.sum((fits.test - work.samples.y_test) ** 2, axis=1)
    simple = composed = power = float("nan")
    if isinstance(work.target, Hierarchy) and work.parts is not None:
        power = work.target.alpha**2 * mean_square(work.parts[1])
        if ending == GOING:
            learned = work.target.learned(fits.test, work.parts)
            simple, composed = learned.simple, learned.composed
    return {
        "test_error": float(squares.mean()),
        "test_error_se": float(np.std(squares, ddof=1) / len(squares) ** 0.5),
        "validation_error": mean_square(fits.validation - samples.y_validation),
        "train_error": mean_square(fits.train - samples.y),
        "composed_power": power,
        "learned_simple": simple,
        "learned_composed": composed,
        "ridge_chosen": ridge,
        "ending": ending,
        "diverged": int(ending != GOING),
    }
