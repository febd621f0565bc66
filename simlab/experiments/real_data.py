"""Kernel ridge regression on labelled images: the accuracy of a kernel, λ chosen on validation images. [S0], MATH §5.

The first `train` images of the training file are learned, its last `validation` ones choose λ, and the test file is
looked at with that λ alone. Targets are one-hot − 1/classes, the solution is (K + nλI)⁻¹Y at every λ together, by
conjugate gradients on a stored Gram matrix (`simlab.machines.conjugate`) whose state is checkpointed; the Gram matrix
and its preconditioner are derived again when a point goes on. The class with the largest output is predicted.

Stream ``sketch`` draws the columns of the preconditioner: it changes the solution within its tolerance only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numba
import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from simlab.core.errors import BadInput
from simlab.core.params import AsTuple, Room
from simlab.core.params import Params as Base
from simlab.core.rng import Streams
from simlab.data import images
from simlab.kernels import Kernel, gram
from simlab.machines import conjugate
from simlab.machines.conjugate import System
from simlab.machines.nystrom import Nystrom
from simlab.machines.operator import Stored
from simlab.record.schema import Output
from simlab.record.segments import State

Floats = NDArray[np.float64]
ADVANCE_SECONDS = 0.5
LIMIT = 1000
ROWS = 1000
"""Images predicted at a time."""


class Params(Base):
    train: int = Field(ge=2, description="number n of training images, the first of the file")
    validation: int = Field(ge=1, description="number of validation images, the last of the training file")
    test: int = Field(ge=1, description="number of test images, the first of the test file")
    ridges: Annotated[tuple[float, ...], AsTuple] = Field(
        (1e-2, 1e-3, 1e-4, 1e-5, 1e-6), min_length=1, description="candidates λ; K + nλI is solved"
    )
    tolerance: float = Field(1e-5, gt=0, lt=1, description="relative residual of every column")
    precision: Literal["float32", "float64"] = Field("float32", description="of the stored Gram matrix")
    rank: int = Field(2000, ge=1, description="columns in the preconditioner")
    kernel: Annotated[Kernel, Room("kernels")]
    data: Annotated[images.Params, Room("data")]

    @field_validator("ridges")
    @classmethod
    def _positive(cls, ridges: tuple[float, ...]) -> tuple[float, ...]:
        for ridge in ridges:
            if not ridge > 0:
                raise ValueError(f"each must be positive, not {ridge}")
        if len(set(ridges)) < len(ridges):
            raise ValueError("must differ from each other")
        return ridges


EXAMPLES = (
    {
        "experiment": {"kind": "real_data", "train": 40, "validation": 10, "test": 15, "ridges": [1e-2, 1e-4]},
        "data": {"kind": "images"},
        "kernel": {"kind": "ntk", "depth": 3},
    },
)


@dataclass
class Work:
    """The images, and when asked for the system to solve with its preconditioner."""

    params: Params
    X: Floats
    labels: NDArray[np.int64]
    X_new: Floats
    new_labels: NDArray[np.int64]
    classes: int
    rng: np.random.Generator

    @cached_property
    def system(self) -> System:
        n, ridges = self.params.train, np.array(self.params.ridges)
        threads = numba.get_num_threads()
        K = gram([self.params.kernel], self.X, dtype=self.params.precision, threads=threads)[0]
        Y = np.eye(self.classes)[self.labels] - 1.0 / self.classes
        columns = np.repeat(n * ridges, self.classes)
        return System(Stored(K), np.tile(Y, ridges.size), columns, self.params.tolerance, LIMIT)

    @cached_property
    def preconditioner(self) -> Nystrom:
        return Nystrom.of(self.system.operator, min(self.params.rank, self.params.train), self.rng)


def outputs(params: Params) -> dict[str, Output]:
    coords = {"lambda": np.array(params.ridges)}

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


def prepare(params: Params, streams: Streams) -> Work:
    train, labels, test, test_labels = params.data.stored()
    have, have_test = len(labels), len(test_labels)
    if params.train + params.validation > have:
        raise BadInput(
            f"experiment.train = {params.train}, experiment.validation = {params.validation}: "
            f"together more than the {have} training images"
        )
    if params.test > have_test:
        raise BadInput(f"experiment.test = {params.test}: more than the {have_test} test images")
    last = slice(have - params.validation, have)
    return Work(
        params,
        params.data.pixels(train[: params.train]),
        labels[: params.train],
        params.data.pixels(np.concatenate([train[last], test[: params.test]])),
        np.concatenate([labels[last], test_labels[: params.test]]),
        int(max(labels.max(), test_labels.max())) + 1,
        streams["sketch"],
    )


def start(params: Params, work: Work, streams: Streams) -> State:
    state: State = dict(conjugate.begin(work.system, work.preconditioner).arrays())
    return state | {"votes": np.zeros((len(params.ridges), work.new_labels.size), dtype=np.int64), "predicted": 0}


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    deadline = time.monotonic() + ADVANCE_SECONDS
    while not finished(params, state):
        solving = _solving(state)
        if not solving.finished:
            conjugate.advance(solving, work.system, work.preconditioner)
            state |= solving.arrays()
        else:
            _predict(params, work, state)
        if time.monotonic() >= deadline:
            break
    return _judged(params, work, state) if finished(params, state) else {}


def _solving(state: State) -> conjugate.State:
    return conjugate.State(**{name: state[name] for name in state if name not in ("votes", "predicted")})


def _predict(params: Params, work: Work, state: State) -> None:
    """The next images' classes, at every λ."""
    begin = state["predicted"]
    some = slice(begin, min(begin + ROWS, work.new_labels.size))
    K = gram([params.kernel], work.X_new[some], work.X, threads=numba.get_num_threads())[0]
    scores = (K @ state["alpha"]).reshape(-1, len(params.ridges), work.classes)
    state["votes"][:, some] = scores.argmax(axis=2).T
    state["predicted"] = some.stop


