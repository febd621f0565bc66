"""The guide `training`: its examples, pasted one after another, run."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab.core import guides

TEXT = guides.read("training")
CODE = [textwrap.dedent(block) for block in re.findall(r"^(?: {4}.*\n|\n(?= {4}))+", TEXT, re.MULTILINE)]


def test_the_examples_run_and_do_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in CODE:
        exec(compile(block, "guide training", "exec"), names)
    assert len(CODE) >= 7
    trained, X, y, net, theta = (names[name] for name in ("trained", "X", "y", "net", "theta"))
    np.testing.assert_array_equal(names["again"].predict(X), trained.predict(X))
    assert {"test_loss", "linear_test_distance"} < set(trained.trajectory)
    assert net.features(theta, X).shape == (100, 200)
    step = 1e-6 * np.ones_like(theta)
    change = [np.mean((net.forward(theta + s * step, X) - y) ** 2) / 2 for s in (1, -1)]
    assert (change[0] - change[1]) / 2 == pytest.approx(net.gradient(theta, X, y) @ step, rel=1e-5)
