"""The contracts of networks: what can be trained, what is a map to features, and what theory knows of a network.

A network is a function f_θ(x) of weights θ, a flat vector, and inputs X : (n, d). Its weights are kept apart from it:

>>> from simlab import networks
>>> net = networks.TwoLayer(width=200, activation="tanh")
>>> theta = net.initialise(dim=10, rng=np.random.default_rng(0))
>>> net.forward(theta, X)                # f(X) : (n,)
>>> net.gradient(theta, X, y)            # ∇_θ (1/2n) Σ (f(x_i) − y_i)² : (size,)
>>> net.tangent_gram(theta, X)           # K = J Jᵀ : (n, n)

Not every kind can do everything. What a kind may lack is announced by a fact of its class, `has_features` for
`features` and so on, so that it can be asked before anything is computed.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from simlab.core import catalogue
from simlab.core.errors import one_of
from simlab.core.kinds import Kind

if TYPE_CHECKING:
    from simlab.networks.bound import Bound, Loops
    from simlab.networks.limit import Limit

Floats = NDArray[np.float64]


class Network(Kind):
    """What every network tells of itself.

    has_features: whether `Trainable.features` is there.
    has_neurons: whether `Trainable.neurons` is there.
    has_directions: whether `Trainable.directions` is there.
    has_stages: whether it names layers that can be trained one after another (`Trainable.stages`).
    has_tangent_blocks: whether `Trainable.tangent_blocks` has a way of its own, without forming the Jacobian.
    has_exact: whether `FeatureMap.exact` is there.
    may_be_bounded: whether with some fields f is bounded, or `Trainable.grows` tells its growth.
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
        """Number m of neurons in mean-field time, where a step is m times as long; None where there is no width."""
        return None

    def first_width(self) -> int | None:
        """Number of neurons of the first layer: f depends on so many projections of x. None where there is none."""
        return self.particle_count()

    def widened(self) -> Self:
        """The network without a layer that stays narrow at every width, for which the limit of great width is known."""
        return self

    def unbounded(self) -> str:
        """Why f may grow with ‖x‖, as "network.key = value"; empty where it does not, or where `grows` tells it."""
        return f"network.kind = {self.kind!r}"

    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        """What the tangent kernel at the start tends to with the width.

        dim: dimension d of the inputs.
        radius: left out, the limit is a kernel on R^d; given, it is a function of the cosine on the sphere of this
            radius, and has a spectrum.

        Raises ValueError, one line that names the key, where the limit is not known.
        """
        known = catalogue.able("networks", lambda cls: cls.limit_kernel is not Network.limit_kernel)
        raise ValueError(f"network.kind = {self.kind!r}: no known limit of its tangent kernel (known: {one_of(known)})")


