"""The judge of the claim about tubes says yes and no on made-up results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import claims


def made(net: float = 1e-7, target: float = 0.3, bound: float = 0.3, error: float = 0.8) -> dict[str, Any]:
    """Two seeds, two records; the numbers given are those of the second seed's last record."""
    found = {"net_outside": 1e-8, "target_outside": 0.4, "outside_energy": 0.35, "squared_error": 2.0}
    arrays = {name: np.full((2, 2), value) for name, value in found.items()}
    for name, value in zip(found, (net, target, bound, error), strict=True):
        arrays[name][1, 1] = value
    return arrays


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (made(), True),
        (made(net=1e-2), False),  # it leaves its tubes
        (made(target=0.01), False),  # there is nothing to miss
        (made(error=0.29), False),  # better than can be
        (made(net=np.nan), False),
    ],
)
def test_fourier_tubes(results: dict[str, Any], holds: bool) -> None:
    judgement = claims.get("fourier_tubes").judge(results)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured
