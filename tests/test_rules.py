"""The rules of the house (tools/house.py): they hold everywhere, and each of them finds what it forbids."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools import house

ROOT = Path(__file__).parents[1]
SOURCES = list(house.sources(ROOT))
KEPT = [name for name in house.RULES if name != "type: ignore"]
"""Rules of which nothing may be found; ignored types are few and counted."""


def found(rule: str, text: str, file: str = "simlab/lab/planted.py") -> list[int]:
    """Lines in which a rule finds something in a file of this text."""
    source = house.Source(file, text, ast.parse(text))
    return [one.line for one in house.RULES[rule](source)]


@pytest.mark.parametrize("rule", KEPT)
def test_the_house_keeps_its_rules(rule: str) -> None:
    broken = [str(one) for source in SOURCES for one in house.RULES[rule](source)]
    assert not broken, "\n".join(broken)


def test_few_types_are_ignored() -> None:
    assert sum(len(list(house.type_ignores(source))) for source in SOURCES) <= 10


def test_what_is_allowed_is_there_and_needs_it() -> None:
    """The tables of exceptions hold nothing that is gone, and say why."""
    texts = {source.file: source for source in SOURCES}
    for table, rule in ((house.NO_KINDS, "probes"), (house.LONG_SIGNATURES, "long_argument_lists")):
        for file, (names, reason) in table.items():
            assert reason
            others = {other: entry for other, entry in table.items() if other != file}
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(house, "NO_KINDS" if table is house.NO_KINDS else "LONG_SIGNATURES", others)
                lines = [str(one) for one in getattr(house, rule)(texts[file])]
            for name in names:
                assert any(name in line for line in lines), f"{file}: {name} needs no exception"


PROBE = next(rule for rule in KEPT if rule.startswith("hasattr"))
LONG = next(rule for rule in KEPT if rule.startswith("functions"))
NINE = "a, b, c, d, e, f, g, h, i"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("module_of", "module_of(network).forward\n"),
        ("module_of", "params.module_of(network)\n"),
        (PROBE, 'hasattr(network, "tangent_gram")\n'),
        (PROBE, 'getattr(self.flow, "alpha", 1.0)\n'),
        (PROBE, 'getattr(kind_of(x), "alpha", None)\n'),
        ("comparisons of a kind's name", 'flow.kind == "sgd"\n'),
        ("comparisons of a kind's name", 'kind_of(flow) in ("sgd", "adam")\n'),
        ("comparisons of a kind's name", "self.flow.kind not in DESCENTS\n"),
        ("comparisons of a kind's name", 'match flow.kind:\n    case "sgd":\n        pass\n'),
        ("classes named Params", "class Params(Kind):\n    pass\n"),
        ("underscored imports across rooms", "from simlab.networks import _thin\n"),
        ("underscored imports across rooms", "from simlab.networks._thin import product\n"),
        ("underscored imports across rooms", "from simlab.networks.thin import _product\n"),
        ("underscored imports across rooms", "import simlab.networks._thin\n"),
        (LONG, f"def f({NINE}):\n    pass\n"),
        (LONG, "def f(self, a, b, c, d, *, e, f, g, h, i):\n    pass\n"),
        ("type: ignore", "x = 1  # type: ignore\n"),
        ("type: ignore[attr-defined]", "x.y = 1  # type: ignore[index, attr-defined]\n"),
    ],
)
def test_a_rule_finds_what_it_forbids(rule: str, text: str) -> None:
    assert found(rule, text) == [1]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (PROBE, 'import os\nhasattr(os, "getuid")\n'),
        (PROBE, 'import numpy as np\ngetattr(np.random, "PCG64", None)\n'),
        (PROBE, 'import sys\ngetattr(sys.modules.get("IPython"), "x", None)\n'),
        (PROBE, 'getattr(network, "width")\n'),
        ("comparisons of a kind's name", 'x.dtype.kind == "f"\nnp.dtype(x).kind in "iu"\n'),
        ("comparisons of a kind's name", 'kind == "relu"\nflow.kind == other.kind\n'),
        ("underscored imports across rooms", "from simlab.lab._pool import Pool\nfrom simlab.lab import _pool\n"),
        ("underscored imports across rooms", "from simlab.core import __version__\n"),
        (LONG, f"@app.command()\ndef f({NINE}):\n    pass\n"),
        (LONG, "def f(a, b, c, d, e, f, g, h):\n    pass\n"),
        ("type: ignore", 'x = "# type: ignore"\n'),
        ("type: ignore[attr-defined]", "x = 1  # type: ignore[index]\n"),
    ],
)
def test_a_rule_lets_the_rest_pass(rule: str, text: str) -> None:
    assert not found(rule, text)


@pytest.mark.parametrize("decorator", ["jit", "jit(parallel=True)", "per_real(SIGNATURE)", "intrinsic"])
def test_compiled_functions_are_no_exception(decorator: str) -> None:
    assert found(LONG, f"@{decorator}\ndef f({NINE}):\n    pass\n") == [2]


def test_a_long_signature_is_allowed_by_name_alone() -> None:
    assert found(LONG, f"def run({NINE}):\n    pass\n\n\ndef walk({NINE}):\n    pass\n", "simlab/__init__.py") == [5]
    assert not found(PROBE, 'hasattr(X, "columns")\n', "simlab/machines/estimator.py")
    assert found(PROBE, 'hasattr(X, "columns")\n', "simlab/machines/dense.py") == [1]
