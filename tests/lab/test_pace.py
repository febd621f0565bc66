"""Time left: counted in work, not in points, and never below what the slowest point under way needs."""

from __future__ import annotations

import pytest

from simlab.lab.pace import Pace
from simlab.lab.spec import resolve
from tests.support.runs import small_tables


def pace() -> Pace:
    """Two widths, the second a hundred times as costly, two seeds each; begun at time 0."""
    spec = resolve(small_tables(**{"network.width": [10, 1000], "seeds": 2}))
    made = Pace(spec, range(4))
    made.began = 0.0
    return made


def test_nothing_is_promised_before_anything_is_done() -> None:
    shot = pace().snapshot(5.0, 0, 0, [])
    assert shot.remaining is None
    assert (shot.points, shot.done, shot.rate) == (4, 0, 0.0)


def test_cheap_points_do_not_hide_what_is_still_to_come() -> None:
    made = pace()
    made.done(0)
    made.done(1)
    shot = made.snapshot(2.0, 2, 0, [])
    assert shot.rate == pytest.approx(1.0)
    assert shot.remaining == pytest.approx(200.0, rel=0.01), "two points of a hundred times the work, a second each"


def test_the_slowest_point_is_a_lower_bound() -> None:
    made = pace()
    for point in (0, 1, 2):
        made.done(point)
    # Point 3 was first seen at time 9 with 0 of 50 steps; at 10 it has made one: 49 s to go.
    shot = made.snapshot(10.0, 3, 0, [(3, 1.0, 50.0, 9.0, 0.0)])
    assert shot.running[0].rate == pytest.approx(1.0)
    assert shot.remaining == pytest.approx(49.0)


def test_a_finished_run_has_no_time_left() -> None:
    made = pace()
    for point in range(4):
        made.done(point)
    assert made.snapshot(3.0, 4, 0, []).remaining == 0.0


def test_steps_of_an_earlier_session_are_not_work_of_this_one() -> None:
    """Resumed at 40 of 50 steps, 5 made in 5 s: the other three points and 5 steps are left at a step a second."""
    made = pace()
    shot = made.snapshot(5.0, 0, 0, [(3, 45.0, 50.0, 0.0, 40.0)])
    assert shot.remaining == pytest.approx(5 + 50 + 2 * 0.5, rel=0.02)


def test_time_in_which_nobody_works_does_not_count() -> None:
    """Two cheap points in 2 s of work after 30 s of compiling: as fast, and as long to go, as without these 30 s."""
    plain, paused = pace(), pace()
    paused.pause(30.0)
    for made in (plain, paused):
        made.done(0)
        made.done(1)
    one, other = plain.snapshot(2.0, 2, 0, []), paused.snapshot(32.0, 2, 0, [])
    assert (other.rate, other.remaining) == (pytest.approx(one.rate), pytest.approx(one.remaining))
    assert (one.elapsed, other.elapsed) == (2.0, 32.0), "what is shown as time so far is all of it"
