"""Whether a law keeps the contract: its own tests run on every kind, also on one from another package."""

from __future__ import annotations

import math

import numpy as np

from simlab.core.checking import check_value, ensure
from simlab.core.errors import BadInput
from simlab.data.law import PARTS, Law, Part

STANDARD_ERRORS = 6.0
"""How far a mean over a sample may be from a moment that the law claims."""
SAMPLES = 4000
"""Inputs in that sample."""


def check_law(law: Law) -> None:
    """Raise AssertionError, one line, where this law breaks the contract. Files that it reads must be there."""
    check_value(law, Law)
    law.require()
    who = repr(law)
    _check_samples(law, who)
    _check_facts(law, who)
    if law.carries_labels():
        _check_labels(law, who)
    else:
        ensure(not law.has_test_part(), f"{who}.has_test_part(): only of a law that carries labels")


def _check_samples(law: Law, who: str) -> None:
    dim = law.dimension()
    ensure(type(dim) is int and dim >= 1, f"{who}.dimension() = {dim!r}: must be a whole number, 1 or more")
    many, few, again, other = (
        law.sample(count, np.random.default_rng(seed)) for count, seed in ((30, 1), (10, 1), (30, 1), (30, 2))
    )
    ensure(many.shape == (30, dim), f"{who}.sample(30, rng) has shape {many.shape}: must be (30, {dim})")
    ensure(many.dtype == np.float64, f"{who}.sample gives {many.dtype}: must be float64")
    ensure(many.flags.c_contiguous, f"{who}.sample gives an array that is not stored row by row")
    ensure(np.isfinite(many).all(), f"{who}.sample gives NaN or infinity")
    ensure(np.array_equal(many, again), f"{who}.sample: the same generator gave other inputs the second time")
    ensure(not np.array_equal(many, other), f"{who}.sample: two generators gave the same inputs")
    ensure(law.sample(0, np.random.default_rng(1)).shape == (0, dim), f"{who}.sample(0, rng): must be (0, {dim})")
    ensure(
        np.array_equal(many[:10], few) != law.together(),
        f"{who}.together() = {law.together()}: but the first 10 of 30 rows are "
        f"{'not ' if law.together() is False else ''}those of 10",
    )


def _check_facts(law: Law, who: str) -> None:
    """What the law knows of itself, against a sample."""
    r, mu = law.sphere_radius(), law.second_moment()
    if law.finite:
        return
    X = law.sample(SAMPLES, np.random.default_rng(3))
    squares = np.einsum("ij,ij->i", X, X)
    if r is not None:
        ensure(np.allclose(squares, r**2, rtol=1e-9), f"{who}.sphere_radius() = {r}: but inputs have other norms")
    if mu is not None:
        ensure(law.rotation_invariant, f"{who}.second_moment(): only of a law that is rotation_invariant")
        each = squares / X.shape[1]
        error = STANDARD_ERRORS * float(each.std()) / math.sqrt(SAMPLES) + 1e-9 * mu
        ensure(abs(float(each.mean()) - mu) <= error, f"{who}.second_moment() = {mu}: a sample has {each.mean():.6g}")
    if law.rotation_invariant:  # the direction has mean 0 and second moments I/d, of standard errors below 1/√n
        U = X / np.sqrt(squares)[:, np.newaxis]
        off = np.abs(U.T @ U / SAMPLES - np.eye(X.shape[1]) / X.shape[1]).max()
        far = max(float(off), float(np.abs(U.mean(axis=0)).max())) * math.sqrt(SAMPLES)
        ensure(far < STANDARD_ERRORS, f"{who}: rotation_invariant, but directions of a sample are not uniform")
    if law.is_cube:
        k, s = law.cube_dimension(), law.coordinate_size()
        ensure(
            np.allclose(np.abs(X[:, :k]), s, rtol=1e-12),
            f"{who}.coordinate_size() = {s}: but some of the first {k} coordinates of a sample are no ±{s}",
        )
    if law.has_radius_law:
        share = float(np.mean(squares < law.radius_law().median ** 2))
        ensure(
            abs(share - 0.5) < STANDARD_ERRORS * 0.5 / math.sqrt(SAMPLES),
            f"{who}.radius_law(): a share {share} of a sample lies within its median; must be 0.5",
        )


def _check_labels(law: Law, who: str) -> None:
    ensure(law.finite, f"{who}.carries_labels(): only of a finite law, whose rows are stored")
    ensure(law.has_labels, f"{who}.carries_labels() = True: but has_labels = False")
    for part in PARTS if law.has_test_part() else PARTS[:1]:
        _check_part(law, part, who)
    drawn = law.sample_labelled(5, np.random.default_rng(1)).X
    same = np.array_equal(drawn, law.sample(5, np.random.default_rng(1)))
    ensure(same, f"{who}.sample_labelled: other inputs than those of sample with the same generator")
    if not law.has_test_part():
        try:
            law.row_count("test")
        except BadInput:
            return
        raise AssertionError(f"{who}.has_test_part() = False: but row_count('test') is not refused")


def _check_part(law: Law, part: Part, who: str) -> None:
    count, k, dim = law.row_count(part), law.class_count(), law.dimension()
    ensure(k >= 2, f"{who}.class_count() = {k}: must be 2 or more")
    X, labels = law.labelled_rows(np.arange(count), part)
    ensure(X.shape == (count, dim), f"{who}, part {part}: X has shape {X.shape}: must be ({count}, {dim})")
    ensure(labels.shape == (count,), f"{who}, part {part}: labels of shape {labels.shape}: must be ({count},)")
    ensure(labels.dtype == np.int64, f"{who}, part {part}: labels are {labels.dtype}: must be int64")
    within = bool(np.all((labels >= 0) & (labels < k)))
    ensure(within, f"{who}, part {part}: labels from {labels.min()} to {labels.max()}: must be 0 … {k - 1}")
    drawn = law.sample_labelled(count, np.random.default_rng(1), part)
    stored, permuted = (np.column_stack(rows) for rows in ((X, labels), drawn))
    same = np.array_equal(stored[np.lexsort(stored.T)], permuted[np.lexsort(permuted.T)])
    ensure(same, f"{who}.sample_labelled, part {part}: all rows drawn are not each row once, with its own label")
