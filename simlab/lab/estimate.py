"""What a run would take: time, bytes recorded, and memory. Rough, for ``--dry-run``."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from simlab.core.resources import cores, free_memory
from simlab.lab import needs
from simlab.lab.covering import covering
from simlab.lab.spec import Spec


@dataclass(frozen=True)
class Estimate:
    """What a run would take, roughly.

    seconds: time for all points together; None where the experiment has no estimate.
    nbytes: bytes recorded; None where the experiment has no estimate.
    memory: bytes that the largest point needs at least; 0 where the experiment has no estimate.
    free: bytes of memory that are free now.
    """

    seconds: float | None
    nbytes: float | None
    memory: float
    free: int


def estimate(spec: Spec, workers: int) -> Estimate:
    """From the experiment's count of flops and a product measured here and now; good to a factor of a few."""
    memory, free = max(needs.memory(spec).found.values(), default=0.0), free_memory()
    costs = covering(spec, lambda experiment: experiment.cost(), needs.WEIGHED_POINTS).found.values()
    known = [cost for cost in costs if cost is not None]
    if not known:
        return Estimate(None, None, memory, free)
    a = np.ones((256, 256))
    times = []
    with threadpool_limits(min(spec.threads, cores())):  # a hundred threads have their price, and OpenBLAS may die
        for _ in range(20):
            began = time.perf_counter()
            a @ a
            times.append(time.perf_counter() - began)
    rate = 2 * 256**3 / min(times) / 4  # flops per second: loops reach a quarter of the speed of products
    flops, nbytes = np.mean(np.array(known, np.float64), axis=0) * spec.sweep.points
    return Estimate(float(flops) / rate / workers, float(nbytes), memory, free)
