"""Whether a loss keeps the contract: its own tests run on every kind, also on one from another package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.checking import check_value, ensure
from simlab.core.errors import BadInput
from simlab.losses.loss import Loss

Array = NDArray[Any]
Floats = NDArray[np.float64]
SAMPLES = 40
STEP = 1e-6  # of differences
SPREADS = (1.0, 30.0, 300.0)  # sizes of the outputs between which chords are drawn
LARGE = 1000.0  # |f| up to which nothing may overflow
PADDING = 3  # columns of a tile beyond its samples
DIFFERENCES = 1e-5  # largest error of a slope or curvature against a difference, relative to 1 + its size
DIGITS = {np.float64: 1e-11, np.float32: 2e-5}
"""Float type → largest error of a tile, relative to 1 + the size of what it should be."""


def check_loss(loss: Loss) -> None:
    """Raise AssertionError, one line, where the loss breaks the contract.

    Its slope may change on the scale 0.001 or more: differences are taken over steps of 1e-6, at random places, which
    meet no kink.
    """
    check_value(loss, Loss)
    numbers = loss.numbers()
    ensure(
        numbers.dtype == np.float64 and numbers.ndim == 1,
        f"{loss!r}: numbers() must be a float64 vector, not {numbers!r}",
    )
    for outputs in _outputs(loss):
        rng = np.random.default_rng(0)
        y = some_labels(loss, outputs, rng)
        f = 2.0 * rng.standard_normal(y.shape)
        _check_shapes(loss, f, y)
        _check_slope(loss, f, y)
        _check_curvature(loss, f, y)
        _check_convex(loss, y, rng)
        _check_conjugate(loss, f, y, rng)
        _check_large(loss, y, rng)
        for dtype in DIGITS:
            _check_tile(loss, f, y, dtype)
        _check_encode(loss, y)


def _outputs(loss: Loss) -> tuple[int, ...]:
    return (2, 4) if loss.labels == "classes" else (1, 3)


def some_labels(loss: Loss, outputs: int, rng: np.random.Generator) -> Floats:
    """Random labels y : (SAMPLES, outputs), through `encode`."""
    if loss.labels == "real":
        return loss.encode(rng.standard_normal((SAMPLES, outputs)), outputs)
    if outputs == 1:
        return loss.encode(rng.choice([-1.0, 1.0], SAMPLES), outputs)
    return loss.encode(rng.integers(outputs, size=SAMPLES), outputs)


def _close(got: Array, wanted: Array, digits: float) -> bool:
    return bool(np.all(np.abs(got - wanted) <= digits * (1.0 + np.abs(wanted))))


def _check_shapes(loss: Loss, f: Floats, y: Floats) -> None:
    n, c = f.shape
    curvature = (n, c) if loss.separable else (n, c, c)
    for name, got, shape in (
        ("value", loss.value(f, y), (n,)),
        ("slope", loss.slope(f, y), (n, c)),
        ("curvature", loss.curvature(f, y), curvature),
        ("conjugate", loss.conjugate(loss.slope(f, y), y), (n,)),
    ):
        ensure(got.shape == shape, f"{loss!r}.{name} has shape {got.shape}; must be {shape}")
        ensure(got.dtype == np.float64, f"{loss!r}.{name} is {got.dtype}; must be float64")
        ensure(np.isfinite(got).all(), f"{loss!r}.{name} is not finite for outputs of size 1")
    if loss.separable:
        parts = sum(loss.value(f[:, [k]], y[:, [k]]) for k in range(c))
        ensure(
            _close(loss.value(f, y), np.asarray(parts), 1e-12),
            f"{loss!r}: separable, but no sum of that of each output",
        )


def _moved(f: Floats) -> Iterator[tuple[int, Floats, Floats]]:
    """(k, f with STEP more, f with STEP less in output k)"""
    for k in range(f.shape[1]):
        step = np.zeros_like(f)
        step[:, k] = STEP
        yield k, f + step, f - step


def _check_slope(loss: Loss, f: Floats, y: Floats) -> None:
    slopes = loss.slope(f, y)
    for k, above, below in _moved(f):
        difference = (loss.value(above, y) - loss.value(below, y)) / (2 * STEP)
        worst = int(np.argmax(np.abs(slopes[:, k] - difference)))
        ensure(
            _close(slopes[:, k], difference, DIFFERENCES),
            f"{loss!r}: slope {slopes[worst, k]:.9g} at f, y = {f[worst]}, {y[worst]}, "
            f"but a difference of values gives {difference[worst]:.9g}",
        )


def _check_curvature(loss: Loss, f: Floats, y: Floats) -> None:
    found = loss.curvature(f, y)
    full = found[:, :, None] * np.eye(f.shape[1]) if loss.separable else found
    for k, above, below in _moved(f):
        difference = (loss.slope(above, y) - loss.slope(below, y)) / (2 * STEP)
        worst = int(np.argmax(np.abs(full[:, :, k] - difference).max(axis=1)))
        ensure(
            _close(full[:, :, k], difference, DIFFERENCES),
            f"{loss!r}: curvature {full[worst, :, k]} at f, y = {f[worst]}, {y[worst]}, "
            f"but a difference of slopes gives {difference[worst]}",
        )


def _check_convex(loss: Loss, y: Floats, rng: np.random.Generator) -> None:
    """ℓ((1−λ)f + λg) ≤ (1−λ)ℓ(f) + λℓ(g)"""
    for spread in SPREADS:
        f, g = spread * rng.standard_normal((2, *y.shape))
        share = rng.random((len(y), 1))
        middle = loss.value((1 - share) * f + share * g, y)
        chord = (1 - share[:, 0]) * loss.value(f, y) + share[:, 0] * loss.value(g, y)
        over = middle - chord - 1e-12 * (1.0 + np.abs(chord))
        worst = int(np.argmax(over))
        ensure(
            over[worst] <= 0,
            f"{loss!r}: not convex: {middle[worst]:.9g} between f = {f[worst]} and {g[worst]}, y = {y[worst]}, "
            f"where the chord is at {chord[worst]:.9g}",
        )


def _check_conjugate(loss: Loss, f: Floats, y: Floats, rng: np.random.Generator) -> None:
    """Fenchel and Young: ⟨f, s⟩ ≤ ℓ(f) + ℓ*(s), with equality at s = ℓ'(f)."""
    values, slopes = loss.value(f, y), loss.slope(f, y)
    product, both = np.sum(f * slopes, axis=1), values + loss.conjugate(slopes, y)
    worst = int(np.argmax(np.abs(product - both)))
    ensure(
        _close(both, product, 1e-8),
        f"{loss!r}: ℓ(f) + ℓ*(s) = {both[worst]:.9g} at s = ℓ'(f), f, y = {f[worst]}, {y[worst]}; "
        f"must be ⟨f, s⟩ = {product[worst]:.9g}",
    )
    for s in (loss.slope(5.0 * rng.standard_normal(f.shape), y), rng.standard_normal(f.shape)):
        product, both = np.sum(f * s, axis=1), values + loss.conjugate(s, y)
        over = product - both
        worst = int(np.argmax(over))
        ensure(
            over[worst] <= 1e-9 * (1.0 + abs(product[worst])),
            f"{loss!r}: ⟨f, s⟩ = {product[worst]:.9g} at f, s, y = {f[worst]}, {s[worst]}, {y[worst]}; "
            f"must be at most ℓ(f) + ℓ*(s) = {both[worst]:.9g}",
        )


