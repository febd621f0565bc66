"""Every claim keeps the contract; the check of it can say no. Tests of one claim are in the file of its name."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simlab import claims
from simlab.claims import Claim, Judgement, check
from simlab.claims.ledger import spec_of
from simlab.claims.relu_parity import ReLUParity
from simlab.core import catalogue
from simlab.figures.synthetic import SyntheticResults

NAMES = catalogue.names("claims")
FILES = sorted(Path(claims.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_keeps_the_contract(name: str) -> None:
    check(claims.get(name))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_judge_says_which_figure_decides(path: Path) -> None:
    """In few columns; the tests of the judges see that it fits."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    for call in calls:
        if getattr(call.func, "id", "") == "Judgement" and path.stem != "ledger":
            assert len(call.args) == 4, f"{path.name}:{call.lineno}"


@pytest.mark.parametrize("name", NAMES)
def test_eigenvalues_are_also_shown_compensated(name: str) -> None:
    """Where a claim measures spectra."""
    claim = claims.get(name)
    specs = [spec_of(claim, "quick", control) for control in (False, True)]
    if "log10_eigenvalue" in (results := [SyntheticResults(spec) for spec in specs])[0]:
        labels = [axis.get_ylabel() for axis in claim.figure(*results).axes]
        assert any(text.startswith(r"compensated $\mu_k\, k^{") for text in labels), labels


def _accepts(self: Claim, results: Any) -> Judgement:
    return Judgement(True, "m", {"a": 1}, "s")


def _fails_json(self: Claim, results: Any) -> Judgement:
    return Judgement(False, "m", {"a": {1, 2}}, "s")


def _says_much(self: Claim, results: Any) -> Judgement:
    return Judgement(False, "m", {"a": 1}, "s" * 47)


def _wavers() -> Callable[..., Judgement]:
    seen: list[int] = []

    def judge(self: Claim, results: Any) -> Judgement:
        seen.append(1)
        return Judgement(False, f"m {len(seen)}", {"a": 1}, "s")

    return judge


def _shows_no_control(self: Claim, results: Any, control: Any) -> Any:
    from simlab.figures.style import panels

    return panels(1)[0]


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ({"statement": " "}, "statement must be a text that is not blank"),
        ({"full": ReLUParity.quick}, "its full spec is the same as its quick spec"),
        ({"quick": "[experiment]\nkind = 1"}, "its quick spec is refused: experiment.kind = 1"),
        ({"full": "[experiment"}, "its full spec is refused"),
        ({"control": ()}, "control must be a tuple of settings"),
        ({"control": ("kernel.kin=ntk",)}, "its quick spec is refused: kernel.kin"),
        ({"control": ("experiment.seed=1",)}, "with the control's settings is the same as its quick spec"),
        ({"judge": lambda self, results: None}, "judge must return a Judgement"),
        ({"judge": _accepts}, "its judge accepts results that are made up"),
        ({"judge": _fails_json}, "not ready for JSON"),
        ({"judge": _says_much}, "short must have 1 to 46 columns"),
        ({"judge": _wavers()}, "its judge says something else the second time"),
        ({"figure": _shows_no_control}, "its figure does not name the control"),
        ({"data_needed": lambda self: ""}, "data_needed must be a sentence or None"),
    ],
)
def test_the_check_says_no(attributes: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(ReLUParity())
    for name, value in attributes.items():
        monkeypatch.setattr(ReLUParity, name, value)
    with pytest.raises(AssertionError, match=says):
        check(ReLUParity())


def test_what_is_no_claim_is_refused() -> None:
    with pytest.raises(AssertionError, match="not a subclass of Claim"):
        check("relu_parity")  # type: ignore[arg-type]
