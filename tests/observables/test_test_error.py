"""The test error and its standard error against NumPy's own, for predictions given."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import sem

from simlab import observables
from simlab.observables.view import Setting, View


def test_error_and_its_standard_error() -> None:
    rng = np.random.default_rng(0)
    f, y = rng.standard_normal((2, 500))
    view = SimpleNamespace(X_test=np.zeros((500, 3)), y_test=y, predict=lambda X: f)
    view.squares = lambda X, y: View.squares(view, X, y)  # type: ignore[arg-type]
    found = observables.TestError().measure(view)  # type: ignore[arg-type]
    assert found["test_error"] == pytest.approx(np.mean((f - y) ** 2), rel=1e-14)
    assert found["test_error_se"] == pytest.approx(sem((f - y) ** 2), rel=1e-12)


def test_one_test_input_has_no_standard_error() -> None:
    setting = Setting(None, None, None, 10, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="test_samples of 2 or more"):
        observables.TestError().check(setting)
