"""The README's pictures are those of the present specs, drawn by the present code."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from simlab.core.errors import BadInput
from simlab.figures.synthetic import SyntheticResults

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import pictures  # noqa: E402

NAMES = (*pictures.CLAIMS, *pictures.RUNS)
README = (ROOT / "README.md").read_text(encoding="utf-8")
HOW = "run what is missing and then tools/pictures.py (its docstring says how)"


def test_every_picture_is_shown_and_every_shown_one_is_there() -> None:
    shown = set(re.findall(r"\.readme/([\w.-]+)", README))
    there = {path.name for path in pictures.PICTURES.iterdir()}
    assert shown == there == {f"{name}.png" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_of_the_present_specs(name: str) -> None:
    fields = pictures.fields(pictures.PICTURES / f"{name}.png")
    assert fields[pictures.SPECS].split() == [spec.hash for spec in pictures.specs(name)], HOW
    assert fields[pictures.DRAWN_BY] == pictures.drawing_hash(name), HOW
    assert pictures.stale(pictures.PICTURES / f"{name}.png") == ""
    assert (pictures.PICTURES / f"{name}.png").stat().st_size < 150_000


@pytest.mark.parametrize("name", ["lazy_generalisation", "learning_curves"])
def test_results_of_another_spec_are_refused(name: str) -> None:
    made: list[Any] = [SyntheticResults(spec) for spec in pictures.specs(name)]
    assert pictures.draw(name, made).axes
    made[-1].path = Path("old.h5")
    made[-1]._spec = pictures.specs("tangent_rate")[0]
    with pytest.raises(BadInput, match=rf"old\.h5: results of another spec than {name} has now"):
        pictures.draw(name, made)


def test_the_hash_is_of_what_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of shared drawing code changes it; a comment, a docstring, the statement or the judge does not."""
    for room in ("figures", "claims", "statistics"):
        (tmp_path / "simlab" / room).mkdir(parents=True)
        for path in (ROOT / "simlab" / room).glob("*.py"):
            (tmp_path / "simlab" / room / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(pictures, "ROOT", tmp_path)
    before = pictures.drawing_hash("tangent_rate")

    def after(file: str, old: str, new: str) -> str:
        path = tmp_path / "simlab" / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        found = pictures.drawing_hash("tangent_rate")
        path.write_text(text, encoding="utf-8")
        return found

    assert after("claims/tangent_rate.py", "statement = (", "statement = '' or (") == before
    assert after("claims/tangent_rate.py", "holds = bool(", "holds = not bool(") == before
    assert after("figures/style.py", "    values = ", "    # a comment\n    values = ") == before
    assert after("figures/style.py", '"""Ticks of', '"""The ticks of') == before
    assert after("figures/style.py", "0.62", "0.5") != before
    assert after("figures/seeds.py", "alpha=0.18", "alpha=0.2") != before
    assert after("statistics/power_law.py", "np.log", "np.log2") != before
    assert after("claims/tangent_rate.py", 'xlabel="step"', 'xlabel="steps"') != before
    assert after("figures/fourier_tubes.py", "magma", "viridis") == before, "not imported"
