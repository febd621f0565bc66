"""The contracts of networks: what can be trained, what is a map to features, and what theory knows of a network.

A network is a function f_θ(x) of weights θ, one flat vector, and of inputs X : (n, d), one per row. The network object
holds the architecture only; weights are arguments of its methods:

>>> import numpy as np
>>> from simlab import networks
>>> rng = np.random.default_rng(0)
>>> X, y = rng.standard_normal((20, 3)), np.ones(20)
>>> net = networks.TwoLayer(width=50, activation="tanh")
>>> theta = net.initialise(dim=3, rng=rng)         # weights at the start: (size,)
>>> f = net.forward(theta, X)                      # f(X) : (n,)
>>> gradient = net.gradient(theta, X, y)           # ∇_θ (1/2n) Σ_i (f(x_i) − y_i)² : (size,)
>>> K = net.tangent_gram(theta, X)                 # K = J Jᵀ, J = ∂f/∂θ : (n, n)
>>> theta.shape, f.shape, gradient.shape, K.shape
((200,), (20,), (200,), (20, 20))

`simlab.train` moves the weights along a flow. Not every kind has every method: `has_features` says whether `features`
is there, and so on, before anything is computed.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from simlab.core import catalogue
from simlab.core.errors import one_of
from simlab.core.kinds import Kind
from simlab.losses.loss import Loss

if TYPE_CHECKING:
    from simlab.networks.bound import Bound, Loops
    from simlab.networks.limit import Limit

Floats = NDArray[np.float64]


class Network(Kind):
    """What every network says about itself.

    has_features: `Trainable.features` is there.
    has_neurons: `Trainable.neurons` is there.
    has_directions: `Trainable.directions` is there.
    has_stages: `Trainable.stages` names layers that can be trained one after another.
    has_tangent_blocks: `Trainable.tangent_blocks` is computed without the Jacobian.
    has_exact: `FeatureMap.exact` is there.
    may_be_bounded: with some fields f is bounded, or `Trainable.grows` knows whether it grows.
    """

    lack: ClassVar[str] = "no network of use here"
    has_features: ClassVar[bool] = False
    has_neurons: ClassVar[bool] = False
    has_directions: ClassVar[bool] = False
    has_stages: ClassVar[bool] = False
    has_tangent_blocks: ClassVar[bool] = False
    has_exact: ClassVar[bool] = False
    may_be_bounded: ClassVar[bool] = False

    def output_count(self) -> int:
        """Number c of outputs."""
        return 1

    def particle_count(self) -> int | None:
        """Number m of neurons: in mean-field time a step is m times as long. None where there is no such number."""
        return None

    def first_width(self) -> int | None:
        """Number of neurons in the first layer, and so of projections of x that f depends on; None where unknown."""
        return self.particle_count()

    def widened(self) -> Self:
        """The same network without its narrow layer (`MLP.bottleneck`), whose `limit_kernel` is known; or itself."""
        return self

    def unbounded(self) -> str:
        """Why |f(x)| may grow with ‖x‖, as "network.key = value"; empty where it cannot, or where `grows` tells."""
        return f"network.kind = {self.kind!r}"

    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        """The kernel that `tangent_gram` at the start tends to as the width grows.

        dim: dimension d of the inputs.
        radius: None for a kernel on R^d; a number r for a function of the cosine on the sphere of radius r, which has a
            spectrum.

        Raises ValueError, in one line that names the key, where the limit is not known.
        """
        known = catalogue.able("networks", lambda cls: cls.limit_kernel is not Network.limit_kernel)
        raise ValueError(f"network.kind = {self.kind!r}: no known limit of its tangent kernel (known: {one_of(known)})")


class Trainable(Network):
    """A network with a gradient: everything that a flow needs.

    Shapes: θ : (size,), X : (n, d), y : (n,) or (n, c) with c = `output_count()`. J : (n c, size) is ∂f(X)/∂θ at θ.
    All methods compute in float64. Bad input (a wrong shape, NaN) raises BadInput, one line that names the argument.
    """

    lack: ClassVar[str] = "it has no gradient to descend along"
    shown: ClassVar[tuple[str, ...]] = (
        "forward", "gradient", "initialise", "limit_kernel", "loss_and_gradient", "pull", "push", "size",
        "tangent_blocks", "tangent_gram",
    )  # fmt: skip

    @abstractmethod
    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        """θ : (size,), random weights at the start.

        dim: dimension d of the inputs.
        rng: the only source of randomness; a generator in the same state gives the same weights.
        """

    @abstractmethod
    def loops(self, dim: int) -> Loops:
        """The compiled functions for f, ∇R, J v and Jᵀ R, and their packed arguments, for inputs in R^dim."""

    @abstractmethod
    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """Tangent kernel K_ij = (1/c) Σ_a ⟨∇f_a(x_i), ∇f_a(y_j)⟩, the gradients being those of the trained weights.

        Y: other inputs, (n', d); None for X itself. K : (n, n) or (n, n').
        """

    def grows_at_start(self) -> str:
        """Why f is known to grow with ‖x‖ at the start, as "network.key = value"; empty where that is not known."""
        return ""

    def grows(self, theta: Floats) -> bool:
        """Whether f is known to grow with ‖x‖ with these weights."""
        return False

    def size(self, dim: int) -> int:
        """Length of θ: number of weights and biases."""
        return self.loops(dim).size

    def forward(self, theta: Floats, X: Floats) -> Floats:
        """f(X) : (n,), or (n, c) where there are several outputs."""
        bound, X = _bound(self, X)
        return _one_or_several(bound.value(theta, X))

    def loss_and_gradient(
        self, theta: Floats, X: Floats, y: Floats, alpha: float = 1.0, loss: Loss | None = None
    ) -> tuple[float, Floats]:
        """(R, ∇_θ R) of R(αf) = (1/n) Σ_i ℓ(α f(x_i), y_i). ∇_θ R : (size,) is 0 where θ is not trained.

        y: labels that the loss takes, (n,) or (n, c).
        alpha: output scale α > 0.
        loss: ℓ; None for the squared loss ½‖αf − y‖².
        """
        bound, X = _bound(self, X)
        return bound.loss_and_gradient(theta, X, y, alpha, loss)

    def gradient(self, theta: Floats, X: Floats, y: Floats, alpha: float = 1.0, loss: Loss | None = None) -> Floats:
        """∇_θ R(αf) : (size,), as in `loss_and_gradient`."""
        return self.loss_and_gradient(theta, X, y, alpha, loss)[1]

    def push(self, theta: Floats, v: Floats, X: Floats) -> Floats:
        """J v, the derivative of f(X) along v : (size,), as (n,) or (n, c). Only the trained part of v is read."""
        bound, X = _bound(self, X)
        return _one_or_several(bound.push(theta, v, X))

    def pull(self, theta: Floats, R: Floats, X: Floats) -> Floats:
        """Jᵀ R = Σ_ia R_ia ∇f_a(x_i) : (size,), for R : (n,) or (n, c); 0 where θ is not trained."""
        bound, X = _bound(self, X)
        return bound.pull(theta, R, X)

    def tangent_blocks(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """The tangent kernel between all outputs: K : (n c, n' c), K[i c + a, j c + b] = ⟨∇f_a(x_i), ∇f_b(y_j)⟩.

        Here by J : (n c, size), which is formed; a kind with a cheaper way overrides this (`has_tangent_blocks`).
        """
        bound, X = _bound(self, X)
        J = bound.jacobian(theta, X)
        return J @ (J if Y is None else bound.jacobian(theta, Y, "Y")).T

    def features(self, theta: Floats, X: Floats) -> Floats:
        """H : (n, m), the last hidden layer, scaled so that H Hᵀ is the tangent kernel of the last layer alone."""
        raise NotImplementedError(f"{self.kind} has no features")

    def neurons(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """(a, b, W) of f(x) = s Σ_j a_j φ(w_j·x + b_j): (m,), (m,), (m, d); b = 0 where there is no bias."""
        raise NotImplementedError(f"{self.kind} is no sum of neurons")

    def directions(self, theta: Floats) -> Floats:
        """W : (m, d), the rows of the first layer: f changes only along them."""
        raise NotImplementedError(f"{self.kind} has no directions")

    def own_weights(self, theta: Floats) -> Floats:
        """The part of θ that moves. All of θ, but of a linearised network only the first half: the second is θ0."""
        return theta

    def stages(self, dim: int) -> tuple[range, ...]:
        """Index ranges of θ, one per layer, that a layerwise flow trains in turn; empty without `has_stages`."""
        return ()


class ThreeLayer(Trainable):
    """A mean-field network of three layers, f(x) = h(F(x)): F a sum over inner particles, h over outer ones."""

    lack: ClassVar[str] = "no mean-field net of three layers"

    @abstractmethod
    def particles(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """(V, w, b): inner weights V : (m₁, d), outer weights w : (m₂,) and biases b : (m₂,)."""

    @abstractmethod
    def first_layer(self, theta: Floats, X: Floats) -> Floats:
        """F(X) : (n,)"""

    @abstractmethod
    def outer(self, w: Floats, b: Floats, F: Floats) -> Floats:
        """h(F) for outer weights w : (m₂,) and biases b : (m₂,), in the shape of F."""

    @abstractmethod
    def alpha(self, theta: Floats) -> float:
        """α of these particles: the mean of F(x) over all directions of x is α‖x‖."""

    @abstractmethod
    def mean_alpha(self, dim: int) -> float:
        """The mean of `alpha` over random weights at the start."""

    @abstractmethod
    def trained_layers(self) -> Literal["both", "first", "second"]:
        """Which layers are trained: those of F, those of h, or both."""


class FeatureMap(Network):
    """A random map x → Φ(x) ∈ R^p. Its weights are drawn once and never trained.

    >>> from simlab import networks
    >>> features = networks.FourierFeatures(width=100, scale=2.0)
    >>> weights = features.draw(3, np.random.default_rng(0))
    >>> features.features_of(weights, np.zeros((5, 3))).shape
    (5, 100)
    """

    lack: ClassVar[str] = "it has no features"
    shown: ClassVar[tuple[str, ...]] = ("count", "draw", "features_of", "limit_kernel")

    @abstractmethod
    def draw(self, dim: int, rng: np.random.Generator) -> Floats:
        """Random weights, one row per neuron. With more `width` and the same generator, rows are only added."""

    @abstractmethod
    def count(self, dim: int) -> int:
        """Number p of features for inputs in R^dim."""

    @abstractmethod
    def features_of(self, weights: Floats, X: Floats, part: slice | None = None) -> Floats:
        """Φ(X) : (n, p), scaled so that Φ Φᵀ tends to a kernel as the width grows.

        weights: what `draw` gave.
        part: columns wanted, a slice without a step; None for all.
        """

    def exact(self, X: Floats, Y: Floats | None = None) -> Floats:
        """The kernel that Φ Φᵀ tends to: (n, n), or (n, n') between the rows of X and Y."""
        raise NotImplementedError(f"{self.kind} has no closed form of its kernel")


def _bound(net: Trainable, X: Floats) -> tuple[Bound, Floats]:
    """The compiled loops for inputs of X's dimension, and X as a float64 matrix."""
    from simlab.core import checks
    from simlab.networks.bound import Bound

    X = checks.matrix(X)
    return Bound(net, X.shape[1]), X


def _one_or_several(f: Floats) -> Floats:
    """(n, c), or (n,) where c = 1."""
    return f[:, 0] if f.shape[1] == 1 else f