def _check_large(loss: Loss, y: Floats, rng: np.random.Generator) -> None:
    """Nothing overflows, from Python or in tiles of either float type."""
    tile, a = loss.tile()
    for size in (30.0, 100.0, LARGE):
        f = size * rng.choice([-1.0, 1.0], y.shape)
        for name, got in (
            ("value", loss.value(f, y)),
            ("slope", loss.slope(f, y)),
            ("curvature", loss.curvature(f, y)),
        ):
            ensure(np.isfinite(got).all(), f"{loss!r}: {name} is not finite at |f| = {size:g}")
        for dtype in DIGITS:
            F, Y = np.array(f.T, dtype, order="C"), y.astype(dtype)
            total = tile(F, Y, dtype(1), dtype(1), a)
            for name, fine in (("value", np.isfinite(total)), ("slope", np.isfinite(F).all())):
                ensure(fine, f"{loss!r}: tile: {name} is not finite at |f| = {size:g} in {np.dtype(dtype).name}")


def _check_tile(loss: Loss, f: Floats, y: Floats, dtype: Any) -> None:
    """A tile gives the sum of values and the slopes, sample by sample too, and leaves its padding alone."""
    tile, a = loss.tile()
    n, c = f.shape
    factor, weight = dtype(0.75), dtype(-0.5)
    Y = y.astype(dtype)
    F = np.full((c, n + PADDING), np.nan, dtype)
    F[:, :n] = f.T
    # What the tile is given in float32 is what it is compared on.
    scaled, labels = float(factor) * F[:, :n].T.astype(np.float64), Y.astype(np.float64)
    values, slopes = loss.value(scaled, labels), float(weight) * loss.slope(scaled, labels)
    single, before = F.copy(), Y.copy()
    total = tile(F, Y, factor, weight, a)
    where, digits = f"{loss!r}: tile in {np.dtype(dtype).name}", DIGITS[dtype]
    ensure(
        abs(total - values.sum()) <= digits * (1.0 + abs(values.sum())),
        f"{where}: returns {total:.9g}, but the values sum to {values.sum():.9g}",
    )
    ensure(_close(F[:, :n].T, slopes, digits), f"{where}: writes other slopes than weight·slope(factor·f, y)")
    ensure(np.isnan(F[:, n:]).all(), f"{where}: writes over columns of padding")
    ensure(np.array_equal(Y, before), f"{where}: changes the labels")
    for i in range(n):
        one = np.array(single[:, [i]], order="C")
        alone = tile(one, Y[[i]], factor, weight, a)
        same = _close(one[:, 0], F[:, i], digits) and abs(alone - values[i]) <= digits * (1.0 + abs(values[i]))
        ensure(same, f"{where}: sample {i} alone gives something else than within the tile")


