"""N random neurons, d^ℓ ≪ N ≪ d^(ℓ+1), learn the parts of degree ≤ ℓ and no more, at n = ∞. [S1 §6], MATH §7.

Target Σ_k Z_k, power 1 in each of the degrees 1, 2, 3; best fit under the uniform law, exact given the weights. Neurons
are relu(w·x − ½), which has all degrees; without the shift ReLU has no odd degree above 1. The control is the absolute
value without a shift, an even function: no number of its neurons learns degree 1.
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture

from simlab.claims._staircases import FEATURES_SPEC, draw_staircase, judge_staircase
from simlab.claims.claim import Claim, Judgement
from simlab.record.reader import Results


class RFStaircase(Claim):
    statement = (
        "With infinitely many samples, N random features, d^l << N << d^(l+1), learn the parts of the target of "
        "degree up to l and no more."
    )
    source = "A kernel viewpoint [S1] §6 (Ghorbani et al. 2021)"
    expected = "at most 0.3 of the power is left in every degree up to l, at least 0.55 in every degree above"
    quick = FEATURES_SPEC.format(learner="rf", dim=20, sizes=[4, 60, 700], seeds=3)
    full = FEATURES_SPEC.format(learner="rf", dim=40, sizes=[6, 180, 4000], seeds=10)
    control = ("activation.kind=abs", "experiment.bias=0.0")

    def judge(self, results: Results) -> Judgement:
        return judge_staircase(results)

    def figure(self, results: Results, control: Results) -> Picture:
        return draw_staircase(results, control, "N", "random features", "absolute value")
