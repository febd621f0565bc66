"""Every figure keeps the contract; the check of the contract, and that of a picture's looks, can say no."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from simlab import figures
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.figures.looks import check_looks
from simlab.figures.staircases import Staircases
from simlab.figures.style import panels
from simlab.lab.spec import resolve
from tests.support.runs import small_tables


@pytest.mark.parametrize(("name", "table"), catalogue.all_examples("figures"))
def test_every_figure_keeps_the_contract(name: str, table: dict[str, Any]) -> None:
    figures.check(figures.get(name, **table))


def _refuse(self: Staircases, outputs: Any) -> None:
    raise BadInput("nothing to draw")


def _draw_a_name(self: Staircases, results: Any) -> Picture:
    picture, (axis,) = panels(1)
    axis.set_title("network.width")
    return picture


def _draw_another() -> Callable[..., Picture]:
    calls = itertools.count()

    def draw(self: Staircases, results: Any) -> Picture:
        picture, (axis,) = panels(1)
        axis.plot([0, 1], [0, next(calls)])
        return picture

    return draw


@pytest.mark.parametrize(
    ("method", "does", "says"),
    [
        ("check", lambda self, outputs: None, "it accepts a run that records nothing"),
        ("check", _refuse, "its errors must begin with figure: nothing to draw"),
        ("draw", lambda self, results: Picture(), "it draws nothing"),
        ("draw", _draw_a_name, "'network.width': a name of the code"),
        ("draw", _draw_another(), "it draws another picture the second time"),
    ],
)
def test_the_check_says_no(method: str, does: Any, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Staircases, method, does)
    with pytest.raises(AssertionError, match=f"figure staircases: {says}"):
        figures.check(Staircases())


def test_a_spec_must_record_what_is_drawn() -> None:
    with pytest.raises(AssertionError, match="the spec does not record and sweep what it draws"):
        figures.check(Staircases(), resolve(small_tables()))


def test_what_is_no_figure_is_refused() -> None:
    with pytest.raises(AssertionError, match="not a subclass of Figure"):
        figures.check("staircases")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda axis: axis.plot([0, 1], color="yellow"), "has too little contrast on white"),
        (lambda axis: axis.plot([0, 1], color="k", alpha=0.1), "has too little contrast on white"),
        (lambda axis: axis.legend(handles=axis.plot([0, 1], "k", label="small"), fontsize=6), "is too small"),
        (lambda axis: axis.set_title("pale", color="0.9"), "'pale': too little contrast"),
        (lambda axis: axis.set_title("0.12345"), "a number of more than three decimals"),
        (lambda axis: axis.set_xlabel("train_loss"), "a name of the code, not of the field"),
        (lambda axis: axis.set_xlabel("d^2"), "mathematics outside of mathtext"),
        (lambda axis: axis.set_xlabel(r"$\nonsense$"), "not mathtext"),
        (lambda axis: axis.figure.subplots(1, 4), "more than three panels in a row"),
    ],
)
def test_bad_looks_are_refused(spoil: Callable[[Axes], Any], says: str) -> None:
    picture, (axis,) = panels(1)
    axis.set_title("a title in words, $d^2$")
    check_looks(picture)
    spoil(axis)
    with pytest.raises(AssertionError, match=says):
        check_looks(picture)
