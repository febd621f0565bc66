"""ResNet beyond kernels: the net must learn, and its rivals must not."""

from __future__ import annotations

import pytest

from tests.support.claim_results import assert_judged, learner_results
from tests.support.stand_in_results import StandInResults


def rivals(net: float, two: float = 0.5, kernel: float = 2.0, worse: float = 3.0) -> StandInResults:
    return learner_results(
        {
            ("descent", "residual", 0.6): worse,
            ("descent", "residual", 1.0): net,
            ("descent", "two_layer", 0.6): two,
            ("tangent", "residual", 1.0): kernel,
            ("last", "residual", 1.0): 3.0,
            ("descent", "plain", 0.6): 0.1,
        }
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (rivals(0.1), True),
        (rivals(0.1, worse=float("nan")), True),  # one of the settings diverged
        (rivals(0.4), False),
        (rivals(0.1, two=0.3), False),
        (rivals(0.1, kernel=0.3), False),
        (rivals(float("nan"), worse=0.5), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("resnet_beyond_kernels", results, holds)
