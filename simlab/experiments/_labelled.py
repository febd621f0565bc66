"""Samples whose values are labels: those of a stored set, and values as a loss takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from simlab.core import catalogue
from simlab.core.errors import BadInput, one_of
from simlab.core.rng import Streams
from simlab.data.law import Law
from simlab.data.splits import draw_labelled
from simlab.experiments.course import Floats, Samples
from simlab.losses.loss import Loss
from simlab.targets.target import Target

LABELS = {"signs": "±1, or 0 and 1", "classes": "one class per sample, one-hot"}
FITTING = {"real": ("real", "signs", "one_hot"), "signs": ("signs", "one_hot"), "classes": ("one_hot",)}
"""Labels of a loss → kinds of values of a target that it takes."""
_WORDS = {"real": "real numbers", "signs": "±1, or 0 and 1", "one_hot": "one-hot"}


def check_labels(data: Law, target: Target) -> None:
    """Raise ValueError where the target reads labels that the data do not carry. Opens no file."""
    if not target.reads_labels or data.carries_labels():
        return
    if data.has_labels:
        raise ValueError(f"data.labels: missing: target.kind = {target.kind!r} reads labels; name their file")
    able = one_of(catalogue.able("data", lambda cls: cls.has_labels))
    raise ValueError(
        f"data.kind = {data.kind!r}: target.kind = {target.kind!r} reads labels, which it does not carry"
        f" (allowed: {able})"
    )


def labelled_samples(data: Law, target: Target, counts: Mapping[str, int], streams: Streams) -> Samples:
    """Rows apart, with the values that the target makes of their labels.

    counts: "data", "test" and "validation" → number of rows.
    """
    count = data.class_count()
    try:
        target.check_classes(count)
    except BadInput as error:
        raise BadInput(f"target.{error}") from None
    rows = draw_labelled(data, counts, streams)
    train, test, validation = (
        (rows[name].X, target.values_of(rows[name].labels)) for name in ("data", "test", "validation")
    )
    return Samples(*train, *test, *validation)


def check_loss(loss: Loss, target: Target) -> None:
    """Raise ValueError where the values of the target are no labels of the loss."""
    if target.value_kind() not in FITTING[loss.labels]:
        able = one_of(catalogue.able("targets", lambda cls: cls.value_kind is not Target.value_kind))
        raise ValueError(
            f"loss.kind = {loss.kind!r}: its labels are {LABELS[loss.labels]}, and those of target.kind = "
            f"{target.kind!r} are {_WORDS[target.value_kind()]} (allowed: {able}, where their values are such)"
        )


def labels_of(y: Floats, loss: Loss, outputs: int, name: str = "target", *, several: bool = False) -> Floats:
    """Values of a target as the loss takes them, (n,) or (n, c); those of a loss of real numbers as they are.

    several: whether samples that are all of one class are refused.
    """
    if loss.labels == "real":
        return y
    # Values of ±1 on the cube are exact up to rounding.
    found = loss.encode(np.rint(y), outputs, name, several=several)
    return found[:, 0] if outputs == 1 else found


def encoded(samples: Samples, loss: Loss, outputs: int) -> Samples:
    """The samples with labels as the loss takes them. Training samples that are all of one class are refused."""
    if loss.labels == "real":
        return samples
    return replace(
        samples,
        y=labels_of(samples.y, loss, outputs, several=True),
        y_test=labels_of(samples.y_test, loss, outputs),
        y_validation=labels_of(samples.y_validation, loss, outputs),
    )
