"""Samples of a stored set whose values are made of its labels."""

from __future__ import annotations

from collections.abc import Mapping

from simlab.core import catalogue
from simlab.core.errors import BadInput, one_of
from simlab.core.rng import Streams
from simlab.data.law import Law
from simlab.data.splits import draw_labelled
from simlab.experiments.course import Samples
from simlab.targets.target import Target


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
