"""Kernel ridge regression on labelled images: the accuracy of a kernel, λ chosen on validation images. [S0], MATH §5.

The first `train` images of the training file are learned, its last `validation` images choose λ, and the test file is
looked at with that λ alone. Targets are one-hot − 1/classes; the class with the largest output is predicted.

(K + nλI)⁻¹Y is solved for every λ together, by conjugate gradients on a stored Gram matrix
(`simlab.machines.conjugate`), whose state is checkpointed. The Gram matrix and its preconditioner are derived again
when a point goes on.

Stream ``sketch`` draws the columns of the preconditioner: it changes the solution within its tolerance only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numba
import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from simlab.core.errors import BadInput
from simlab.core.parsing import AsTuple
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.data.images import Images
from simlab.experiments.experiment import Columns, Experiment, working_time
from simlab.kernels import Kernel, gram
from simlab.machines import conjugate
from simlab.machines.conjugate import System
from simlab.machines.nystrom import Nystrom
from simlab.machines.operator import Stored
from simlab.record.schema import Output

Floats = NDArray[np.float64]
MOST_ITERATIONS = 1000
"""Of conjugate gradients."""
PREDICTED_ROWS = 1000
"""Images predicted at a time."""


@dataclass
class Work:
    """What can be derived again. The system and its preconditioner are made when they are first asked for.

    experiment: the experiment.
    X: training images, (n, pixels).
    labels: their classes.
    X_new: validation images, then test images.
    new_labels: their classes.
    classes: number of classes.
    rng: draws the columns of the preconditioner.
    """

    experiment: RealData
    X: Floats
    labels: NDArray[np.int64]
    X_new: Floats
    new_labels: NDArray[np.int64]
    classes: int
    rng: np.random.Generator

    @cached_property
    def system(self) -> System:
        n, ridges = self.experiment.train, np.array(self.experiment.ridges)
        threads = numba.get_num_threads()
        K = gram([self.experiment.kernel], self.X, dtype=self.experiment.precision, threads=threads)[0]
        Y = np.eye(self.classes)[self.labels] - 1.0 / self.classes
        columns = np.repeat(n * ridges, self.classes)
        return System(Stored(K), np.tile(Y, ridges.size), columns, self.experiment.tolerance, MOST_ITERATIONS)

    @cached_property
    def preconditioner(self) -> Nystrom:
        return Nystrom.of(self.system.operator, min(self.experiment.rank, self.experiment.train), self.rng)


@dataclass
class Solving(State):
    """Where the point stands. A checkpoint keeps the arrays of `solution` under their own names.

    solution: conjugate gradients, all λ together.
    votes: classes predicted of validation and test images, (ridges, images).
    predicted: number of images predicted so far.
    """

    solution: conjugate.State
    votes: NDArray[np.int64]
    predicted: int

    def arrays(self) -> dict[str, Any]:
        return {**self.solution.arrays(), "votes": self.votes, "predicted": self.predicted}


class RealData(Experiment):
    """Accuracies of a kernel on images, by λ and at the λ chosen."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {"kind": "real_data", "train": 40, "validation": 10, "test": 15, "ridges": [1e-2, 1e-4]},
            "data": {"kind": "images"},
            "kernel": {"kind": "ntk", "depth": 3},
        },
    )

    train: int = Field(ge=2, description="number n of training images, the first of the file")
    validation: int = Field(ge=1, description="number of validation images, the last of the training file")
    test: int = Field(ge=1, description="number of test images, the first of the test file")
    ridges: Annotated[tuple[float, ...], AsTuple] = Field(
        (1e-2, 1e-3, 1e-4, 1e-5, 1e-6), min_length=1, description="candidates λ; K + nλI is solved"
    )
    tolerance: float = Field(1e-5, gt=0, lt=1, description="relative residual of every column")
    precision: Literal["float32", "float64"] = Field("float32", description="of the stored Gram matrix")
    rank: int = Field(2000, ge=1, description="columns in the preconditioner")
    kernel: Kernel = Field(description="the kernel")
    data: Images = Field(description="the images")

    @field_validator("ridges")
    @classmethod
    def _positive(cls, ridges: tuple[float, ...]) -> tuple[float, ...]:
        for ridge in ridges:
            if not ridge > 0:
                raise ValueError(f"each must be positive, not {ridge}")
        if len(set(ridges)) < len(ridges):
            raise ValueError("must differ from each other")
        return ridges

    def outputs(self) -> dict[str, Output]:
        coords = {"lambda": np.array(self.ridges)}

        def by_ridge(text: str, dtype: str = "float64") -> Output:
            return Output(text, ("lambda",), coords=coords, dtype=dtype)

        return {
            "ridge": Output("λ with the best validation accuracy; of several, the largest"),
            "validation_accuracy": Output("share of validation images classified rightly at that λ"),
            "test_accuracy": Output("share of test images classified rightly at that λ"),
            "test_spread": Output("its standard error over test images"),
            "validation_accuracy_by_ridge": by_ridge("share of validation images classified rightly"),
            "test_accuracy_by_ridge": by_ridge("share of test images classified rightly"),
            "residual": by_ridge("largest relative residual ‖y − (K + nλ)α‖/‖y‖ of the outputs, in float64"),
            "iterations": by_ridge("iterations of conjugate gradients", "int64"),
        }

    def prepare(self, streams: Streams) -> Work:
        train, labels, test, test_labels = self.data.stored()
        have, have_test = len(labels), len(test_labels)
        if self.train + self.validation > have:
            raise BadInput(
                f"experiment.train = {self.train}, experiment.validation = {self.validation}: "
                f"together more than the {have} training images"
            )
        if self.test > have_test:
            raise BadInput(f"experiment.test = {self.test}: more than the {have_test} test images")
        last = slice(have - self.validation, have)
        return Work(
            self,
            self.data.pixels(train[: self.train]),
            labels[: self.train],
            self.data.pixels(np.concatenate([train[last], test[: self.test]])),
            np.concatenate([labels[last], test_labels[: self.test]]),
            int(max(labels.max(), test_labels.max())) + 1,
            streams["sketch"],
        )

    def start(self, work: Work, streams: Streams) -> Solving:
        votes = np.zeros((len(self.ridges), work.new_labels.size), dtype=np.int64)
        return Solving(conjugate.begin(work.system, work.preconditioner), votes, 0)

    def restore(self, arrays: Mapping[str, Any]) -> Solving:
        own, renamed = ("votes", "predicted"), {"told": "recursive_residual"}  # its name in older checkpoints
        solution = conjugate.State(**{renamed.get(k, k): array for k, array in arrays.items() if k not in own})
        return Solving(solution, *(arrays[name] for name in own))

    def advance(self, work: Work, state: Solving) -> Columns:
        for _ in working_time():
            if not state.solution.finished:
                conjugate.advance(state.solution, work.system, work.preconditioner)
            else:
                self._predict(work, state)
            if self.finished(state):
                return self.to_columns(self._judged(work, state))
        return {}

    def _predict(self, work: Work, state: Solving) -> None:
        """The next images' classes, at every λ."""
        begin = state.predicted
        some = slice(begin, min(begin + PREDICTED_ROWS, work.new_labels.size))
        K = gram([self.kernel], work.X_new[some], work.X, threads=numba.get_num_threads())[0]
        scores = (K @ state.solution.alpha).reshape(-1, len(self.ridges), work.classes)
        state.votes[:, some] = scores.argmax(axis=2).T
        state.predicted = some.stop

    def _judged(self, work: Work, state: Solving) -> dict[str, Any]:
        right = state.votes == work.new_labels
        validation = right[:, : self.validation].mean(axis=1)
        test = right[:, self.validation :].mean(axis=1)
        ridges = np.array(self.ridges)
        best = int(max(range(ridges.size), key=lambda i: (validation[i], ridges[i])))
        shape = (ridges.size, work.classes)
        return {
            "ridge": ridges[best],
            "validation_accuracy": validation[best],
            "test_accuracy": test[best],
            "test_spread": np.sqrt(test[best] * (1.0 - test[best]) / self.test),
            "validation_accuracy_by_ridge": validation,
            "test_accuracy_by_ridge": test,
            "residual": state.solution.residual.reshape(shape).max(axis=1),
            "iterations": state.solution.iterations.reshape(shape).max(axis=1),
        }

    def finished(self, state: Solving) -> bool:
        return state.predicted == self.validation + self.test

    def progress(self, state: Solving) -> tuple[float, float]:
        """Of a thousand: digits of the residuals gained, three quarters of the time, then images predicted."""
        digits = np.log(np.clip(state.solution.recursive_residual, self.tolerance, 1.0)) / np.log(self.tolerance)
        predicted = state.predicted / (self.validation + self.test)
        return int(750 * digits.mean() + 250 * predicted), 1000

    def cost(self) -> tuple[float, float]:
        """The Gram matrix of 784 pixels by halves, some 40 products with every column, 150 bytes recorded."""
        n, new = self.train, self.validation + self.test
        columns = 10 * len(self.ridges)
        return n * n * (784.0 + 80.0 * columns) + 2.0 * n * new * (784.0 + columns), 150.0

    def memory(self) -> float:
        """The Gram matrix."""
        return (4.0 if self.precision == "float32" else 8.0) * self.train**2
