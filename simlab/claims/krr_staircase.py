"""Kernel regression on d^ℓ ≪ n ≪ d^(ℓ+1) samples learns the parts of degree ≤ ℓ and no more. [S1 §6], MATH §7.

Target Σ_k Z_k, power 1 in each of the degrees 1, 2, 3; KRR without ridge; E (f_k − Z_k)² is exact given the sample.
Kernels are of depth 3 and more: a bias-free ReLU kernel of depth 2 never learns odd degrees above 1. The control is the
absolute value, an even activation: its kernels never learn degree 1, however many samples there are.
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture

from simlab.claims._staircases import draw_staircase, judge_staircase
from simlab.claims.claim import Claim, Judgement
from simlab.record.reader import Results

_SPEC = """
[experiment]
kind = "staircase"
dim = {dim}
seed = 1
learner = "krr"
[kernel]
kind = "ntk"
activation = "relu"
[sweep]
"kernel.depth" = {depths}
"experiment.size" = {sizes}
seeds = {seeds}
"""


class KRRStaircase(Claim):
    statement = (
        "Kernel ridge regression with a rotation-invariant kernel, deep or not, on d^l << n << d^(l+1) samples learns "
        "the parts of the target of degree up to l and no more."
    )
    source = "A kernel viewpoint [S1] §6 (Ghorbani et al. 2021)"
    expected = "at most 0.3 of the power is left in every degree up to l, at least 0.55 in every degree above"
    quick = _SPEC.format(dim=20, depths=[3, 5], sizes=[4, 150, 1500], seeds=3)
    full = _SPEC.format(dim=40, depths=[3, 5, 10], sizes=[6, 470, 7000], seeds=5)
    control = ("kernel.activation=abs",)

    def judge(self, results: Results) -> Judgement:
        return judge_staircase(results)

    def figure(self, results: Results, control: Results) -> Picture:
        return draw_staircase(results, control, "n", "kernel regression", "absolute value")