def _judged(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    right = state["votes"] == work.new_labels
    validation = right[:, : params.validation].mean(axis=1)
    test = right[:, params.validation :].mean(axis=1)
    ridges = np.array(params.ridges)
    best = int(max(range(ridges.size), key=lambda i: (validation[i], ridges[i])))
    shape = (ridges.size, work.classes)
    found: dict[str, Any] = {
        "ridge": ridges[best],
        "validation_accuracy": validation[best],
        "test_accuracy": test[best],
        "test_spread": np.sqrt(test[best] * (1.0 - test[best]) / params.test),
        "validation_accuracy_by_ridge": validation,
        "test_accuracy_by_ridge": test,
        "residual": state["residual"].reshape(shape).max(axis=1),
        "iterations": state["iterations"].reshape(shape).max(axis=1),
    }
    return {name: np.asarray(value) for name, value in found.items()}


def finished(params: Params, state: State) -> bool:
    return bool(state["predicted"] == params.validation + params.test)


def progress(params: Params, state: State) -> tuple[int, int]:
    """Of a thousand: digits of the residuals gained, three quarters of the time, then images predicted."""
    digits = np.log(np.clip(state["told"], params.tolerance, 1.0)) / np.log(params.tolerance)
    predicted = state["predicted"] / (params.validation + params.test)
    return int(750 * digits.mean() + 250 * predicted), 1000


def cost(params: Params) -> tuple[float, float]:
    """The Gram matrix of 784 pixels by halves, some 40 products with every column, 150 bytes recorded."""
    n, new = params.train, params.validation + params.test
    columns = 10 * len(params.ridges)
    return n * n * (784.0 + 80.0 * columns) + 2.0 * n * new * (784.0 + columns), 150.0


def memory(params: Params) -> float:
    """The Gram matrix."""
    return (4.0 if params.precision == "float32" else 8.0) * params.train**2
