"""A φ of one's own: agreement with the closed forms, jumps, identity, and errors a person can act on."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numba
import numpy as np
import pytest

from simlab import activations
from simlab.core.errors import BadInput
from simlab.core.parsing import dump, parse
from tests.support.duals import dual_of

pytestmark = pytest.mark.usefixtures("allow_code")


def ramp(z: float) -> float:
    return max(z, 0.0)


def hard(z: float) -> float:
    """Kinks away from 0."""
    return min(1.0, max(-1.0, z))


def stairs(z: float) -> float:
    return z if z > 0.5 else z - 2.0


def pieced(z: float) -> float:
    if z < 0:
        return math.exp(z)
    if z < 0.05:
        return 2 * z
    return math.sin(z) if z < 1 else z * z


def uncompilable(z: float) -> float:
    return float(open(str(z)).read())


@pytest.mark.parametrize(("q", "p"), [(1.0, 1.0), (1e-6, 1e-6), (1e6, 1e6), (0.3, 200.0), (0.0, 1.0)])
@pytest.mark.parametrize("t", [0.0, 1e-20, 1e-9, 1e-4, 0.3, 1.0, 1.8, 2 - 1e-6, 2.0])
def test_a_ramp_is_relu(q: float, p: float, t: float) -> None:
    own = dual_of(activations.custom(ramp, kinks=(0.0,)), q, p, t, 2 - t)
    *numbers, slope = dual_of(activations.get("relu"), q, p, t, 2 - t)
    assert own[:4] == pytest.approx(numbers, rel=1e-12, abs=1e-12)
    if q > 0:  # else φ' is asked for at its jump
        assert own[4] == pytest.approx(slope, abs=1e-10)


@pytest.mark.parametrize(("q", "p", "u"), [(1.0, 1.0, 0.6), (4.0, 0.7, -0.3), (50.0, 50.0, 0.999), (1.0, 1.0, -1.0)])
def test_kinks_away_from_zero(q: float, p: float, u: float) -> None:
    """min(1, max(−1, z)) has φ' = 1{|z|<1}: Ḟ = P(|z|, |z'| < 1), and E[φ(z')|z] has a closed form too."""
    A, B, tau, _, slope = dual_of(activations.custom(hard, kinks=(1.0, -1.0)), q, p, 1 - u, 1 + u)
    edge = 1 / math.sqrt(q)
    pieces = [-9.0, *(k for k in (-edge, edge) if abs(k) < 9), 9.0]
    x, wx = (np.concatenate(part) for part in zip(*(fine(a, b) for a, b in itertools.pairwise(pieces)), strict=True))
    wx = wx * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    mean, width = math.sqrt(p) * u * x, math.sqrt(p) * math.sqrt(1 - u * u)
    inner, inside = clipped_mean(mean, width)
    z = math.sqrt(q) * x
    assert pytest.approx(np.sum(wx * np.clip(z, -1, 1) ** 2), rel=1e-11) == A
    assert (1 - tau) * math.sqrt(A * B) == pytest.approx(np.sum(wx * np.clip(z, -1, 1) * inner), abs=1e-10)
    assert slope == pytest.approx(np.sum(wx * (np.abs(z) < 1) * inside), abs=1e-8)


def fine(a: float, b: float) -> tuple[Any, Any]:
    nodes, weights = np.polynomial.legendre.leggauss(400)
    return (a + b) / 2 + (b - a) / 2 * nodes, (b - a) / 2 * weights


def clipped_mean(m: Any, w: float) -> tuple[Any, Any]:
    """E clip(m + wy) and P(|m + wy| < 1), y standard normal, in closed form."""
    from scipy.special import ndtr

    if w == 0:
        return np.clip(m, -1, 1), (np.abs(m) < 1).astype(float)
    low, high = (-1 - m) / w, (1 - m) / w
    density = [np.exp(-(y**2) / 2) / math.sqrt(2 * math.pi) for y in (low, high)]
    inside = ndtr(high) - ndtr(low)
    return m * inside + w * (density[0] - density[1]) + ndtr(-high) - ndtr(low), inside


def test_every_way_to_give_a_function() -> None:
    wanted = dual_of(activations.get("tanh"), 1.3, 0.6, 0.4, 1.6)
    ways = [np.tanh, math.tanh, numba.njit(lambda z: math.tanh(z)), lambda z: np.tanh(z), "numpy:tanh"]
    for way in ways:
        assert dual_of(activations.custom(way), 1.3, 0.6, 0.4, 1.6) == pytest.approx(wanted, rel=1e-9)
    exact = activations.custom(np.tanh, dphi=lambda z: 1 / math.cosh(z) ** 2)
    assert dual_of(exact, 1.3, 0.6, 0.4, 1.6) == pytest.approx(wanted, rel=1e-12)


def test_differences_do_not_reach_across_kinks() -> None:
    kinks = (0.0, 0.05, 1.0)
    bent = activations.custom(pieced, kinks=kinks)
    dphi = bent.compiled().dphi
    for z in (-1.0, -0.01, -1e-9, 1e-9, 0.02, 0.049999, 0.050001, 0.4, 0.9999, 1.0001, 3.0):
        wanted = math.exp(z) if z < 0 else (2.0 if z < 0.05 else (math.cos(z) if z < 1 else 2 * z))
        assert dphi(z, np.array(kinks)) == pytest.approx(wanted, rel=2e-11)


def test_jumps_are_seen() -> None:
    jumping = activations.custom(stairs, kinks=(0.5,))
    assert jumping.jumps()
    assert dual_of(jumping, 1.0, 1.0, 0.5, 1.5)[4] == math.inf
    assert not activations.custom(ramp, kinks=(0.0,)).jumps()
    # the jump's part of τ is of order √t: it needs panels as fine as that
    sign = activations.custom(np.sign, kinks=(0.0,))
    for t in (1e-18, 1e-8, 0.2):
        own, exact = dual_of(sign, 2.0, 2.0, t, 2 - t), dual_of(activations.get("sign"), 2.0, 2.0, t, 2 - t)
        assert own[2] == pytest.approx(exact[2], abs=1e-11)


def test_equal_by_function_hashable_and_compiled_once() -> None:
    one, two = activations.custom(ramp, kinks=[0.0]), activations.custom(ramp, kinks=(0,))
    assert one == two
    assert hash(one) == hash(two)
    assert one != activations.custom(hard, kinks=(0.0,))
    assert one.compiled() is two.compiled()
    assert pickle.loads(pickle.dumps(activations.custom(np.tanh))) == activations.custom(np.tanh)
    text = activations.custom("numpy:tanh", kinks=(1.0, -1.0))
    assert dump(text) == {"phi": "numpy:tanh", "kinks": [-1.0, 1.0]}
    assert parse(type(text), dump(text)) == text
    with pytest.raises(Exception, match="frozen"):
        one.kinks = ()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"phi": "no_such_module:f"}, "phi = 'no_such_module:f': cannot be imported"),
        ({"phi": "numpy:no_such_name"}, "cannot be imported"),
        ({"phi": "numpy:pi"}, "is not a function but float"),
        ({"phi": "tanh"}, 'must be "module:name"'),
        ({"phi": 3.0}, 'must be "module:name"'),
        ({"phi": np.tanh, "dphi": 1.0}, "dphi"),
        ({"phi": np.tanh, "kinks": (math.nan,)}, "kinks"),
        ({"phi": np.tanh, "kinks": "0"}, "kinks"),
    ],
)
def test_wrong_fields_are_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says) as refusal:
        activations.get("custom", **fields)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("phi", "says"),
    [
        (uncompilable, "phi = uncompilable: numba cannot compile"),
        (lambda z: "text", "numba cannot compile"),
        (lambda z: undefined_name * z, "undefined_name"),  # noqa: F821
        (lambda z, w: z, "numba cannot compile"),
        ("scipy.special:erf", "numba cannot compile"),
        (np.log, "its value at -2.0 is nan"),
    ],
)
def test_functions_that_cannot_be_used_are_refused(phi: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says) as refusal:
        activations.custom(phi).compiled()
    assert "\n" not in str(refusal.value)
