"""Both layouts of a tile of an mlp, one column or one row per sample: the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import networks
from simlab.core.lines import LINE_FLOATS, aligned
from simlab.networks import _mlp_rows, _mlp_tile
from simlab.networks._mlp_parts import ADD, DOWN, SET, backward, space_size
from simlab.networks.bound import Bound


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("rows", "add"), [(200, False), (200, True), (129, False)])
@pytest.mark.parametrize(
    "fields",
    [
        {"width": 70, "depth": 3, "outputs": 3, "weight_std": 1.4, "bias_std": 0.3},
        {"width": 130, "depth": 2},
        {"width": 128, "depth": 3, "weight_std": 1.4, "bias_std": 0.3},  # the bias has a word of its own
        {"width": 64, "depth": 5, "bottleneck": 100, "outputs": 2},
    ],
)
def test_tiles_that_skip_zeros_have_the_same_bits(fields: dict[str, Any], rows: int, add: bool, dtype: Any) -> None:
    """Both layouts of one tile: f and the gradient; a bias that is never skipped, words that are not full."""
    net, rng, dim = networks.MLP(**fields), np.random.default_rng(0), 7
    bound = Bound(net, dim, dtype)
    theta, X = net.initialise(dim, rng).astype(dtype), rng.standard_normal((rows, dim)).astype(dtype)
    R, start = rng.standard_normal((net.outputs, rows)).astype(dtype), rng.standard_normal(theta.size).astype(dtype)
    sizes = bound.loops.sizes
    assert _mlp_rows.skips(sizes, rows)
    assert not _mlp_rows.skips(sizes, 20)
    found = []
    for by_rows, call in ((False, 2), (True, 4)):
        at, out = bound.net(theta), start.copy()
        tile = aligned(np.full(space_size(sizes, rows, by_rows) + LINE_FLOATS, np.nan, dtype))
        f = _mlp_tile._forwards(at.calls[call], bound.act, at, X, tile).copy()
        for number in range(net.depth, 0, -1):
            if number > 1:
                backward(at.calls[call + 1], at, R, out, tile, number, DOWN)
            backward(at.calls[call + 1], at, R, out, tile, number, ADD if add else SET)
        found.append((f, out))
    (f, gradient), (same_f, same_gradient) = found
    assert np.array_equal(f, same_f)
    assert np.array_equal(gradient, same_gradient)
    np.testing.assert_allclose(f.T.reshape(rows, -1), net.forward(theta, X).reshape(rows, -1), rtol=0, atol=2e-4)
