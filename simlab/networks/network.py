"""The contracts of networks: what can be trained, what is a map to features, and what theory knows of a network.

A network is a function f_θ(x) of weights θ, a flat vector, and inputs X : (n, d). Its weights are kept apart from it:

>>> from simlab import networks
>>> net = networks.TwoLayer(width=200, activation="tanh")
>>> theta = net.initialise(dim=10, rng=np.random.default_rng(0))
>>> net.forward(theta, X)          # (n,)
>>> net.gradient(theta, X, y)      # ∇_θ (1/2n) Σ (f(x_i) − y_i)²
>>> net.tangent_gram(theta, X)     # K = J Jᵀ : (n, n)
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from simlab.core.kinds import Kind

if TYPE_CHECKING:
    from simlab.networks.bound import Loops
    from simlab.networks.limit import Limit

Floats = NDArray[np.float64]


class Network(Kind):
    """What every network tells of itself.

    has_stages: whether it names layers that can be trained one after another (`Trainable.stages`).
    """

    lack: ClassVar[str] = "no network of use here"
    has_stages: ClassVar[bool] = False

    def output_count(self) -> int:
        """Number c of outputs."""
        return 1

    def particle_count(self) -> int | None:
        """Number m of neurons in mean-field time, where a step is m times as long; None where there is no width."""
        return None

    def unbounded(self) -> str:
        """Why f may grow with ‖x‖, as "network.key = value"; empty where f is bounded whatever the weights."""
        return f"network.kind = {self.kind!r}"

    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        """What the tangent kernel tends to with the width, on inputs of R^dim or, as a function of the cosine, on the
        sphere of this radius. ValueError, one line that names the key, where none is known."""
        raise ValueError(f"network.kind = {self.kind!r}: no known limit of its tangent kernel")


class Trainable(Network):
    """A network with a gradient: everything that a flow needs.

    has_features: whether `features` is there.
    has_directions: whether `directions` is there.
    """

    lack: ClassVar[str] = "it has no gradient to descend along"
    shown: ClassVar[tuple[str, ...]] = (
        "features", "forward", "gradient", "initialise", "limit_kernel", "pull", "push", "size", "tangent_gram",
    )  # fmt: skip
    has_features: ClassVar[bool] = False
    has_directions: ClassVar[bool] = False

    @abstractmethod
    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        """θ : (size,), weights at the start for inputs in R^dim."""

    @abstractmethod
    def loops(self, dim: int) -> Loops:
        """The compiled loops and their arguments, for inputs in R^dim."""

    @abstractmethod
    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K = J Jᵀ : (n, n), or (n, p) between the rows of X and Y; the mean over outputs if several."""

    def size(self, dim: int) -> int:
        """Length of θ."""
        return self.loops(dim).size

    def forward(self, theta: Floats, X: Floats) -> Floats:
        """f in float64: (n,), or (n, c) where there are several outputs."""
        raise NotImplementedError

    def gradient(self, theta: Floats, X: Floats, y: Floats, alpha: float = 1.0) -> Floats:
        """∇_θ R(αf), R(f) = (1/2n) Σ_i ‖f(x_i) − y_i‖²; 0 where θ is not trained."""
        raise NotImplementedError

    def push(self, theta: Floats, v: Floats, X: Floats) -> Floats:
        """J v : (n,) or (n, c), J = ∂f/∂θ at θ."""
        raise NotImplementedError

    def pull(self, theta: Floats, R: Floats, X: Floats) -> Floats:
        """Jᵀ R = Σ_i J_iᵀ R_i : (size,); 0 where θ is not trained."""
        raise NotImplementedError

    def features(self, theta: Floats, X: Floats) -> Floats:
        """H : (n, m), the last hidden layer, scaled so that H Hᵀ is the kernel of training the last layer alone."""
        raise NotImplementedError

    def directions(self, theta: Floats) -> Floats:
        """W : (m, d), the rows of the first layer: f changes only along them."""
        raise NotImplementedError

    def stages(self, dim: int) -> tuple[range, ...]:
        """The parts of θ, layer by layer, that a layerwise flow trains in turn; empty where there are none."""
        return ()


class ThreeLayer(Trainable):
    """A mean-field net of three layers: h(F(x)), F the first two, h of the particles of the outer one."""

    lack: ClassVar[str] = "no mean-field net of three layers"

    @abstractmethod
    def particles(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Inner weights (m, d), outer weights w and biases b."""

    @abstractmethod
    def first_layer(self, theta: Floats, X: Floats) -> Floats:
        """F(X) : (n,)"""

    @abstractmethod
    def outer(self, w: Floats, b: Floats, F: Floats) -> Floats:
        """h(F), of F's shape."""

    @abstractmethod
    def alpha(self, theta: Floats) -> float:
        """α of the particles as they are."""

    @abstractmethod
    def mean_alpha(self, dim: int) -> float:
        """α of the law of the weights at the start."""


class FeatureMap(Network):
    """A random map x → Φ(x) : (p,), whose weights are drawn once and never trained."""

    lack: ClassVar[str] = "it has no features"

    @abstractmethod
    def draw(self, dim: int, rng: np.random.Generator) -> Floats:
        """The weights of the features, one row each."""

    @abstractmethod
    def count(self, dim: int) -> int:
        """Number p of features."""

    @abstractmethod
    def features_of(self, weights: Floats, X: Floats, part: slice | None = None) -> Floats:
        """Φ(X) : (n, p), or the columns `part` of it."""
