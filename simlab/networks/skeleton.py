"""The loops of every network: ∇R and J v over tiles of rows, from what a network does with one tile. MATH §6, §10.

A *tile* is some rows of X, few enough that what is computed of them stays in the cache. A network says what it does
with one (`Tile`), and `loops_over` makes the loops of `simlab.networks.signature` from that, for any loss, over all
rows and on all threads.

Rows are divided into blocks. The number of blocks depends on n and the network alone. Each block has its own gradient,
and these are added in order: the same bits on any number of threads. A thread reuses its space for all of its blocks:
with a space per block, 48 MB at (n, d, m) = (4000, 64, 4000) of two layers, a step took 1.5 times as long.

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
TILE_FLOATS, LEAST_ROWS = 1 << 22, 16


class Into(NamedTuple):
    """Where a block of rows puts what it found.

    out: gradient, of the length of θ.
    sums: sums in float64, as many as `sum_count` says.
    """

    out: Reals
    sums: NDArray[np.float64]


@jit
def fitting_rows(floats: int, most: int) -> int:
    """Rows of a tile: `most`, or as many as fit into `TILE_FLOATS`, each taking so many `floats`, but at least 16."""
    return int(max(LEAST_ROWS, min(most, TILE_FLOATS // floats)))


@jit
def stored_rows(sizes: Sizes, n: int) -> int:
    """`Tile.rows` of a network whose first size is the most rows of a tile."""
    return int(max(1, min(n, sizes[0])))


@jit
def row_blocks(sizes: Sizes, n: int) -> int:
    """`Tile.blocks` of a network that divides the rows among the threads."""
    return max(1, min(MOST_BLOCKS, n // BLOCK_ROWS))


@jit
def one_block(sizes: Sizes, n: int) -> int:
    """`Tile.blocks` of a network that does not."""
    return 1


@jit
def _nothing_shared(sizes: Sizes, size: int) -> int:
    return 0


@jit
def _nothing_prepared(net: Net, shared: Reals) -> int:
    return 0


@jit
def _no_sums(known: Any) -> int:
    return 0


@jit
def _nothing_left(net: Net, known: Any, sums: Any, out: Reals) -> None:
    pass


@jit
def unscaled(numbers: Reals) -> int:
    """`Tile.scale` of a network whose outputs are f themselves."""
    return 1


class Tile(NamedTuple):
    """What a network does with a tile of t rows X : (t, d), as compiled functions (`simlab.core.jit.jit`).

    F : (c, t'), t' ≥ t, are outputs, one column per row of X; columns from t on are padding.

    forwards: ``(act, net, known, X, space) -> F``: outputs in units of `scale`; keeps what `backwards` needs.
    backwards: ``(net, known, X, R, into, add, space)``: Σ_i J_iᵀ R_i into `into` (`Into`), added to it where `add`. R
        lies where `forwards` wrote F, with the factor `scale` in it.
    pushed: ``(act, net, known, v, X, space) -> F``: J v in units of `scale`; outputs, where v is empty.
    rows: ``(sizes, n)``: rows of the largest tile of n rows.
    space_size: ``(sizes, t)``: reals of workspace, `space`, of one tile.
    blocks: ``(sizes, n)``: number of blocks that n rows are divided into.
    shared_size: ``(sizes, size of θ)``: reals of workspace that `prepare` fills once for all tiles.
    prepare: ``(net, shared) -> known``: what all tiles need of the weights, of any type.
    sum_count: ``(known)``: how many float64 sums a block gives beside its gradient.
    finish: ``(net, known, sums, out)``: in place, the gradient from what all blocks gave, those of one after another.
    scale: ``(numbers)``: what outputs are multiplied with.
    even: tiles of `gradient` are of equal length up to one row; otherwise the last is shorter.
    in_place: `backwards` does not read what it has added to: with `add`, and one tile, `into.out` may be θ itself.
    calls: compiled functions that these call by address (`simlab.core.outlined`), in the order of `Net.calls`.
    """

    forwards: Any
    backwards: Any
    pushed: Any
    rows: Any
    space_size: Any
    blocks: Any = one_block
    shared_size: Any = _nothing_shared
    prepare: Any = _nothing_prepared
    sum_count: Any = _no_sums
    finish: Any = _nothing_left
    scale: Any = unscaled
    even: bool = False
    in_place: bool = False
    calls: tuple[PerReal, ...] = ()


class Compiled(NamedTuple):
    """The loops over one kind of tile.

    gradient, push: as in `simlab.networks.signature`.
    scratch: (sizes, size of θ, n) → reals of workspace.
    tile: what they are made of.
    name: their name in numba's cache.
    """

    gradient: PerReal
    push: PerReal
    scratch: Callable[[Sizes, int, int], int]
    tile: Tile
    name: str


def loops_over(tile: Tile, name: str) -> Compiled:
    """The loops over one kind of tile.

    name: name for numba's cache, of its own for each kind of tile.
    """
    forwards, backwards, pushed, tile_rows, space_size, blocks, shared_size, prepare = tile[:8]
    sum_count, finish, scale, even, in_place, _ = tile[8:]
    # Known when compiled, so that what is not needed is not compiled.
    scaled = scale is not unscaled  # the loss then takes α·scale in one product
    several = blocks is not one_block

    @jit(named=name)
    def block(act: Any, loss: Any, net: Net, known: Any, rows: Rows, goal: Goal, into: Into, spare: Reals) -> float:
        """∇R over these rows into `into`, and Σ ℓ returned.

        goal.mean: here the number of rows of all blocks together, or 0 for a sum.
        spare: space of one tile.
        """
        n = rows.X.shape[0]
        most = tile_rows(net.sizes, max(goal.mean, n))
        tiles = -(-n // most)
        factor, count = goal.alpha * scale(net.numbers), max(1, goal.mean)
        total = 0.0
        for k in range(tiles):
            begin, end = (k * n // tiles, (k + 1) * n // tiles) if even else (k * most, min(n, (k + 1) * most))
            X = rows.X[begin:end]
            F = forwards(act, net, known, X, spare)
            if scaled:  # recorded runs depend to the bit on these operations and their order
                double = F.itemsize == 8
                total += loss(F, rows.Y[begin:end], factor, factor if double else factor / count, goal.numbers)
                if double:
                    for c in range(F.shape[0]):
                        for i in range(end - begin):
                            F[c, i] /= count
            else:
                if factor != 1:
                    for c in range(F.shape[0]):
                        for i in range(end - begin):
                            F[c, i] *= factor
                slope = net.theta.dtype.type(-goal.rate * factor / count) if in_place and goal.rate else factor / count
                total += loss(F, rows.Y[begin:end], net.theta.dtype.type(1), slope, goal.numbers)
            if in_place and goal.rate and not (np.isfinite(total) and total / count <= goal.limit):
                return float(total)
            backwards(net, known, X, F, into, k > 0 or (in_place and goal.rate != 0), spare)
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
        n, reserved = rows.X.shape[0], shared_size(net.sizes, net.theta.size)
        known = prepare(net, scratch[:reserved])
        count = blocks(net.sizes, n)
        sums = np.empty(count * sum_count(known))
        own = Goal(goal.alpha, n if goal.mean else 0, goal.numbers, goal.rate, goal.limit)
        total = -1.0
        if several and count > 1:  # one block without threads: a parallel region costs more than a small batch
            total = blockwise(act, loss, net, known, rows, own, Into(out, sums), scratch[reserved:])
        if count == 1:
            total = block(act, loss, net, known, rows, own, Into(out, sums), scratch[reserved:])
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
        reserved = shared_size(net.sizes, net.theta.size)
        known = prepare(net, scratch[:reserved])
        count = blocks(net.sizes, X.shape[0])
        if several and count > 1:
            push_blockwise(act, net, known, v, X, out, scratch[reserved:])
        if count == 1:
            push_block(act, net, known, v, X, out, scratch[reserved:])

    def scratch(sizes: Sizes, size: int, n: int) -> int:
        count = blocks(sizes, n)
        gradients = count * size if count > 1 else 0
        return int(shared_size(sizes, size) + gradients + count * space_size(sizes, tile_rows(sizes, n)))

    return Compiled(gradient, push, scratch, tile, name)
