"""Tests of judges: results put together by hand, of which a judge says what follows from them.

Here is what the tests of several claims share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab import claims
from simlab.claims.claim import SHORT_COLUMNS, Judgement
from simlab.record.reader import Results
from tests.support.stand_in_results import StandInResults


def judged(claim: str, results: Results) -> Judgement:
    """What the judge of the claim of this name says; the figure that decides must fit into its line."""
    judgement = claims.get(claim).judge(results)
    assert 0 < len(judgement.short) <= SHORT_COLUMNS, judgement.short
    return judgement


def assert_judged(claim: str, results: Results, holds: bool) -> None:
    """The judge of the claim of this name says yes, or no."""
    judgement = judged(claim, results)
    assert judgement.holds is holds, judgement.measured


def repeated(clean: ArrayLike, count: int, noise: float, seed: int = 0) -> NDArray[np.float64]:
    """(…, count): repetitions with this relative noise."""
    draws = np.random.default_rng(seed).standard_normal((*np.shape(clean), count))
    return np.asarray(clean)[..., np.newaxis] * np.exp(noise * draws)


LINE = 0.36
"""Error of a learner of F alone, in `learner_results`."""


def learner_results(
    errors: Mapping[tuple[str, str, float], Any], seeds: int = 3, widths: tuple[int, ...] = ()
) -> StandInResults:
    """Of nets and their rivals: (learner, form, step) → error, or one error per width; those of validation alike."""
    values = np.array([np.broadcast_to(error, (max(1, len(widths)),)) for error in errors.values()])
    table = np.repeat(values[:, :, np.newaxis], seeds, axis=2) * np.linspace(0.9, 1.1, seeds)
    table = table if widths else table[:, 0]
    learners, forms, steps = zip(*errors, strict=True)
    axis = "experiment.label"
    return StandInResults(
        {axis: np.arange(len(errors)), **({"network.width": widths} if widths else {}), "seed": np.arange(seeds)},
        {
            "test_error": table,
            "validation_error": table,
            "learned_composed": np.where(np.isnan(table), np.nan, 0.7),
            "diverged": np.isnan(table).astype(int),
            "composed_power": np.full_like(table, LINE),
        },
        zipped={
            "experiment.learner": (axis, learners),
            "network.form": (axis, forms),
            "flow.step": (axis, steps),
            "flow.weight_decay": (axis, np.full(len(errors), 1e-3)),
        },
        spec="[data]\ndim = 20\n[network]\noutputs = 4\n[experiment]\nsamples = 600\n",
    )


def step_results(errors: Mapping[float, float]) -> StandInResults:
    """Of a ResNet: step size → error."""
    return learner_results({("descent", "residual", step): error for step, error in errors.items()})


def supremum_results(
    axis: str, x: NDArray[np.float64], exponents: Mapping[str, tuple[float, float]], noise: float
) -> StandInResults:
    """Trajectories of tanh and ReLU nets, largest in the middle, where they are x^exponent up to noise.

    axis, x: an axis of the sweep and its values.
    exponents: recorded name → exponent for tanh, for ReLU.
    """
    recorded = {}
    for seed, (name, powers) in enumerate(exponents.items(), start=1):
        largest = repeated([x**power for power in powers], 6, noise, seed)
        recorded[name] = largest[..., np.newaxis] * np.array([0.0, 0.3, 1.0, 0.5])
    return StandInResults({"network.activation": ["tanh", "relu"], axis: x, "seed": np.arange(6)}, recorded)


def staircase_results(learned: list[int], left: float = 0.1, over: float = 0.9) -> StandInResults:
    """Sizes d^0.5, d^1.5, d^2.5. Degrees 1 … `learned` of each size are left up to `left`, the others `over`."""
    share = np.array([[left if k <= last else over for k in (1, 2, 3)] for last in learned])
    dims = ("experiment.size", "seed")
    return StandInResults(
        {"experiment.size": [4, 89, 1789], "seed": [0, 1], "degree": [1, 2, 3]},
        {
            "exponent": (dims, np.repeat([[0.5], [1.5], [2.5]], 2, axis=1)),
            "unlearned": ((*dims, "degree"), np.repeat(share[:, np.newaxis, :], 2, axis=1)),
        },
    )


def staircase_cases(above: int) -> list[tuple[StandInResults, bool]]:
    """(results, whether degrees up to ℓ + above are learned between d^ℓ and d^(ℓ+1), and no others)"""
    right = [above, 1 + above, 2 + above]
    return [
        (staircase_results(right), True),
        (staircase_results(right, left=0.35), False),
        (staircase_results(right, over=0.5), False),
        (staircase_results([right[0], right[1] + 1, right[2]]), False),
        (staircase_results([right[0], right[1] - 1, right[2]]), False),
        (staircase_results([step + 1 - 2 * above for step in right]), False),
    ]


BOUND = 0.3**2 / 16


def bound_results(axis: str, below: int = 0, functions: int = 230, risk: float = 0.36) -> StandInResults:
    """Two learners along `axis`, 200 targets; of the second, `below` targets lie just below the bound α²/16."""
    risks = np.full((2, 200), risk)
    risks[1, :below] = 0.99 * BOUND
    numbers = {"functions": functions, "allowed": 230, "bound": BOUND, "without_parity": 0.36}
    recorded: dict[str, Any] = {name: np.full(2, value) for name, value in numbers.items()} | {"risk": risks}
    if axis == "kernel":
        recorded["ridge_risk"] = 2 * risks
    return StandInResults({axis: ['{"kind": "nngp"}', '{"kind": "ntk"}'], "target": np.arange(200)}, recorded)


def bound_cases(axis: str) -> list[tuple[StandInResults, bool]]:
    """(results, whether the lower bound holds)"""
    return [
        (bound_results(axis), True),
        (bound_results(axis, below=2), True),  # 99 %
        (bound_results(axis, below=3), False),
        (bound_results(axis, risk=1.01 * BOUND), True),
        (bound_results(axis, functions=231), False),  # more than the theorem speaks of
        (bound_results(axis, risk=0.0), False),
    ]


def assert_draws_every_target(claim: str, axis: str) -> None:
    """The figure of a lower bound names the learners and has a point per target."""
    figure = claims.get(claim).figure(bound_results(axis), bound_results(axis, below=200))
    assert next(text.get_text() for text in figure.axes[0].get_yticklabels()).startswith("nngp, ")
    assert any(np.size(line.get_xdata()) == 200 for line in figure.axes[1].lines)


def spectrum_results(
    coords: Mapping[str, Any], log10: NDArray[np.float64], **recorded: NDArray[np.float64]
) -> StandInResults:
    """Spectra of a sweep of kernels.

    coords: axes of the sweep; the last is experiment.dim.
    log10: logarithms of the eigenvalues, (axes…, degree).
    recorded: more names, each of the shape of the axes, or (axes…, degree).
    """
    axes = {**coords, "degree": np.arange(log10.shape[-1])}
    return StandInResults(axes, {"trace": np.ones(log10.shape[:-1]), "log10_eigenvalue": log10, **recorded})
