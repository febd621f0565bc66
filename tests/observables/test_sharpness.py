"""The sharpness against dense Hessians made independently: closed forms, and differences of the loss's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from simlab import losses, networks, observables
from simlab.core.errors import BadInput, SimlabError
from simlab.observables import _lanczos
from simlab.observables.sharpness import Products
from simlab.observables.view import Setting, View, check_setting

Floats = NDArray[np.float64]
n, d = 12, 3
rng = np.random.default_rng(0)
X = rng.standard_normal((n, d))
REAL, SIGNS, CLASSES = rng.standard_normal(n), np.sign(rng.standard_normal(n)), np.eye(3)[rng.integers(3, size=n)]
Loss = Callable[[Floats], Any]


def view_at(network: Any, y: Floats, loss: str, alpha: float = 1.0, seed: int = 1) -> View:
    theta = network.initialise(d, np.random.default_rng(seed))
    return View(theta, theta, X, y, X, y, network, alpha, loss=losses.get(loss))


def differences(R: Callable[[Floats], float], theta: Floats) -> Floats:
    """The Hessian of R by differences of its values in extended precision, extrapolated once (Richardson)."""
    start = theta.astype(np.longdouble)

    def hessian(h: float) -> Any:
        steps = np.longdouble(h) * np.eye(theta.size, dtype=np.longdouble)
        size = theta.size
        H = np.empty((size, size), np.longdouble)
        for i in range(size):
            for j in range(i + 1):
                a, b = steps[i], steps[j]
                H[i, j] = R(start + a + b) - R(start + a - b) - R(start - a + b) + R(start - a - b)
                H[j, i] = H[i, j]
        return H / (4 * np.longdouble(h) ** 2)

    return np.asarray((4 * hessian(5e-4) - hessian(1e-3)) / 3, dtype=np.float64)


def two_layer(theta: Any, m: int) -> Any:
    """(1/√m) Σ_j a_j tanh(w_j·x), θ = (a, W)"""
    a, W = theta[:m], theta[m:].reshape(m, d)
    return np.tanh(X.astype(theta.dtype) @ W.T) @ a / np.sqrt(theta.dtype.type(m))


RISKS: dict[str, tuple[Floats, Loss]] = {
    "squared": (REAL, lambda f: np.mean((f - REAL) ** 2) / 2),
    "logistic": (SIGNS, lambda f: np.mean(np.log1p(np.exp(-SIGNS * f)))),
}


@pytest.mark.parametrize("loss", RISKS)
@pytest.mark.parametrize("alpha", [1.0, 3.0])
@pytest.mark.parametrize(("trained", "part"), [("both", slice(None)), ("first", slice(4, None)), ("second", slice(4))])
def test_a_net_of_two_layers(loss: str, alpha: float, trained: str, part: slice) -> None:
    """∇² of R(αf)/α² over the trained weights alone, f written out in NumPy."""
    y, risk = RISKS[loss]
    view = view_at(networks.TwoLayer(width=4, activation="tanh", trained=trained), y, loss, alpha)

    def R(moved: Floats) -> float:
        theta = view.theta.astype(np.longdouble)
        theta[part] = moved
        found: float = risk(alpha * two_layer(theta, 4)) / np.longdouble(alpha) ** 2
        return found

    values = np.linalg.eigvalsh(differences(R, view.theta[part]))[::-1]
    found = observables.Sharpness(count=3, least=True, tolerance=1e-9).measure(view)
    assert found["sharpness"] == pytest.approx(values[:3], rel=1e-6, abs=1e-9 * values[0])
    assert found["sharpness_least"] == pytest.approx(values[-1], rel=1e-6, abs=1e-9 * values[0])


def test_several_outputs_with_softmax() -> None:
    """A linear model f = Wx/√d: H = (1/n) Σ (diag p − ppᵀ) ⊗ xxᵀ/d in closed form, and S = 0."""
    view = view_at(networks.MLP(width=1, depth=1, outputs=3), CLASSES, "softmax", 2.0)
    f = view.predict(X)
    K = np.array([view.network.tangent_blocks(view.theta, x[None])[0, 0] for x in X])
    scale = K / np.sum(X**2, axis=1)
    assert scale == pytest.approx(np.full(n, scale[0]), rel=1e-12)  # f is linear, with this squared factor
    p = np.exp(f - logsumexp(f, axis=1, keepdims=True))
    C = np.einsum("ia,ab->iab", p, np.eye(3)) - np.einsum("ia,ib->iab", p, p)
    H = scale[0] * np.einsum("iab,ij,ik->ajbk", C, X, X).reshape(3 * d, 3 * d) / n
    values = np.linalg.eigvalsh(H)[::-1]
    found = observables.Sharpness(count=9, tolerance=1e-9).measure(view)
    assert found["sharpness"] == pytest.approx(values, rel=1e-7, abs=1e-9 * values[0])
    assert found["sharpness_gauss_newton"] == pytest.approx(values[0], rel=1e-9)
    assert found["sharpness_tangent"] == pytest.approx(scale[0] * np.linalg.eigvalsh(X.T @ X / n)[-1], rel=1e-9)


def test_a_deep_net_of_several_outputs() -> None:
    """Every column of the Hessian against differences of the gradient Jᵀ ℓ', ℓ' by hand, extrapolated."""
    view = view_at(networks.MLP(width=4, depth=3, activation="gelu", outputs=3), CLASSES, "softmax", 2.0)

    def gradient(theta: Floats) -> Floats:
        f = 2.0 * view.network.forward(theta, X)
        p = np.exp(f - logsumexp(f, axis=1, keepdims=True))
        return view.network.pull(theta, (p - CLASSES) / (2.0 * n), X)

    def columns(h: float) -> Floats:
        return np.array([(gradient(view.theta + v) - gradient(view.theta - v)) / (2 * h) for v in h * np.eye(P)])

    P = view.theta.size
    values = np.linalg.eigvalsh((4 * columns(1e-3) - columns(2e-3)) / 3)[::-1]
    found = observables.Sharpness(count=2, least=True, tolerance=1e-8).measure(view)
    assert found["sharpness"] == pytest.approx(values[:2], rel=1e-6)
    assert found["sharpness_least"] == pytest.approx(values[-1], rel=1e-6)


def test_parts_of_the_squared_and_the_logistic_loss() -> None:
    """G = Jᵀ diag(ℓ'') J/n by the Jacobian; for the squared loss its largest eigenvalue is that of K/n."""
    net = networks.TwoLayer(width=5, activation="tanh")
    for loss, y in (("squared", REAL), ("logistic", SIGNS)):
        view = view_at(net, y, loss, 1.5)
        K = net.tangent_gram(view.theta, X)
        root = np.ones(n) if loss == "squared" else np.sqrt(expit(view.predict(X)) * expit(-view.predict(X)))
        found = observables.Sharpness(tolerance=1e-9).measure(view)
        assert found["sharpness_tangent"] == pytest.approx(np.linalg.eigvalsh(K / n)[-1], rel=1e-9)
        G = np.linalg.eigvalsh(root[:, None] * K * root / n)[-1]
        assert found["sharpness_gauss_newton"] == pytest.approx(G, rel=1e-9)


def test_a_linear_model_has_the_second_moment_of_its_inputs() -> None:
    """The linearised net: the Hessian is JᵀJ/n whatever θ, and its frozen half of θ has no part in it."""
    inner = networks.TwoLayer(width=5, activation="tanh")
    view = view_at(networks.Linearised(network=inner), REAL, "squared", 2.0)
    found = observables.Sharpness(tolerance=1e-9).measure(view)
    expected = np.linalg.eigvalsh(inner.tangent_gram(view.theta[: view.theta.size // 2], X) / n)[-1]
    for name in ("sharpness", "sharpness_gauss_newton", "sharpness_tangent"):
        assert found[name] == pytest.approx(expected, rel=1e-9)


def test_a_hinge_loss_has_no_gauss_newton_part() -> None:
    """What is left is S: (1/αn) Σ ℓ' ∇²f, and for ReLU of two layers only its part between a and W."""
    view = view_at(networks.TwoLayer(width=3), SIGNS, "hinge", 2.0)
    found = observables.Sharpness(tolerance=1e-9).measure(view)
    assert found["sharpness_gauss_newton"] == 0.0
    W = view.theta[3:].reshape(3, d)
    slopes = np.where(SIGNS * view.predict(X) < 1.0, -SIGNS, 0.0) / (2.0 * n * np.sqrt(3.0))
    H = np.zeros((12, 12))
    for j in range(3):
        H[j, 3 + d * j : 3 + d * (j + 1)] = (slopes * (X @ W[j] > 0.0)) @ X
    values = np.linalg.eigvalsh(H + H.T)
    assert found["sharpness"] == pytest.approx(values[-1], rel=1e-7)


