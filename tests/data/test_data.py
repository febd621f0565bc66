"""Every law keeps the contract, one that breaks it is told so, and the laws are what they are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

from simlab import data
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.core.parsing import parse
from simlab.data.boolean_cube import BooleanCube
from simlab.data.gaussian import Gaussian
from simlab.data.law import Floats, Law
from simlab.data.uniform_sphere import UniformSphere
from simlab.sphere.ball_law import BallLaw
from tests.support.stored import write_cifar, write_images


@pytest.fixture(autouse=True)
def _stored_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that examples name, in a data directory."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "inputs.npy", rng.standard_normal((40, 3)))
    np.savez(tmp_path / "inputs.npz", x=rng.standard_normal((35, 4)), y=np.arange(35) % 3)
    write_images(tmp_path / "mnist")
    write_images(tmp_path / "digits")
    write_cifar(tmp_path / "cifar-10-batches-bin")
    for directory in ("cifar-100-binary", "cifar"):
        write_cifar(tmp_path / directory, hundred=True, rows=40)
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))


@pytest.mark.parametrize(("kind", "fields"), catalogue.all_examples("data"))
def test_every_law_keeps_the_contract(kind: str, fields: dict[str, Any]) -> None:
    data.check(data.get(kind, **fields))


class Line(Law):
    """A law of one coordinate, with which nothing is wrong but what subclasses break."""

    rotation_invariant: ClassVar[bool] = True

    def dimension(self) -> int:
        return 1

    def second_moment(self) -> float | None:
        return 1.0

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal((n, 1))


class Columns(Line):
    """Inputs in columns."""

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal((1, n))


class Rounded(Line):
    """Not float64."""

    def sample(self, n: int, rng: np.random.Generator) -> Any:
        return rng.standard_normal((n, 1)).astype(np.float32)


class Same(Line):
    """Not random."""

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return np.ones((n, 1))


class Forgetful(Line):
    """Not reproducible."""

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return np.random.default_rng().standard_normal((n, 1))


class Backward(Line):
    """The first rows depend on how many there are."""

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return np.ascontiguousarray(rng.standard_normal((n, 1))[::-1])


class Small(Line):
    """Another second moment."""

    def second_moment(self) -> float:
        return 0.8


class OnASphere(Line):
    """Claims to lie on a sphere."""

    def sphere_radius(self) -> float:
        return 1.0


class Aside(Line):
    """Claims to be rotation invariant."""

    def second_moment(self) -> float | None:
        return None

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return rng.exponential(size=(n, 1))


class Cube(Line):
    """Claims to be a cube."""

    is_cube: ClassVar[bool] = True

    def cube_dimension(self) -> int:
        return 1

    def coordinate_size(self) -> float:
        return 1.0


class NotABall(Line):
    """Claims the law of another radius."""

    has_radius_law: ClassVar[bool] = True

    def radius_law(self) -> BallLaw:
        return BallLaw.of_mass(3, 0.2)


def test_one_of_another_package_may_keep_it() -> None:
    data.check(Line())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Columns, r"has shape \(1, 30\): must be \(30, 1\)"),
        (Rounded, "gives float32: must be float64"),
        (Same, "two generators gave the same inputs"),
        (Forgetful, "the same generator gave other inputs the second time"),
        (Backward, r"together\(\) = False: but the first 10 of 30 rows are not those of 10"),
        (Small, r"second_moment\(\) = 0.8: a sample has"),
        (OnASphere, r"sphere_radius\(\) = 1.0: but inputs have other norms"),
        (Aside, "rotation_invariant, but directions of a sample are not uniform"),
        (Cube, r"coordinate_size\(\) = 1.0: but some of the first 1 coordinates"),
        (NotABall, r"radius_law\(\): a share"),
    ],
)
def test_what_breaks_the_contract_is_told(wrong: type[Law], says: str) -> None:
    with pytest.raises(AssertionError, match=says) as told:
        data.check(wrong())
    assert "\n" not in str(told.value)


def test_sphere_is_uniform() -> None:
    """A coordinate of a uniform point on S^{d-1} has (1+x)/2 ~ Beta((d-1)/2, (d-1)/2), along any direction."""
    X = UniformSphere(dim=6).sample(20_000, np.random.default_rng(3))
    direction = np.ones(6) / np.sqrt(6)
    for values in (X[:, 0], X[:, 5], X @ direction):
        assert stats.kstest((1 + values) / 2, stats.beta(2.5, 2.5).cdf).pvalue > 1e-4


def test_gaussian_is_normal() -> None:
    X = Gaussian(dim=3, scale=2.0).sample(10_000, np.random.default_rng(3))
    for values in (X[:, 1], X @ np.array([0.6, 0.0, 0.8])):
        assert stats.kstest(values, stats.norm(scale=2.0).cdf).pvalue > 1e-4


def test_cube_is_uniform() -> None:
    """All 2⁴ corners equally often: χ² with 15 degrees of freedom."""
    X = BooleanCube(dim=4, scale=0.5).sample(8000, np.random.default_rng(4))
    assert set(np.unique(X)) == {-0.5, 0.5}
    corners = np.bincount((X > 0) @ np.array([1, 2, 4, 8]), minlength=16)
    assert stats.chisquare(corners).pvalue > 1e-4


def test_cube_beside_another_law() -> None:
    """Each part has its own law, and no covariance is more than 5 standard errors from 0."""
    table = {"dim": 2, "scale": "unit", "rest": {"kind": "gaussian", "dim": 2, "scale": 3.0}}
    law, n = parse(BooleanCube, table), 8000
    X = law.sample(n, np.random.default_rng(5))
    assert set(np.unique(X[:, :2])) == {-0.5, 0.5}  # 1/√4: all coordinates count
    assert stats.chisquare(np.bincount((X[:, :2] > 0) @ np.array([1, 2]))).pvalue > 1e-4
    assert stats.kstest(X[:, 3], stats.norm(scale=3.0).cdf).pvalue > 1e-4
    unit = X / np.array([0.5, 0.5, 3.0, 3.0])
    assert np.abs(np.triu(unit.T @ unit / n, 1)).max() < 5 / np.sqrt(n)


def test_a_cube_beside_a_cube_shares_the_unit() -> None:
    table = {"dim": 3, "scale": "unit", "rest": {"kind": "boolean_cube", "dim": 6, "scale": "unit"}}
    X = parse(BooleanCube, table).sample(9, np.random.default_rng(5))
    assert np.allclose(np.abs(X), 1 / 3, rtol=1e-15)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"scale": "small"}, r"scale = 'small': must be a number greater than 0, or \"unit\" for 1/√d"),
        ({"scale": -1.0}, r"scale = -1.0: must be a number greater than 0"),
        ({"scale": True}, r"scale = True: must be a number greater than 0"),
        ({"rest": {"kind": "arrays", "path": "x.npy"}}, r"rest.kind = 'arrays': arrays has a fixed number of rows"),
        ({"rest": {"kind": "ball_fourier", "dim": 3}}, r"rest.kind = 'ball_fourier': ball_fourier has no mean"),
    ],
)
def test_cube_refuses_in_one_line(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        parse(BooleanCube, {"dim": 4} | fields)
