"""`networks.check` on networks with one planted mistake each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab import networks
from simlab.core.jit import jit
from simlab.losses import squared, tiles
from simlab.networks._two_layer_tile import LOOPS, backwards
from simlab.networks.bound import Loops
from simlab.networks.fourier_features import FourierFeatures
from simlab.networks.limit import Limit
from simlab.networks.mlp import MLP
from simlab.networks.network import Network
from simlab.networks.resnet3 import ResNet3
from simlab.networks.signature import Net
from simlab.networks.skeleton import Into, loops_over
from simlab.networks.three_layer_mean_field import ThreeLayerMeanField
from simlab.networks.two_layer import TwoLayer

Floats = NDArray[np.float64]


class RandomStart(TwoLayer):
    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        return super().initialise(dim, np.random.default_rng())


class LongStart(TwoLayer):
    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        return np.append(super().initialise(dim, rng), 1.0)


class WrongTrained(TwoLayer):
    def loops(self, dim: int) -> Loops:
        return replace(super().loops(dim), trained=range(self.size(dim) + 1))


class WrongOutputs(MLP):
    def output_count(self) -> int:
        return self.outputs + 1


class OfTheBatch(TwoLayer):
    def forward(self, theta: Floats, X: Floats) -> Floats:
        f = super().forward(theta, X)
        return f - f.mean()


class AnotherForward(TwoLayer):
    def forward(self, theta: Floats, X: Floats) -> Floats:
        return 1.001 * super().forward(theta, X)


class WrongGradient(TwoLayer):
    def loss_and_gradient(self, *arguments: Any) -> tuple[float, Floats]:
        loss, gradient = super().loss_and_gradient(*arguments)
        return loss, 1.001 * gradient


class WrongLoss(TwoLayer):
    def loss_and_gradient(self, *arguments: Any) -> tuple[float, Floats]:
        loss, gradient = super().loss_and_gradient(*arguments)
        return 2 * loss, gradient


class SquaredAlways(TwoLayer):
    def loss_and_gradient(
        self, theta: Floats, X: Floats, y: Floats, alpha: float = 1.0, loss: Any = None
    ) -> tuple[float, Floats]:
        return super().loss_and_gradient(theta, X, y, alpha)


class LossForgotten(TwoLayer):
    def gradient(self, theta: Floats, X: Floats, y: Floats, alpha: float = 1.0, loss: Any = None) -> Floats:
        return super().gradient(theta, X, y, alpha)


@jit
def unweighted(net: Net, known: int, X: Floats, R: Floats, into: Into, add: bool, space: Floats) -> None:
    """Every sample counts 1, whatever its residual."""
    R[:, :] = 1
    backwards(net, known, X, R, into, add, space)


UNWEIGHTED = loops_over(LOOPS.tile._replace(backwards=unweighted), "unweighted")


class Unweighted(TwoLayer):
    def loops(self, dim: int) -> Loops:
        return replace(super().loops(dim), compiled=UNWEIGHTED)


def squared_in(dtype: Any) -> Any:
    """The loops of two layers with a gradient that is of the squared loss, whatever loss is asked for, in one type."""
    own = {np.dtype(real): LOOPS.gradient[real] for real in (np.float64, np.float32)}
    right = own[np.dtype(dtype)]

    def gradient(act: Any, loss: Any, *others: Any) -> float:
        return float(right(act, loss if loss is tiles.given else squared.loss, *others))

    return LOOPS._replace(gradient=own | {np.dtype(dtype): gradient})  # type: ignore[arg-type]


class SquaredInDouble(TwoLayer):
    def loops(self, dim: int) -> Loops:
        return replace(super().loops(dim), compiled=squared_in(np.float64))


class SquaredInSingle(TwoLayer):
    def loops(self, dim: int) -> Loops:
        return replace(super().loops(dim), compiled=squared_in(np.float32))


class GradientOfItsOwn(TwoLayer):
    def gradient(self, theta: Floats, X: Floats, y: Floats, alpha: float = 1.0, loss: Any = None) -> Floats:
        return super().gradient(theta, X, y, loss=loss)


class TransposedPull(MLP):
    def pull(self, theta: Floats, R: Floats, X: Floats) -> Floats:
        return super().pull(theta, R[:, ::-1], X)


class WrongPush(TwoLayer):
    def push(self, theta: Floats, v: Floats, X: Floats) -> Floats:
        return super().push(theta, np.abs(v), X)


class UntrainedRead(TwoLayer):
    def push(self, theta: Floats, v: Floats, X: Floats) -> Floats:
        return super().push(theta, v, X) + 0.0 * v.sum()


class WrongKernel(TwoLayer):
    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        return 2 * super().tangent_gram(theta, X, Y)


class SumOverOutputs(MLP):
    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        return self.outputs * super().tangent_gram(theta, X, Y)


class OutputsInAnotherOrder(ResNet3):
    def tangent_blocks(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        K = super().tangent_blocks(theta, X, Y)
        k = self.outputs
        return K.reshape(-1, k, K.shape[1]).swapaxes(0, 1).reshape(K.shape)


class BlocksUntold(ResNet3):
    has_tangent_blocks: ClassVar[bool] = False


class FeaturesPromised(ThreeLayerMeanField):
    has_features: ClassVar[bool] = True


class FeaturesUntold(TwoLayer):
    has_features: ClassVar[bool] = False


class NeuronsUntold(TwoLayer):
    has_neurons: ClassVar[bool] = False


class WrongDirections(TwoLayer):
    def directions(self, theta: Floats) -> Floats:
        return super().directions(theta)[:, ::-1]


class StagesUntold(ResNet3):
    has_stages: ClassVar[bool] = False


class WrongStages(ResNet3):
    def stages(self, dim: int) -> tuple[range, ...]:
        return super().stages(dim)[::-1]


class SaysBounded(TwoLayer):
    def unbounded(self) -> str:
        return ""


class SaysGrowing(ThreeLayerMeanField):
    def grows(self, theta: Floats) -> bool:
        return True


class WrongLimit(TwoLayer):
    def limit_kernel(self, dim: int, radius: float | None = None) -> Any:
        return np.eye(dim)


class LimitOfTwoLines(TwoLayer):
    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        raise ValueError("no limit\nat all")


class LimitOfAnotherRadius(TwoLayer):
    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        return super().limit_kernel(dim, None if radius is None else 2 * radius)


class TakesAnything(TwoLayer):
    def forward(self, theta: Floats, X: Floats) -> Floats:
        return super().forward(theta, np.nan_to_num(X))


class WrongOuter(ThreeLayerMeanField):
    def outer(self, w: Floats, b: Floats, F: Floats) -> Floats:
        return super().outer(w, 2 * b, F)


class WrongAlpha(ThreeLayerMeanField):
    def alpha(self, theta: Floats) -> float:
        return 1.1 * super().alpha(theta)


class WrongMeanAlpha(ThreeLayerMeanField):
    def mean_alpha(self, dim: int) -> float:
        return 1.2 * super().mean_alpha(dim)


class RandomDraw(FourierFeatures):
    def draw(self, dim: int, rng: np.random.Generator) -> Floats:
        return super().draw(dim, np.random.default_rng())


class DrawnByColumns(FourierFeatures):
    def draw(self, dim: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal((dim + 1, self.width)).T


class WrongCount(FourierFeatures):
    def count(self, dim: int) -> int:
        return self.width + 1


class WrongPart(FourierFeatures):
    def features_of(self, weights: Floats, X: Floats, part: slice | None = None) -> Floats:
        return super().features_of(weights, X, part and slice(part.start, part.start + 1))


class WrongExact(FourierFeatures):
    def exact(self, X: Floats, Y: Floats | None = None) -> Floats:
        return np.tril(super().exact(X, Y))


class ExactUntold(FourierFeatures):
    has_exact: ClassVar[bool] = False


class Nothing(Network):
    """Neither trained nor a map to features."""


THREE: dict[str, Any] = {"width": 5, "outer_width": 4}
SEVERAL: dict[str, Any] = {"width": 4, "depth": 2, "outputs": 2}


@pytest.mark.parametrize(
    ("network", "says"),
    [
        (RandomStart(width=3), r"initialise: equal generators give different weights"),
        (LongStart(width=3), r"initialise gives float64 \(16,\), size\(\) = 15, loops\(\).size = 15"),
        (WrongTrained(width=3), r"trained = range\(0, 16\): must be a part of range\(15\)"),
        (WrongOutputs(**SEVERAL), r"loops\(\).outputs = 2, output_count\(\) = 3"),
        (OfTheBatch(width=3), "forward of a row alone and among others"),
        (AnotherForward(width=3), r"forward and loops\(\).value"),
        (WrongGradient(width=3), "gradient and central differences: they differ by"),
        (WrongLoss(width=3), "loss_and_gradient's loss and"),
        (GradientOfItsOwn(width=3), "gradient is not that of loss_and_gradient"),
        (SquaredAlways(width=3), r"with loss \w+\(.*loss_and_gradient's loss and the mean of loss.value"),
        (LossForgotten(width=3), r"with loss .*: gradient is not that of loss_and_gradient"),
        (Unweighted(width=3), r"^unweighted\(width=3\).gradient and central differences"),
        (SquaredInDouble(width=3), r"with loss .*loss_and_gradient's loss and the mean of loss.value"),
        (SquaredInSingle(width=3), r"with loss .*: the loss in float32 and float64"),
        (TransposedPull(**SEVERAL), "pull and central differences"),
        (WrongPush(width=3), "push and central differences"),
        (UntrainedRead(width=3, trained="first"), "push reads v where θ is not trained"),
        (WrongKernel(width=3), "tangent_gram and J Jᵀ"),
        (SumOverOutputs(**SEVERAL), "tangent_gram and J Jᵀ"),
        (OutputsInAnotherOrder(width=3, outputs=2), "tangent_blocks and J Jᵀ"),
        (BlocksUntold(width=3, outputs=2), "has_tangent_blocks = False"),
        (FeaturesPromised(**THREE), "has_features = True, but features is not there"),
        (FeaturesUntold(width=3), "has_features = False, but features is there"),
        (NeuronsUntold(width=3), "has_neurons = False, but neurons is there"),
        (WrongDirections(width=3), r"z orthogonal to directions\(\)"),
        (StagesUntold(width=3, outputs=2), "stages: has_stages = False"),
        (WrongStages(width=3, outputs=2), "must be a part of range"),
        (SaysBounded(width=3), r"\|f\| goes from .* to .* as ‖x‖ grows .*; unbounded\(\) must say why"),
        (SaysGrowing(**THREE), r"\|f\| goes from .*; grows\(theta\) = True"),
        (WrongLimit(width=3), r"limit_kernel\(4, None\) gives a ndarray: must give a Limit"),
        (LimitOfTwoLines(width=3), "the error must be one line"),
        (LimitOfAnotherRadius(width=3), "on the sphere of radius 1.0 and in R"),
        (TakesAnything(width=3), "forward with NaN in X: must raise BadInput"),
        (WrongOuter(**THREE), r"outer\(w, b, first_layer\(X\)\) and forward"),
        (WrongAlpha(**THREE), r"alpha and the mean of F\(x\)/‖x‖"),
        (WrongMeanAlpha(**THREE), "mean_alpha and the mean of alpha"),
        (RandomDraw(width=3), "draw: equal generators give different weights"),
        (DrawnByColumns(width=3), "the first rows of a draw three times as wide are not the narrow one's"),
        (WrongCount(width=3), r"shape \(6, 3\); 6 inputs and count\(\) = 4 features"),
        (WrongPart(width=3), r"part = slice\(0, 0\) and these columns"),
        (WrongExact(width=3), "exact: it and its transpose"),
        (ExactUntold(width=3), "has_exact = False, but exact is there"),
        (Nothing(), "must be a subclass of Trainable or FeatureMap"),
        (np.tanh, "not a subclass of Network"),
    ],
)
def test_a_planted_mistake_is_found(network: Network, says: str) -> None:
    with pytest.raises(AssertionError, match=says) as refusal:
        networks.check(network)
    assert "\n" not in str(refusal.value)


class Bare(TwoLayer):
    """A two-layer net as another package would have it."""


def test_a_kind_of_another_package_is_taken() -> None:
    assert Bare.room == "networks"
    assert Bare.kind == "bare"
    networks.check(Bare(width=4, activation="tanh"))
