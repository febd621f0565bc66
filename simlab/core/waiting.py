"""How threads of parallel loops wait for each other: they spin for some microseconds, then they sleep.

GNU's OpenMP, on which numba's threads run, lets a thread spin for milliseconds. Where another process is busy on one of
the cores, the spinning thread keeps the other one from its core: beside one busy process on two cores a step of
three_layer_mean_field took 9.9 ms on two threads and 4.4 ms on one, of two_layer 14.4 and 3.5. With 1000 turns
these take 4.9 and 3.9 ms; on a quiet machine nothing is lost (2.6 and 2.3 ms, with long spinning 2.8 and 2.5).
With 300 turns a fully connected net of width 128 took 25 % longer on a quiet machine.

OpenMP reads the number from the environment when it is loaded, which numba does at the first parallel loop.
"""

from __future__ import annotations

import os

TURNS = "1000"
CHOSEN = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
"""Variables by which a user chooses otherwise."""


def wait_briefly() -> None:
    """Set how long threads spin, unless the user has. Without effect once a parallel loop has run in this process."""
    if not any(name in os.environ for name in CHOSEN):
        os.environ["GOMP_SPINCOUNT"] = TURNS
