"""Gram matrices of several kernels in one pass over tiles of the data. MATH §3.

A tile: inner products of unit vectors (BLAS, one thread), then for each leaf kernel one table look-up per pair, or the
recursion where there is no table; pairs nearer than z = 1e-6 (duplicates, antipodes, the diagonal) are then
recomputed from the difference of their vectors by the recursion. Only tiles on and below the diagonal are computed,
the others are their mirrors. Tiles are shared out over Python threads (compiled code and BLAS release the GIL); a
number depends on the data alone, not on the threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from simlab.core import checks
from simlab.core.blas import one_blas_thread
from simlab.core.errors import BadInput, shown
from simlab.core.jit import jit
from simlab.core.resources import cores
from simlab.kernels.gram import table
from simlab.kernels.gram.pairs import correlations, row_norms
from simlab.kernels.gram.stack import Stack, by_family, table_for
from simlab.kernels.kernel import Floats, Kernel, Leaf, Pairs, leaves_of

TILE_ROWS = 384
CHUNK_ROWS = 4096  # of the inputs, where all of them are read once
MOST_THREADS = 4096
CHUNK_SECONDS = 0.25
SPHERE_RTOL = 1e-13
"""Relative spread of squared norms up to which data are taken to lie on a sphere."""


def gram(
    kernels: Kernel | Sequence[Kernel],
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    dtype: DTypeLike = np.float64,
    out: Sequence[NDArray[Any]] | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[NDArray[Any]]:
    """K(x_i, y_j) : (n, m) of each kernel, with Y = X (and K symmetric to the bit) where none is given.

    X : (n, d), Y : (m, d), inputs.
    dtype: of the result, float64 or float32; computed in float64.
    out: one array per kernel, (n, m), to fill.
    threads: number of threads; all usable cores where none is given.
    progress: called with (pairs done, pairs in all).

    The error is that of the recursion, plus 1e-13 of the largest value for the tables, plus what the rounding of an
    inner product to 1e-16 makes of a pair with z ≥ 1e-6.
    """
    chosen = [kernels] if isinstance(kernels, Kernel) else checks.listed(kernels, "kernels", "a list of kernels")
    if wrong := [kernel for kernel in chosen if not isinstance(kernel, Kernel)]:
        raise BadInput(f"kernels: {shown(wrong[0])} is not a kernel; give a list of them")
    if threads is not None:
        threads = checks.whole(threads, "threads", least=1, most=MOST_THREADS)
    if progress is not None:
        checks.function(progress, "progress")
    kind = checks.float_type(dtype)
    left = inputs(X, "X")
    right = left if Y is None else inputs(Y, "Y")
    if left.shape[1] != right.shape[1]:
        raise BadInput(f"X has {left.shape[1]} columns and Y {right.shape[1]}: they must agree")
    shape = (left.shape[0], right.shape[0])
    if out is None:
        checks.memory(len(chosen) * shape[0] * shape[1] * kind.itemsize // 8, f"X: a Gram matrix of shape {shape}")
    arrays = [np.empty(shape, dtype=kind) for _ in chosen] if out is None else _checked(out, shape, len(chosen))
    assembly = Assembly.of(chosen, left, right, Y is None)
    assembly.fill(arrays, slice(0, shape[0]), slice(0, shape[1]), threads or cores(), progress)
    return arrays


def _checked(out: Sequence[NDArray[Any]], shape: tuple[int, int], count: int) -> list[NDArray[Any]]:
    """The arrays to fill, checked here because compiled code writes to them without looking."""
    if not isinstance(out, list | tuple) or len(out) != count:
        raise BadInput(f"out: must be a list of {count} arrays, one for each kernel")
    for array in out:
        if not isinstance(array, np.ndarray) or array.shape != shape or not array.flags.writeable:
            raise BadInput(f"out: each must be an array of shape {shape} that can be written")
        checks.float_type(array.dtype, "out: dtype")
    return list(out)


def diagonal(kernel: Kernel, X: ArrayLike) -> Floats:
    """K(x_i, x_i) : (n,)"""
    data = inputs(X, "X")
    assembly, dim = Assembly.of([kernel], data, data, True), data.shape[1]
    index = np.arange(data.shape[0])
    t, s = np.zeros(index.size), np.full(index.size, 2.0)
    values: dict[Leaf, Floats] = {}
    for stack in assembly.stacks:
        values |= dict(zip(stack.leaves, stack.exact(index, index, t, s, dim), strict=True))
    for family in assembly.families:
        found = family[0].evaluate(family, Pairs(assembly.x, assembly.x, index, index, t, s, dim))
        values |= dict(zip(family, found, strict=True))
    result: Floats = kernel.combine(values)
    return result


def inputs(X: ArrayLike, name: str) -> NDArray[Any]:
    """X as a matrix of real numbers, not copied where it is one."""
    data = checks.numeric(X, name, checks.MATRIX)
    if data.ndim == 2:
        checks.memory(min(data.shape[0], CHUNK_ROWS) * data.shape[1], f"{name} has shape {data.shape}")
    if data.ndim != 2:
        raise BadInput(f"{name} has shape {data.shape}: must be a matrix, one input per row")
    if data.shape[1] == 0:
        raise BadInput(f"{name} has shape {data.shape}: inputs must have at least one coordinate")
    return data


def norms_of(X: NDArray[Any], name: str = "X") -> Floats:
    """‖x_i‖ : (n,); refuses what is not finite."""
    norms = np.empty(X.shape[0])
    for begin in range(0, X.shape[0], CHUNK_ROWS):
        part = slice(begin, begin + CHUNK_ROWS)
        norms[part] = row_norms(_doubles(X[part]))
    wrong = np.flatnonzero(~np.isfinite(norms))
    if wrong.size:
        raise BadInput(f"{name}: row {wrong[0]} of the inputs is not finite, or its norm overflows")
    return norms


def _doubles(X: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(X, dtype=np.float64)


@dataclass
class Assembly:
    """What a pass over the tiles needs: the data, and the leaves by the way they are evaluated.

    X : (n, d), Y : (m, d), inputs.
    x : (n,), y : (m,), their norms.
    symmetric: whether Y is X.
    stacks: leaves that have a table.
    families: leaves without one, evaluated by the recursion; those of a family together.
    """

    kernels: list[Kernel]
    X: NDArray[Any]
    Y: NDArray[Any]
    x: Floats
    y: Floats
    symmetric: bool
    stacks: list[Stack]
    families: list[list[Leaf]]

    @classmethod
    def of(cls, kernels: Sequence[Kernel], X: NDArray[Any], Y: NDArray[Any], symmetric: bool) -> Assembly:
        """For K(x_i, y_j) of each kernel; refuses inputs that are not finite, or on which a kernel overflows."""
        x = norms_of(X)
        y = x if symmetric else norms_of(Y, "Y")
        every = x if symmetric else np.concatenate([x, y])
        radius = _common(every)
        tabled: dict[int, list[tuple[Leaf, Floats]]] = {}
        others: list[Leaf] = []
        for leaf in leaves_of(kernels):
            leaf.check_inputs(every, X.shape[1])
            coefficients = table_for(leaf, X.shape[1], radius)
            if coefficients is None:
                others.append(leaf)
            else:
                tabled.setdefault(coefficients.shape[0], []).append((leaf, coefficients))
        stacks = [Stack.of(group, x, y, radius) for group in tabled.values()]
        return cls(list(kernels), X, Y, x, y, symmetric, stacks, by_family(others))

    def fill(
        self,
        out: Sequence[NDArray[Any]],
        rows: slice,
        columns: slice,
        threads: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """out[k] : K_k[rows, columns]. A block on the diagonal is computed by halves."""
        mirrored = self.symmetric and rows == columns
        tiles = [
            (slice(i, min(i + TILE_ROWS, rows.stop)), slice(j, min(j + TILE_ROWS, columns.stop)))
            for i in range(rows.start, rows.stop, TILE_ROWS)
            for j in range(columns.start, i + 1 if mirrored else columns.stop, TILE_ROWS)
        ]
        total = sum((r.stop - r.start) * (c.stop - c.start) for r, c in tiles)
        todo, lock, stop, finished = iter(tiles), threading.Lock(), threading.Event(), [0]

        def work() -> None:
            scratch = _Scratch()
            while not stop.is_set():
                with lock:
                    tile = next(todo, None)
                if tile is None:
                    return
                try:
                    values = self._tile(*tile, scratch, stop)
                    if values is None:
                        return
                    i, j = (
                        slice(part.start - whole.start, part.stop - whole.start)
                        for part, whole in zip(tile, (rows, columns), strict=True)
                    )
                    for kernel, K in zip(self.kernels, out, strict=True):
                        _place(kernel.combine(values), K, i, j, mirrored)
                except BaseException:
                    stop.set()
                    raise
                with lock:
                    finished[0] += (tile[0].stop - tile[0].start) * (tile[1].stop - tile[1].start)
                    if progress is not None:
                        progress(finished[0], total)

        with one_blas_thread():
            if threads == 1 or len(tiles) == 1:
                work()
                return
            with ThreadPoolExecutor(threads) as pool:
                workers = [pool.submit(work) for _ in range(min(threads, len(tiles)))]
                try:
                    for worker in workers:
                        worker.result()
                except BaseException:
                    stop.set()
                    raise

    def _tile(self, rows: slice, columns: slice, scratch: _Scratch, stop: threading.Event) -> dict[Leaf, Floats] | None:
        """Every leaf's values on a tile of the data; None if told to stop."""
        X, Y = _doubles(self.X[rows]), _doubles(self.Y[columns])
        x, y, dim = self.x[rows], self.y[columns], X.shape[1]
        shape = (x.size, y.size)
        u = np.matmul(_unit(X, x), _unit(Y, y).T, out=scratch.array("u", shape))
        near = scratch.indices(2, shape[0] * shape[1])
        values: dict[Leaf, Floats] = {}
        count = -1
        for number, stack in enumerate(self.stacks):
            tile = scratch.array(f"table {number}", (len(stack.leaves), *shape))
            count = table.look_up(u, stack.tables, stack.left[:, rows], stack.right[:, columns], tile, near)
            values |= dict(zip(stack.leaves, tile, strict=True))
        if count < 0:
            count = table.find_near(u, near)
        i, j = near[0, :count], near[1, :count]
        t_near, s_near = correlations(X, Y, i, j)
        # Away from the diagonal mostly none: a compiled function with functions as arguments takes 0.2 ms to be called.
        for stack in self.stacks if count else ():
            exact = stack.exact(i + rows.start, j + columns.start, t_near, s_near, dim)
            for leaf, numbers in zip(stack.leaves, exact, strict=True):
                values[leaf][i, j] = numbers
        if self.families:
            t, s = 1.0 - u, 1.0 + u
            t[i, j], s[i, j] = t_near, s_near
            every_row, every_column = (np.ascontiguousarray(index.ravel()) for index in np.indices(shape))
            pairs = Pairs(x, y, every_row, every_column, t.ravel(), s.ravel(), dim)
            for family in self.families:
                tile = _by_chunks(family, pairs, stop)
                if stop.is_set():
                    return None
                values |= {leaf: row.reshape(shape) for leaf, row in zip(family, tile, strict=True)}
        return values


