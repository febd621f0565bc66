"""The contract of an input law: its dimension, samples of it, and what is known of it in closed form.

>>> from simlab import data
>>> law = data.UniformSphere(dim=10)
>>> X = law.sample(100, np.random.default_rng(0))          # (100, 10)

A stored set may carry labels, one class per row:

>>> found = data.Images().sample_labelled(100, np.random.default_rng(0), part="test")
>>> found.X, found.labels                                   # (100, 784), (100,)
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.kinds import Kind
from simlab.data._rows import permuted

if TYPE_CHECKING:
    from simlab.sphere.ball_law import BallLaw

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Part = Literal["train", "test"]
PARTS: tuple[Part, ...] = ("train", "test")


class Labelled(NamedTuple):
    """Rows with their labels.

    X: inputs (n, d).
    labels: class of each, (n,): 0, 1, …, one less than `Law.class_count`.
    """

    X: Floats
    labels: Ints


class Law(Kind):
    """Where inputs come from.

    finite: a stored set of a fixed number of rows; `splits.draw` keeps training and test rows of it apart.
    reads_files: `require` looks for files.
    heavy_tail: E‖x‖ = ∞, so that a function that grows linearly has infinite risk.
    rotation_invariant: Qx has the law of x for every orthogonal Q: x/‖x‖ is uniform and independent of ‖x‖.
    is_cube: the first `cube_dimension()` coordinates are uniform on {±s}, s = `coordinate_size()`.
    has_radius_law: `radius_law` is there: x ~ φ², φ the Fourier transform of a ball's indicator. MATH §8.
    has_labels: rows of the kind may come with labels; `carries_labels` says whether those of this law do.
    """

    lack: ClassVar[str] = "no law of inputs"
    shown: ClassVar[tuple[str, ...]] = ("dimension", "sample", "second_moment", "sphere_radius")
    finite: ClassVar[bool] = False
    reads_files: ClassVar[bool] = False
    heavy_tail: ClassVar[bool] = False
    rotation_invariant: ClassVar[bool] = False
    is_cube: ClassVar[bool] = False
    has_radius_law: ClassVar[bool] = False
    has_labels: ClassVar[bool] = False

    @abstractmethod
    def dimension(self) -> int:
        """The dimension d of an input."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """X : (n, d). Rows are drawn one after another: the first 100 of 200 are those of 100 (but see `together`)."""

    def together(self) -> bool:
        """Whether all n rows are one design, so that the first few of them are no sample of the law."""
        return False

    def require(self) -> None:
        """Raise BadInput where files that the law reads are not there. Asked before a run writes anything."""

    def sphere_radius(self) -> float | None:
        """Radius r of the sphere about 0 that x is uniform on; None where there is none."""
        return None

    def second_moment(self) -> float | None:
        """μ = E x_1² of a rotation-invariant law; None of any other, and where it is infinite."""
        return None

    def cube_dimension(self) -> int:
        """Number of coordinates that are ±s; only where `is_cube`."""
        raise NotImplementedError

    def coordinate_size(self) -> float:
        """Size s of these coordinates; only where `is_cube`."""
        raise NotImplementedError

    def radius_law(self) -> BallLaw:
        """The law of ‖x‖; only where `has_radius_law`."""
        raise NotImplementedError

    def carries_labels(self) -> bool:
        """Whether every row has a label, so that the methods below are there."""
        return self.has_labels

    def has_test_part(self) -> bool:
        """Whether the set comes with test rows of its own; only where `carries_labels`."""
        return False

    def class_count(self) -> int:
        """Number k of classes: labels of both parts are 0 … k − 1; only where `carries_labels`."""
        raise NotImplementedError

    def row_count(self, part: Part = "train") -> int:
        """Number of rows of a part; only where `carries_labels`."""
        raise NotImplementedError

    def labelled_rows(self, numbers: Ints, part: Part = "train") -> Labelled:
        """The rows of these numbers, counted from 0 in the order of the file; only where `carries_labels`."""
        raise NotImplementedError

    def sample_labelled(self, n: int, rng: np.random.Generator, part: Part = "train") -> Labelled:
        """n rows of a part with their labels, in random order, none twice; only where `carries_labels`.

        Those of "train" are the rows that `sample` draws with the same generator.
        """
        count = self.row_count(checks.choice(part, "part", PARTS))  # type: ignore[arg-type]
        n = checks.sample(n, rng, self.dimension())
        return self.labelled_rows(permuted(count, n, rng, f"{self!r}, part {part!r},"), part)
