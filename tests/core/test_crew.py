"""One thread or all: the faster, whatever the machine does, at a small cost; on a clock of the test's own."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from simlab.core.crew import FIRST_WAIT_SECONDS, GAIN, LONG_SECONDS, TRIAL_SECONDS, Crew, on_threads


def work(crew: Crew, rates: dict[int, float], seconds: float, most: int = 2) -> dict[int, float]:
    """Steps at these rates for so long: number of threads → seconds that it was used."""
    used, passed = dict.fromkeys(rates, 0.0), 0.0
    while passed < seconds:
        turn = crew.turn(most, 0.05, 10**9)
        spent = turn.steps / rates[turn.threads]
        crew.saw(turn, turn.steps, spent)
        used[turn.threads] += spent
        passed += spent
    return used


@pytest.mark.parametrize("rate", [1e5, 1e3, 2.2 / LONG_SECONDS])
@pytest.mark.parametrize("single", [0.5, 4.0])
def test_the_faster_is_used_and_trials_cost_little(rate: float, single: float) -> None:
    """From steps of 10 µs to steps that are nearly long; one thread is half as fast, or four times as fast."""
    crew, rates = Crew(1000.0), {2: rate, 1: single * rate}
    best, other = (2, 1) if single < 1 else (1, 2)
    work(crew, rates, 2 * FIRST_WAIT_SECONDS + 50 / rate)
    used = work(crew, rates, 2000 * max(TRIAL_SECONDS, 2 / rate, 2 / (single * rate)))
    assert used[other] < (0.02 if best == 2 else 0.06) * used[best]


@pytest.mark.parametrize("rate", [0.9 / LONG_SECONDS, 20.0, 0.5])
def test_long_steps_are_made_on_all_threads(rate: float) -> None:
    """But for trials. A machine whose speed varies cannot hold them to one thread."""
    crew, rng, used = Crew(1000.0), np.random.default_rng(0), {1: 0.0, 2: 0.0}
    for _ in range(300):
        some = work(crew, {1: rate, 2: 1.7 * rate * rng.uniform(0.3, 1.0)}, 3 / rate)
        used = {threads: used[threads] + some[threads] for threads in used}
    assert 0 < used[1] < 0.03 * used[2]


def test_it_follows_a_change() -> None:
    crew = Crew(1000.0)
    quiet, beside_work = {1: 1000.0, 2: 1800.0}, {1: 1000.0, 2: 300.0}
    for rates, best in ((quiet, 2), (beside_work, 1), (quiet, 2)):
        work(crew, rates, 5.0)
        used = work(crew, rates, 5.0)
        assert used[best] > 0.95 * sum(used.values())


def test_a_little_faster_is_not_enough() -> None:
    used = work(Crew(1000.0), {1: 0.98 * GAIN * 1000.0, 2: 1000.0}, 10.0)
    assert used[2] > 0.95 * sum(used.values())


def test_a_first_step_that_woke_its_threads_is_forgotten() -> None:
    crew, rates = Crew(1000.0), {1: 1000.0, 2: 1800.0}
    crew.saw(crew.turn(2, 0.05, 1), 1, 0.5)
    for _ in range(3):  # such a rate asks for stretches of one step
        turn = crew.turn(2, 0.05, 10**9)
        crew.saw(turn, turn.steps, turn.steps / rates[turn.threads])
    assert crew.rates[2] == pytest.approx(1800.0)
    used = work(crew, rates, 2.0)
    assert used[2] > 0.9 * sum(used.values())


def test_one_thread_stays_one_and_stretches_have_their_length() -> None:
    crew = Crew(100.0)
    assert crew.turn(1, 0.05, 10**9) == (1, 5, False)
    assert crew.turn(1, 0.05, 3) == (1, 3, False)
    crew.saw(crew.turn(1, 0.05, 10**9), 5, 0.005)
    assert crew.turn(1, 0.05, 10**9) == (1, 50, False)
    assert crew.turn(1, 1e-9, 10**9).steps == 1


def test_threads_for_the_time_of_a_block() -> None:
    before = numba.get_num_threads()
    with on_threads(1):
        assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == before
