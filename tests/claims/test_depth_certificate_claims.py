"""Judges of the claims about the certificate say yes and no on made-up results; their specs mean what they say."""

from __future__ import annotations

import json
import math
import tomllib

import numpy as np
import pytest

from simlab import claims
from simlab.claims import certificate_holds, certificate_width
from simlab.claims.ledger import spec_of
from simlab.sphere.ball_law import BallLaw
from tests.claims.test_machine_claims_curves import Made

DIMS = np.array([4.0, 8.0, 16.0, 32.0, 64.0])
CLAIMS = (certificate_width, certificate_holds)


def widths(shells: np.ndarray, lipschitz: np.ndarray, beyond: float = 0.9) -> Made:
    eps = np.array([0.3, 0.005])
    return Made(
        {"data.dim": DIMS, "eps": eps, "ratio": np.array([1.0, 2.0])},
        {
            "log10_width": (("data.dim", "eps"), np.stack([shells, 2 * shells], axis=1)),
            "log10_width_reference": (("data.dim", "eps"), np.stack([np.zeros(DIMS.size), lipschitz], axis=1)),
            "beyond": (("data.dim", "ratio"), np.full((DIMS.size, 2), beyond)),
        },
    )


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (widths(0.5 * DIMS - 1, 0.9 + 0 * DIMS), True),
        (widths(0.5 * DIMS - 1, np.linspace(0.5, 1.2, 5)), True),
        (widths(0.2 * DIMS, 0.9 + 0 * DIMS), False),  # exponential, but slower than the frequency says
        (widths(18 * np.log10(DIMS), 0.9 + 0 * DIMS), False),  # a power of d, as steep on the whole
        (widths(0.9 + 0 * DIMS, 0.9 + 0 * DIMS), False),
        (widths(0.5 * DIMS - 1, 0.1 * DIMS), False),  # the Lipschitz one grows too
        (widths(0.5 * DIMS - 1, np.full(5, np.inf)), False),
        (widths(0.5 * DIMS - 1, 0 * DIMS), False),  # one neuron will do: nothing is shown
        (widths(0.5 * DIMS - 1, 0.9 + 0 * DIMS, beyond=0.3), False),
    ],
)
def test_certificate_width(made: Made, holds: bool) -> None:
    judgement = claims.get("certificate_width").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_the_shells_oscillate_at_the_frequency_stated() -> None:
    """Half a period π/κ in s: κ (s₂ − s₁)/π shells, to the nearest whole number."""
    for dim, count in certificate_width.COUNTS.items():
        span = BallLaw.of_mass(dim, certificate_width.MASS).wave * (certificate_width.OUTER - certificate_width.INNER)
        assert abs(count - certificate_width.FREQUENCY * span / math.pi) <= 0.5
    sweep = tomllib.loads(claims.get("certificate_width").quick)["sweep"]
    assert [certificate_width.COUNTS[dim] for dim in sweep["data.dim"]] == [t["count"] for t in sweep["target"]]


def nets(error: float, spread: float = 0.001, first: float = 0.3, bound: float = 0.05) -> Made:
    """d = 2, 3 and the widths 4, 8; all end at `error` but the first, which is twice that."""
    errors = np.full((2, 1, 2, 3), error)
    errors[..., 0] = first
    errors[:, :, 0, 1:] *= 2
    inner = ("data.dim", "target", "network.width")
    return Made(
        {"data.dim": np.array([2, 3]), "target": np.array([json.dumps({"kind": "ball", "radius": 1.0})])},
        {
            "certificate": (inner, np.full((2, 1, 2), bound)),
            "test_error": ((*inner, "record"), errors),
            "test_error_se": ((*inner, "record"), np.full(errors.shape, spread)),
        },
    )


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (nets(0.06), True),
        (nets(0.049), True),  # below, by less than its error
        (nets(0.04), False),
        (nets(0.06, first=0.04), False),  # at any record
        (nets(0.2), False),  # nothing learned
        (nets(0.06, bound=0.0), False),  # nothing certified
        (nets(math.nan), False),
    ],
)
def test_certificate_holds(made: Made, holds: bool) -> None:
    judgement = claims.get("certificate_holds").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_the_order_of_the_axes_does_not_matter() -> None:
    made = nets(0.06)
    for name in ("certificate", "test_error", "test_error_se"):
        made[name], dims = np.swapaxes(made[name], 1, 2), made.dims[name]
        made.dims[name] = (dims[0], dims[2], dims[1], *dims[3:])
    found, usual = claims.get("certificate_holds").judge(made), claims.get("certificate_holds").judge(nets(0.06))  # type: ignore[arg-type]
    assert found == usual


def test_the_best_constant_leaves_the_variance() -> None:
    assert certificate_holds.variance(5, {"kind": "ball", "radius": 1.0}) == pytest.approx(0.24, abs=1e-4)


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("size", ["quick", "full"])
def test_specs_and_controls_are_valid(claim: object, size: str) -> None:
    points = [spec_of(claim, size, control).sweep.points for control in (False, True)]  # type: ignore[arg-type]
    assert points[0] > points[1] >= 1 or claim is certificate_width
