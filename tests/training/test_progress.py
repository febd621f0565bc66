"""What a training shows while it goes on."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

from simlab import flows, networks, train, training
from simlab.cli import _progress
from tests.support import terminal

SCRIPT = """
import numpy as np
from simlab import flows, networks, train
X = np.random.default_rng(0).standard_normal((50, 5))
train(networks.TwoLayer(width=50), X, X[:, 0], flows.GradientDescent(steps=60_000, step=0.01), seed=0{more})
"""


def trained(steps: int = 30_000, **options: Any) -> Any:
    X = np.random.default_rng(0).standard_normal((50, 5))
    return train(networks.TwoLayer(width=50), X, X[:, 0], flows.GradientDescent(steps=steps, step=0.01), **options)


def test_a_bar_on_a_terminal() -> None:
    seen, code = terminal.shown(["-c", SCRIPT.format(more="")], ("stderr",), {"NO_COLOR": "1"})
    assert code == 0
    assert "steps/s" in seen
    assert terminal.shown(["-c", SCRIPT.format(more=", progress=False")], ("stdout", "stderr"), {}) == ("", 0)


def test_a_line_every_few_seconds_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trained(steps=100)
    assert capsys.readouterr().err == "", "too short to speak of"
    monkeypatch.setattr(_progress, "LINE_SECONDS", 0.0)
    trained()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "steps/s" in printed.err
    trained(progress=False)
    assert capsys.readouterr().err == ""


def test_in_a_notebook_the_line_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, content: dict[str, str], raw: bool) -> None:
            shown[-1] = content["text/plain"]

    def display(content: dict[str, str], raw: bool, display_id: bool) -> Handle:
        shown.append(content["text/plain"])
        return Handle()

    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=None)
    module: Any = types.ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    trained()
    assert len(shown) == 1
    assert shown[0].startswith("100 %, ")


def test_the_callback_counts_steps() -> None:
    X = np.eye(4)
    seen: list[tuple[float, float]] = []
    net, flow = networks.TwoLayer(width=5), flows.GradientDescent(steps=30, step=0.1)
    training.train(net, X, X[:, 0], flow, lambda done, total: seen.append((done, total)), seed=0)
    assert seen[-1] == (30, 30)
