"""Joint training: the error at the best step must lie clearly below that of learning F alone."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, step_results


@pytest.mark.parametrize(("error", "holds"), [(0.1, True), (0.24, True), (0.26, False), (0.35, False), (np.nan, False)])
def test_judge(error: float, holds: bool) -> None:
    assert_judged("joint_training", step_results({0.3: np.nan if np.isnan(error) else 0.4, 0.6: error}), holds)
