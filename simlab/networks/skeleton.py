"""The loops of every network: ∇R and J v over tiles of rows, from what a network does with one tile. MATH §6, §10.

A *tile* is some rows of X, few enough that what is computed of them stays in the cache. What a network does with one is
a module with these compiled functions; t is the number of rows of X, ``space`` the reals of workspace of one tile, and
F : (c, t'), t' ≥ t, are outputs, one column per row of X:

- ``blocks(sizes, n)``: number of blocks that n rows are divided into for the threads: 1 for a network that has none, or
  whose tiles use the threads themselves;
- ``tile_rows(sizes, n)``: rows of the largest tile;
- ``space_size(sizes, t)``: reals of the space of one tile;
- ``shared_size(sizes)``: reals of the space that `prepare` fills once for all tiles;
- ``prepare(net, shared) -> known``: what all tiles need of the weights; any type;
- ``sum_count(known)``: how many float64 sums of a block are kept, beside its gradient;
- ``forwards(act, net, known, X, space) -> F``: outputs in units of `scale`, what `backwards` needs being kept;
- ``backwards(net, known, X, into, add, space)``: Σ_i J_iᵀ R_i into `into` (`Into`), added to it where `add`. R is
  expected where `forwards` wrote F, times `scale`;
- ``finish(net, known, sums, out)``: the gradient from what all blocks gave, in place;
- ``pushed(act, net, known, v, X, space) -> F``: outputs, or J v where v is not empty; in units of `scale`;
- ``scale(numbers)``: what outputs are multiplied with; a network without such a factor gives 1;

and two constants: EVEN, whether tiles of `gradient` are of equal length, up to one row; SCALED, whether `scale` is more
than 1: the loss then takes α·scale in one product, which the compiler fuses with what comes after it.

The number of blocks depends on n and the network alone. Each block has its own gradient, and these are added in order:
the same bits on any number of threads. A thread reuses its tile for all of its blocks: with a tile per block, 48 MB at
(n, d, m) = (4000, 64, 4000) of two layers, a step took 1.5 times as long.

Scratch: shared | with several blocks one gradient (size,) per block | the space of a tile, per thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from simlab.core.jit import PerReal, jit, per_real
from simlab.networks.signature import GRADIENT, PUSH, Goal, Net, Reals, Rows

Sizes = NDArray[np.int64]
MOST_BLOCKS = 4
BLOCK_ROWS = 128  # fewer rows are not worth a thread


class Into(NamedTuple):
    """Where a block of rows puts what it found.

    out: gradient, of the length of θ.
    sums: sums in float64, as many as `sum_count` says.
    """

    out: Reals
    sums: NDArray[np.float64]


class Compiled(NamedTuple):
    """The loops over one kind of tile.

    gradient, push: as in `simlab.networks.signature`.
    scratch: (sizes, size of θ, n) → reals of workspace.
    tile: the module that they are made of.
    """

    gradient: PerReal
    push: PerReal
    scratch: Callable[[Sizes, int, int], int]
    tile: Any


@jit
def row_blocks(n: int) -> int:
    """Number of blocks of n rows, for networks that divide the rows among the threads."""
    return max(1, min(MOST_BLOCKS, n // BLOCK_ROWS))


@jit
def one_block(sizes: Sizes, n: int) -> int:
    """`blocks` of a network that does not divide the rows."""
    return 1


@jit
def nothing_shared(sizes: Sizes) -> int:
    """`shared_size` of a network that prepares nothing."""
    return 0


@jit
def nothing_prepared(net: Net, shared: Reals) -> int:
    """`prepare` of such a network."""
    return 0


@jit
def no_sums(known: Any) -> int:
    """`sum_count` of a network whose gradient is all that a block gives."""
    return 0


@jit
def nothing_left(net: Net, known: Any, sums: Any, out: Reals) -> None:
    """`finish` of such a network."""


@jit
def unscaled(numbers: Reals) -> int:
    """`scale` of a network whose outputs are f itself."""
    return 1


def loops_over(tile: Any, name: str) -> Compiled:
    """The loops over one kind of tile.

    tile: module, or object, with the functions listed above.
    name: name for numba's cache, of its own for each kind of tile.
    """
    blocks, tile_rows, space_size, shared_size = tile.blocks, tile.tile_rows, tile.space_size, tile.shared_size
    prepare, sum_count, forwards, backwards = tile.prepare, tile.sum_count, tile.forwards, tile.backwards
    finish, pushed, scale = tile.finish, tile.pushed, tile.scale
    even, scaled = tile.EVEN, tile.SCALED

    @jit(named=name)
    def block(act: Any, loss: Any, net: Net, known: Any, rows: Rows, goal: Goal, into: Into, spare: Reals) -> float:
        """∇R over these rows into `into`, and Σ ℓ returned.

        goal.mean: here the number of rows of all blocks together, or 0 for a sum.
        spare: space of one tile.
        """
        n = rows.X.shape[0]
        most = tile_rows(net.sizes, max(goal.mean, n))
        tiles = -(-n // most)
        factor = goal.alpha * scale(net.numbers)
        weight = factor / max(1, goal.mean)
        total = 0.0
        for k in range(tiles):
            begin, end = (k * n // tiles, (k + 1) * n // tiles) if even else (k * most, min(n, (k + 1) * most))
            X = rows.X[begin:end]
            F = forwards(act, net, known, X, spare)
            if scaled:
                total += loss(F, rows.Y[begin:end], factor, weight, goal.numbers)
            else:
                if factor != 1:
                    for c in range(F.shape[0]):
                        for i in range(end - begin):
                            F[c, i] *= factor
                total += loss(F, rows.Y[begin:end], factor / factor, weight, goal.numbers)
            backwards(net, known, X, into, k > 0, spare)
        return total

    @jit(parallel=True, named=name)
    def blockwise(
        act: Any, loss: Any, net: Net, known: Any, rows: Rows, goal: Goal, into: Into, scratch: Reals
    ) -> float:
        """As `block`, over several blocks of rows. Thread i takes the blocks i, i + threads, …

        into: `out` for all, `sums` of each block one after another.
        """
        n, P = rows.X.shape[0], net.theta.size
        count = blocks(net.sizes, n)
        each, own_sums = space_size(net.sizes, tile_rows(net.sizes, n)), into.sums.size // count
        totals = np.zeros(count)
        threads = min(count, net.threads)
        for thread in prange(threads):
            spare = scratch[count * P + thread * each : count * P + (thread + 1) * each]
            for k in range(thread, count, threads):
                first, last = k * n // count, (k + 1) * n // count
                own = Into(scratch[k * P : (k + 1) * P], into.sums[k * own_sums : (k + 1) * own_sums])
                some = Rows(rows.X[first:last], rows.Y[first:last])
                totals[k] = block(act, loss, net, known, some, goal, own, spare)
        out = into.out
        for p in range(net.begin, net.end):  # block by block in order, whatever thread computed it
            along = scratch[p]
            for k in range(1, count):
                along += scratch[k * P + p]
            out[p] = along
        return float(np.sum(totals))

    @per_real(GRADIENT, named=name)
    def gradient(act: Any, loss: Any, net: Net, rows: Rows, goal: Goal, out: Reals, scratch: Reals) -> float:
        n, reserved = rows.X.shape[0], shared_size(net.sizes)
        known = prepare(net, scratch[:reserved])
        count = blocks(net.sizes, n)
        sums = np.empty(count * sum_count(known))
        own = Goal(goal.alpha, n if goal.mean else 0, goal.numbers)
        if count == 1:  # without threads: a parallel region costs more than a small batch
            total = block(act, loss, net, known, rows, own, Into(out, sums), scratch[reserved:])
        else:
            total = blockwise(act, loss, net, known, rows, own, Into(out, sums), scratch[reserved:])
        finish(net, known, sums, out)
        return float(total / n if goal.mean else total)

    @jit(named=name)
    def push_block(act: Any, net: Net, known: Any, v: Reals, X: Reals, out: Reals, spare: Reals) -> None:
        """out ← J v, or f where v is empty, of these rows, in tiles of the length of `spare`."""
        n = X.shape[0]
        factor = scale(net.numbers)
        most = tile_rows(net.sizes, n)
        for begin in range(0, n, most):
            t = min(most, n - begin)
            F = pushed(act, net, known, v, X[begin : begin + t], spare)
            for i in range(t):
                for c in range(F.shape[0]):
                    out[begin + i, c] = factor * F[c, i]

    @jit(parallel=True, named=name)
    def push_blockwise(act: Any, net: Net, known: Any, v: Reals, X: Reals, out: Reals, scratch: Reals) -> None:
        n = X.shape[0]
        count = blocks(net.sizes, n)
        each = space_size(net.sizes, tile_rows(net.sizes, n))
        for k in prange(count):
            first, last = k * n // count, (k + 1) * n // count
            push_block(act, net, known, v, X[first:last], out[first:last], scratch[k * each : (k + 1) * each])

    @per_real(PUSH, named=name)
    def push(act: Any, net: Net, v: Reals, X: Reals, out: Reals, scratch: Reals) -> None:
        reserved = shared_size(net.sizes)
        known = prepare(net, scratch[:reserved])
        if blocks(net.sizes, X.shape[0]) == 1:
            push_block(act, net, known, v, X, out, scratch[reserved:])
        else:
            push_blockwise(act, net, known, v, X, out, scratch[reserved:])

    def scratch(sizes: Sizes, size: int, n: int) -> int:
        count = blocks(sizes, n)
        gradients = count * size if count > 1 else 0
        return int(shared_size(sizes) + gradients + count * space_size(sizes, tile_rows(sizes, n)))

    return Compiled(gradient, push, scratch, tile)
