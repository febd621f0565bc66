"""A target on trial: the same refusals, and no more than a million numbers."""

from __future__ import annotations

import numpy as np
import pytest
from simlab.targets._trial import on_trial

from simlab.core import checks, lookup
from simlab.core.errors import BadInput
from simlab.core.params import choose


@pytest.mark.parametrize(("kind", "fields"), lookup.all_examples("targets"))
def test_small_targets_are_drawn_whole(kind: str, fields: dict[str, object]) -> None:
    target = choose("targets", {"kind": kind, **fields}, "target")
    drawn = on_trial(target, 8)
    assert drawn is not None
    real = lookup.get("targets", kind).draw(target, 8, np.random.default_rng(0))
    X = np.random.default_rng(1).standard_normal((5, 8))
    assert np.array_equal(drawn(X), real(X), equal_nan=True)


def test_what_a_target_refuses_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^target\.coordinate = 9"):
        on_trial(choose("targets", {"kind": "axis_relu", "coordinate": 9}, "target"), 5)


@pytest.mark.parametrize(("neurons", "dim"), [(10**7, 1), (3, 10**7), (2000, 2000)])
def test_large_ones_are_not_drawn(neurons: int, dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "free_memory", lambda: 1 << 40)
    assert on_trial(choose("targets", {"kind": "relu_teacher", "neurons": neurons}, "target"), dim) is None


def test_those_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadInput, match="free"):
        on_trial(choose("targets", {"kind": "relu_teacher", "neurons": 10**12}, "target"), 10)


def test_a_sum_over_degrees_is_bounded() -> None:
    for fields in (
        {"degrees": [10**9]},
        {"degrees": [3], "directions": 10**5},
        {"degrees": [10**5], "directions": 100},
    ):
        with pytest.raises(BadInput, match="at most"):
            choose("targets", {"kind": "gegenbauer", **fields}, "target")
