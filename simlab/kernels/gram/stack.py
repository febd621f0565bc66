"""Leaves with tables, evaluated together: by look-up, and by the recursion where a pair is too near for that."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from simlab.kernels.gram import table
from simlab.kernels.kernel import Floats, Integers, Leaf, Pairs


@dataclass
class Stack:
    """Leaves with tables of one size.

    tables : (leaves, 2P, 8). Each is for inputs of one norm: 1 for a homogeneous kernel, the sphere's radius otherwise.
    left, right : (leaves, n), (leaves, m): what a value is multiplied by for its row and for its column.
    radius: of the sphere that all inputs lie on; None where they lie on none.
    """

    leaves: list[Leaf]
    tables: Floats
    left: Floats
    right: Floats
    radius: float | None

    @classmethod
    def of(cls, group: Sequence[tuple[Leaf, Floats]], x: Floats, y: Floats, radius: float | None) -> Stack:
        """From (leaf, table) and the inputs' norms x : (n,), y : (m,)."""
        leaves = [leaf for leaf, _ in group]
        left, right = (np.stack([_factor(leaf, norms) for leaf in leaves]) for norms in (x, y))
        return cls(leaves, np.stack([coefficients for _, coefficients in group]), left, right, radius)

    def exact(self, rows: Integers, columns: Integers, t: Floats, s: Floats, dim: int) -> Floats:
        """(leaves, pairs): by the recursion, once for all pairs of one direction (the diagonal, duplicates)."""
        apart = np.flatnonzero(t)
        index = np.zeros(t.size, dtype=np.int64)
        index[apart] = 1 + np.arange(apart.size)
        t, s = np.concatenate([[0.0], t[apart]]), np.concatenate([[2.0], s[apart]])
        values = np.empty((len(self.leaves), t.size))
        for family in by_family(self.leaves):
            norm = table_norm(family[0], self.radius)
            assert norm is not None  # else there would be no table
            found = family[0].evaluate(family, Pairs.on_sphere(norm, t, s, dim))
            for leaf, row in zip(family, found, strict=True):
                values[self.leaves.index(leaf)] = row
        return np.asarray(values[:, index] * (self.left[:, rows] * self.right[:, columns]))


def table_norm(leaf: Leaf, radius: float | None) -> float | None:
    """The norm of the inputs that a leaf's table is for; None where no table serves."""
    return 1.0 if leaf.homogeneity() is not None else radius


def table_for(leaf: Leaf, dim: int, radius: float | None) -> Floats | None:
    """A leaf's table; None where there is none. `radius` as in `Stack`."""
    norm = table_norm(leaf, radius)
    return None if norm is None else table.table(leaf, dim if leaf.depends_on_dim() else 1, norm)


def _factor(leaf: Leaf, norms: Floats) -> Floats:
    """What a tabled kernel is multiplied by for an input of this norm; 0 for the zero vector."""
    h = leaf.homogeneity()
    if h is None:
        return np.ones(norms.size)
    return norms.copy() if h == 1 else np.sign(norms)


def by_family(leaves: Sequence[Leaf]) -> list[list[Leaf]]:
    """Leaves that are evaluated together, in order."""
    families: dict[Hashable, list[Leaf]] = {}
    for leaf in leaves:
        families.setdefault(leaf.family(), []).append(leaf)
    return list(families.values())
