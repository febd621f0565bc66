"""How many threads the next stretch of a long computation takes: all that it may, or one, whichever was faster of late.

Two threads that share the work evenly gain nothing where another program has one of the cores, and lose where they meet
every few microseconds: beside one busy process a step of two_layer with n = 256, m = 64 took 36 µs on one thread and
150 µs on two, which spin or sleep at each meeting. Only for loops whose bits do not depend on the number of threads.
Steps that are long on one thread are made on all: these meet seldom, so that at worst they take as long as one. On a
machine whose speed varies by a third, steps of 50 ms were held to one thread by chance, for two thirds of the time.

All threads are the rule: one takes over only where it was clearly faster (`GAIN`), as threads that have slept are slow
at first. A trial of the other number is as many steps as the present one makes in `TRIAL_SECONDS`. Trials of one thread
take about 1 % of the time, those of all threads, while one is at work, 5 %.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numba

TRIAL_SECONDS = 0.005
RARELY, OFTEN = 100, 20  # how many times as long as a trial took is worked before the next
FIRST_WAIT_SECONDS = 0.1
GAIN = 1.2
LONG_SECONDS = 0.003  # of a step on one thread; on two, beside a busy process, such steps took at most 1.12 times that


class Turn(NamedTuple):
    """One stretch of steps.

    threads: number of threads.
    steps: number of steps.
    trial: whether it is made to see how fast this number of threads is.
    """

    threads: int
    steps: int
    trial: bool


@dataclass
class Crew:
    """What is known of the speed, in this process.

    first_rate: steps per second as long as nothing is known.
    rates: number of threads → steps per second when it was last used.
    worked: seconds since the other number of threads was tried.
    wait: seconds of work before it is tried again.
    """

    first_rate: float
    rates: dict[int, float] = field(default_factory=dict)
    worked: float = 0.0
    wait: float = FIRST_WAIT_SECONDS

    def turn(self, most: int, seconds: float, most_steps: int) -> Turn:
        """The next stretch, of about so many seconds, at most so many threads and steps."""
        known = self.rates.get(most, self.first_rate)
        best, other = (1, most) if self.rates.get(1, 0.0) > max(GAIN * known, 1 / LONG_SECONDS) else (most, 1)
        trial = most > 1 and self.worked >= max(self.wait, OFTEN / known)
        rate = self.rates.get(best, known)
        least = 2 if trial and other > 1 else 1  # the first step of several threads may have to wake them
        steps = max(least, int(rate * (min(seconds, TRIAL_SECONDS) if trial else seconds)))
        return Turn(other if trial else best, min(most_steps, steps), trial)

    def saw(self, turn: Turn, steps: int, seconds: float) -> None:
        """So many steps of this stretch were made in so many seconds."""
        if turn.trial:
            self.worked, self.wait = 0.0, (RARELY if turn.threads == 1 else OFTEN) * seconds
        else:
            self.worked += seconds
        rate, before = max(1e-3, steps / max(seconds, 1e-7)), self.rates.get(turn.threads)
        if steps == 1 and before is not None and rate < before:
            rate = (rate + before) / 2  # a single step may have had to wake a thread
        self.rates[turn.threads] = rate


@contextlib.contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Parallel loops use so many threads for the time of a block."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