class _Scratch:
    """One thread's buffers, allocated once per name and grown where a tile is larger."""

    def __init__(self) -> None:
        self._arrays: dict[str, Floats] = {}
        self._near = np.empty((2, 0), dtype=np.int64)

    def array(self, name: str, shape: tuple[int, ...]) -> Floats:
        size = int(np.prod(shape))
        if name not in self._arrays or self._arrays[name].size < size:
            self._arrays[name] = np.empty(size)
        return self._arrays[name][:size].reshape(shape)

    def indices(self, rows: int, size: int) -> NDArray[np.int64]:
        if self._near.shape[1] < size:
            self._near = np.empty((rows, size), dtype=np.int64)
        return self._near


def _common(norms: Floats) -> float | None:
    """The radius of the sphere that all inputs lie on."""
    if norms.size == 0 or norms.min() <= 0.0 or norms.max() - norms.min() > 0.5 * SPHERE_RTOL * norms.max():
        return None
    return float(np.median(norms))


def _by_chunks(family: list[Leaf], pairs: Pairs, stop: threading.Event) -> Floats:
    """A family's values, in pieces of about a quarter second: a pair by quadrature takes a millisecond."""
    out = np.empty((len(family), pairs.t.size))
    begin, size = 0, 4096
    while begin < pairs.t.size and not stop.is_set():
        began = time.monotonic()
        part = slice(begin, begin + size)
        out[:, part] = family[0].evaluate(family, pairs.part(part))
        begin += size
        size = size * 2 if time.monotonic() - began < CHUNK_SECONDS else max(64, size // 4)
    return out


def _unit(X: Floats, norms: Floats) -> Floats:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        unit = X / np.where(norms > 0.0, norms, 1.0)[:, np.newaxis]
    # A norm so small that X/norm overflows is far below anything a kernel can tell from 0.
    return np.nan_to_num(unit, copy=False)


def _place(tile: Floats, K: NDArray[Any], rows: slice, columns: slice, mirrored: bool) -> None:
    if mirrored and rows == columns:
        _copy_lower(tile, K[rows, columns])
    else:
        K[rows, columns] = tile
        if mirrored:
            _copy_transposed(tile, K[columns, rows])


@jit
def _copy_transposed(tile: Floats, K: NDArray[Any]) -> None:
    """In blocks of 8, a cache line: 1.3 ns per entry into main memory, where the plain copy of `tile` takes 1.1."""
    n, m = tile.shape
    for j0 in range(0, m, 8):
        for i0 in range(0, n, 8):
            for i in range(i0, min(i0 + 8, n)):
                for j in range(j0, min(j0 + 8, m)):
                    K[j, i] = tile[i, j]


@jit
def _copy_lower(tile: Floats, K: NDArray[Any]) -> None:
    """The lower half and its mirror: BLAS may differ in the last bit between u_ij and u_ji."""
    for i in range(tile.shape[0]):
        for j in range(i + 1):
            K[i, j] = tile[i, j]
            K[j, i] = tile[i, j]
