"""Schedules: linear, log-spaced and listed, in steps and in time; lists that make no sense are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab.observables.schedule import Spacing, check_listed, instants, schedule


@given(st.integers(1, 10**6), st.integers(2, 300), st.sampled_from(["linear", "log"]))
def test_schedules_start_at_0_end_at_the_last_step_and_rise(steps: int, records: int, spacing: Spacing) -> None:
    at = schedule(steps, records, spacing)
    assert at[0] == 0
    assert at[-1] == steps
    assert len(at) <= records
    assert np.all(np.diff(at) > 0)


@given(st.floats(1e-3, 1e6), st.integers(2, 300), st.floats(1e-6, 1e7), st.sampled_from(["linear", "log"]))
def test_instants_start_at_0_and_end_at_the_last(last: float, records: int, first: float, spacing: Spacing) -> None:
    at = instants(last, records, spacing, first)
    assert at[0] == 0
    assert at[-1] == last
    assert len(at) <= records
    assert np.all(np.diff(at) > 0)


def test_spacings() -> None:
    assert schedule(100, 5, "linear").tolist() == [0, 25, 50, 75, 100]
    assert schedule(1000, 5, "log").tolist() == [0, 1, 10, 100, 1000]
    assert schedule(100, 2, "listed", (30, 7, 30, 0)).tolist() == [0, 7, 30, 100]
    assert np.allclose(instants(100.0, 5, "log", 0.1), [0, 0.1, 1, 10, 100], rtol=1e-12)
    assert instants(2.0, 2, "listed", 0.1, (1.5, 0.5)).tolist() == [0, 0.5, 1.5, 2]


@pytest.mark.parametrize(
    ("listed", "spacing", "says"),
    [
        ((), "listed", r"listed = \[\]: give the instants"),
        ((1,), "log", r'listed = \[1\]: only with spacing = "listed"'),
        ((1, 11), "listed", r"listed = \[1, 11\]: 11 is not between 0 and the last, 10"),
        ((-1,), "listed", "-1 is not between"),
    ],
)
def test_lists_that_make_no_sense_are_refused(listed: tuple[int, ...], spacing: Spacing, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check_listed(listed, spacing, 10)


def test_good_lists_pass() -> None:
    check_listed((0, 5, 10), "listed", 10)
    check_listed((), "linear", 10)