def _check_encode(loss: Loss, y: Floats) -> None:
    """What `encode` gives passes through it again; what fits no loss is refused in one line that names it."""
    c = y.shape[1]
    ensure(y.dtype == np.float64 and y.flags.c_contiguous, f"{loss!r}.encode: must give float64, C-contiguous")
    ensure(np.array_equal(loss.encode(y, c), y), f"{loss!r}.encode: changes labels that are encoded already")
    for what, bad in wrong_labels(loss, y).items():
        try:
            loss.encode(bad, c, "given")
        except BadInput as error:
            line = str(error)
            ensure("given" in line and "\n" not in line, f"{loss!r}.encode: {what}: the error is {line!r}")
        else:
            raise AssertionError(f"{loss!r}.encode: takes {what}; must raise BadInput")


def wrong_labels(loss: Loss, y: Floats) -> dict[str, Any]:
    """What is wrong → labels that `encode` must refuse, for y : (n, c) that it gave."""
    n, c = y.shape
    nan, infinite, half = y.copy(), y.copy(), y.copy()
    nan[1, 0], infinite[1, 0], half[1, 0] = np.nan, np.inf, 0.5
    found = {
        "NaN": nan,
        "infinity": infinite,
        "text": ["a", "b"] * n,
        "one output too many": np.concatenate([y, y[:, :1]], axis=1),
        "three dimensions": y[:, :, None],
    }
    if loss.labels == "real":
        return found
    more = {"a real number": half, "one class only": np.repeat(y[:1], n, axis=0)}
    return found | more | ({"a class that no output stands for": [*range(c), c]} if c > 1 else {})