class Trainable(Network):
    """A network with a gradient: everything that a flow needs. J = ∂f/∂θ at θ, c the number of outputs."""

    lack: ClassVar[str] = "it has no gradient to descend along"
    shown: ClassVar[tuple[str, ...]] = (
        "features", "forward", "gradient", "initialise", "limit_kernel", "loss_and_gradient", "pull", "push", "size",
        "tangent_blocks", "tangent_gram",
    )  # fmt: skip

    @abstractmethod
    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        """θ : (size,), weights at the start for inputs in R^dim."""

    @abstractmethod
    def loops(self, dim: int) -> Loops:
        """The compiled loops and their arguments, for inputs in R^dim."""

    @abstractmethod
    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K = J Jᵀ over what is trained: (n, n), or (n, n') between the rows of X and Y; the mean over outputs."""

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
        """f(X) in float64: (n,), or (n, c) where there are several outputs."""
        bound, X = _bound(self, X)
        return _one_or_several(bound.value(theta, X))

    def loss_and_gradient(self, theta: Floats, X: Floats, y: Floats, alpha: float = 1.0) -> tuple[float, Floats]:
        """R(αf) = (1/2n) Σ_i ‖α f(x_i) − y_i‖², and ∇_θ R(αf) : (size,), 0 where θ is not trained.

        y: labels, (n,) or (n, c).
        """
        bound, X = _bound(self, X)
        return bound.loss_and_gradient(theta, X, y, alpha)

    def gradient(self, theta: Floats, X: Floats, y: Floats, alpha: float = 1.0) -> Floats:
        """∇_θ R(αf) : (size,), as in `loss_and_gradient`."""
        return self.loss_and_gradient(theta, X, y, alpha)[1]

    def push(self, theta: Floats, v: Floats, X: Floats) -> Floats:
        """J v : (n,) or (n, c), v : (size,), of which only the trained part is read."""
        bound, X = _bound(self, X)
        return _one_or_several(bound.push(theta, v, X))

    def pull(self, theta: Floats, R: Floats, X: Floats) -> Floats:
        """Jᵀ R = Σ_i J_iᵀ R_i : (size,), R : (n,) or (n, c); 0 where θ is not trained."""
        bound, X = _bound(self, X)
        return bound.pull(theta, R, X)

    def tangent_blocks(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K : (n c, n' c) of all outputs together, entry (i c + a, j c + b) being ⟨∇f_a(x_i), ∇f_b(y_j)⟩.

        By the Jacobian, of n c rows of θ's length, unless the kind has a better way (`has_tangent_blocks`).
        """
        bound, X = _bound(self, X)
        J = bound.jacobian(theta, X)
        return J @ (J if Y is None else bound.jacobian(theta, Y, "Y")).T

    def features(self, theta: Floats, X: Floats) -> Floats:
        """H : (n, m), the last hidden layer, scaled so that H Hᵀ is the kernel of training the last layer alone."""
        raise NotImplementedError(f"{self.kind} has no features")

    def neurons(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """a : (m,), b : (m,) and W : (m, d) of a sum of neurons s Σ_j a_j φ(w_j·x + b_j); b is 0 without a bias."""
        raise NotImplementedError(f"{self.kind} is no sum of neurons")

    def directions(self, theta: Floats) -> Floats:
        """W : (m, d), the rows of the first layer: f changes only along them."""
        raise NotImplementedError(f"{self.kind} has no directions")

    def own_weights(self, theta: Floats) -> Floats:
        """The entries of θ that the network is a function of, without the copy of its start that a linearised one has
        after them."""
        return theta

    def stages(self, dim: int) -> tuple[range, ...]:
        """The parts of θ, layer by layer, that a layerwise flow trains in turn; empty where there are none."""
        return ()


class ThreeLayer(Trainable):
    """A mean-field net of three layers: h(F(x)), F the first two, h of the particles of the outer one."""

    lack: ClassVar[str] = "no mean-field net of three layers"

    @abstractmethod
    def particles(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """V : (m₁, d), the inner weights; w : (m₂,) and b : (m₂,), the outer weights and biases."""

    @abstractmethod
    def first_layer(self, theta: Floats, X: Floats) -> Floats:
        """F(X) : (n,)"""

    @abstractmethod
    def outer(self, w: Floats, b: Floats, F: Floats) -> Floats:
        """h(F), of F's shape."""

    @abstractmethod
    def alpha(self, theta: Floats) -> float:
        """α of the particles as they are: F has the mean α‖x‖ over the directions of x."""

    @abstractmethod
    def mean_alpha(self, dim: int) -> float:
        """α of the law of the weights at the start, at infinite width."""

    @abstractmethod
    def trained_layers(self) -> Literal["both", "first", "second"]:
        """Which layers are trained: those of F, those of h, or both."""


class FeatureMap(Network):
    """A random map x → Φ(x) : (p,), whose weights are drawn once and never trained."""

    lack: ClassVar[str] = "it has no features"
    shown: ClassVar[tuple[str, ...]] = ("count", "draw", "exact", "features_of", "limit_kernel")

    @abstractmethod
    def draw(self, dim: int, rng: np.random.Generator) -> Floats:
        """The weights of the features, one row each; the first rows of a wider draw are those of a narrower one."""

    @abstractmethod
    def count(self, dim: int) -> int:
        """Number p of features."""

    @abstractmethod
    def features_of(self, weights: Floats, X: Floats, part: slice | None = None) -> Floats:
        """Φ(X) : (n, p), or the columns `part` of it, scaled so that Φ Φᵀ tends to a kernel."""

    def exact(self, X: Floats, Y: Floats | None = None) -> Floats:
        """The kernel that Φ Φᵀ tends to: (n, n), or (n, n') between the rows of X and Y."""
        raise NotImplementedError(f"{self.kind} does not tell its kernel")


def _bound(net: Trainable, X: Floats) -> tuple[Bound, Floats]:
    """The compiled loops for inputs like X, and X as a matrix of float64."""
    from simlab.core import checks
    from simlab.networks.bound import Bound

    X = checks.matrix(X)
    return Bound(net, X.shape[1]), X


def _one_or_several(f: Floats) -> Floats:
    """(n, c) as (n,) where there is one output."""
    return f[:, 0] if f.shape[1] == 1 else f
