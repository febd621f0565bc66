"""Tangent features of N neurons, d^ℓ ≪ N ≪ d^(ℓ+1), learn degrees ≤ ℓ + 1 and no more, at n = ∞. [S1 §6], MATH §7.

Functions Σ_j a_j φ(w_j·x − ½) + Σ_j ⟨s_j, x⟩ φ'(w_j·x − ½), φ = relu. Target Σ_k Z_k, power 1 in each of the degrees
1, 2, 3; best fit under the uniform law, exact given the weights. The control is the absolute value without a shift: all
of its tangent features are even, and no number of them learns degree 1.
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture

from simlab.claims._staircases import FEATURES_SPEC, draw_staircase, judge_staircase
from simlab.claims.claim import Claim, Judgement
from simlab.record.reader import Results


class NTStaircase(Claim):
    statement = (
        "With infinitely many samples, the tangent features of N neurons, d^l << N << d^(l+1), learn the parts of the "
        "target of degree up to l + 1 and no more."
    )
    source = "A kernel viewpoint [S1] §6 (Ghorbani et al. 2021)"
    expected = "at most 0.3 of the power is left in every degree up to l + 1, at least 0.55 in every degree above"
    quick = FEATURES_SPEC.format(learner="nt", dim=20, sizes=[4, 50], seeds=3)
    full = FEATURES_SPEC.format(learner="nt", dim=40, sizes=[6, 160], seeds=10)
    control = ("activation.kind=abs", "experiment.bias=0.0")

    def judge(self, results: Results) -> Judgement:
        return judge_staircase(results, above=1)

    def figure(self, results: Results, control: Results) -> Picture:
        return draw_staircase(results, control, "N", "tangent features", "absolute value")
