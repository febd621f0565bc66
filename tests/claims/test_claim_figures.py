"""Every claim's figure, drawn from made-up results: readable, and its control told apart by more than colour."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.mathtext import MathTextParser

from simlab.claims.ledger import spec_of
from simlab.core import lookup
from tests.figures.looks import check_looks, labelled, marks, texts
from tests.figures.made import Made

SPECIAL: dict[str, dict[str, Any]] = {
    "relu_decay": {"exponent": 0.5},
    "relu_parity": {"exponent": 0.5},
    "step_depth": {"exponent": 0.5, "decay_low": 0.1, "decay_high": 0.95},
    "kernel_single_neuron": {"power_total": 2.0},
    "symmetric_first_layer": {"records": 2},
}
"""Numbers that a figure needs to make sense: intervals with their ends in order, variances, two records."""
COMPENSATED = ("laplace_ntk", "relu_decay", "relu_parity", "step_depth")


def drawn(name: str) -> Any:
    claim, more = lookup.get("claims", name), SPECIAL.get(name, {})
    return claim.figure(*(Made(spec_of(claim, "quick", control), **more) for control in (False, True)))


@pytest.mark.parametrize("name", lookup.kinds("claims"))
def test_every_figure_is_readable(name: str) -> None:
    figure = drawn(name)
    check_looks(figure)
    words = [text.get_text() for text in texts(figure)]
    for text in words:
        MathTextParser("path").parse(text)  # type: ignore[arg-type]
    labels = [label for axis in figure.axes for label, _ in labelled(axis)]
    assert any("control" in text for text in [*words, *labels]), "the control is named"
    for axis in figure.axes:
        sides: dict[bool, set[Any]] = {True: set(), False: set()}
        for label, line in labelled(axis):
            sides[label.startswith("control")].add(marks(line))
        assert not sides[True] & sides[False], f"{axis.get_title()}: control and measurement differ in colour alone"


@pytest.mark.parametrize("name", COMPENSATED)
def test_eigenvalues_are_also_shown_compensated(name: str) -> None:
    names = [axis.get_ylabel() for axis in drawn(name).axes]
    assert any(text.startswith(r"compensated $\mu_k\, k^{") for text in names), names