def test_a_kink_that_the_difference_steps_over_is_seen() -> None:
    """A sample on a ReLU neuron's kink: the difference is of order 1/h, as the module's docstring says."""
    view = view_at(networks.TwoLayer(width=3), REAL, "squared")
    there = view.theta.copy()
    there[3 : 3 + d] -= (X[0] @ there[3 : 3 + d]) / (X[0] @ X[0]) * X[0]
    v = np.concatenate([np.zeros(3), X[0] / np.linalg.norm(X[0]), np.zeros(2 * d)])
    on, off = (Products(View(t, t, X, REAL, X, REAL, view.network, 1.0), X, REAL) for t in (there, view.theta))
    assert np.linalg.norm(on.hessian(v)) > 1e3 * np.linalg.norm(off.hessian(v))


def test_fewer_samples_and_what_is_refused() -> None:
    net = networks.TwoLayer(width=4, activation="tanh")
    view = view_at(net, REAL, "squared")
    few = View(view.theta, view.theta, X[:5], REAL[:5], X, REAL, net, 1.0)
    assert observables.Sharpness(samples=5).measure(view) == observables.Sharpness().measure(few)
    with pytest.raises(ValueError, match=r"^observables sharpness\.samples = 13: there are 12 training samples$"):
        check_setting([observables.Sharpness(samples=13)], Setting(net, None, None, n, 0))
    with pytest.raises(ValueError, match=r"^samples = 0: sharpness needs training samples$"):
        check_setting([observables.Sharpness()], Setting(net, None, None, 0, 0))
    with pytest.raises(BadInput, match=r"^observables sharpness\.count = 17: the network has 16 trained weights$"):
        observables.Sharpness(count=17).measure(view)


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("which", ["full", "low rank", "zero", "multiple", "slow"])
def test_lanczos_against_a_dense_solver(which: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where spaces are invariant, and where the basis shrinks (thick restart)."""
    monkeypatch.setattr(_lanczos, "MOST_VECTORS", 12)
    size, draw = 150, np.random.default_rng(4)
    B = draw.standard_normal((size, size))
    A = {
        "full": B + B.T, "low rank": B[:, :3] @ B[:, :3].T, "zero": 0.0 * B,
        "multiple": np.diag([3.0, 3.0, 3.0, 2.0] + [1.0] * (size - 4)), "slow": np.diag(np.linspace(0.0, 1.0, size)),
    }[which]  # fmt: skip
    found = _lanczos.largest(lambda v: A @ v, size, count, 1e-9)
    expected = np.linalg.eigvalsh(A)[::-1][:count]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1.0 + expected[0]))


def test_lanczos_says_where_it_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lanczos, "MOST_PRODUCTS", 300)
    noise = np.random.default_rng(5)
    with pytest.raises(SimlabError, match=r"300 products .* above tolerance = 1e-09"):
        _lanczos.largest(lambda v: v * np.arange(90.0) + noise.standard_normal(90), 90, 1, 1e-9)
    assert np.isnan(_lanczos.largest(lambda v: np.inf * v, 5, 2, 1e-9)).all()
