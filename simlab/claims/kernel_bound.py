"""With C(d,k)/1000 samples no kernel learns a parity that it does not know the coordinates of. [S3 §4], MATH §9.

H = F + αG(F) of the separation class on {±1/√d}^d; R = Σ_n w_n K(·, x_n) with the weights that are best for the target,
which no training can beat. By dimension alone the N functions K(·, x_n) hold at most N of the C(d,k) parities: the risk
stays near kα², what learning F alone leaves. The control gives every kernel the right k coordinates: all is learned.
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture

from simlab.claims._bounds import draw_bound, judge_bound
from simlab.claims.claim import Claim, Judgement
from simlab.record.reader import Results

_SPEC = """
[experiment]
kind = "cube_bound"
seed = 3
dim = 50
size = 4
alpha = 0.3
targets = 200
[sweep]
kernel = [{kernels}]
{more}
"""
_KERNELS = (
    '{ kind = "nngp", depth = 2 }',
    '{ kind = "ntk", depth = 3 }',
    '{ kind = "laplace", c = 1.0 }',
    '{ kind = "gaussian", c = 1.0 }',
    '{ kind = "polynomial", degree = 4 }',
)
_MORE = (
    '{ kind = "nngp", depth = 4 }',
    '{ kind = "ntk", depth = 2 }',
    '{ kind = "laplace", c = 5.0 }',
    '{ kind = "gaussian", c = 10.0 }',
    '{ kind = "polynomial", degree = 8 }',
)
_CUBES = (
    '"experiment.dim" = [50, 100, 30]\n"experiment.size" = [4, 3, 6]\nzip = [["experiment.dim", "experiment.size"]]'
)


class KernelBound(Claim):
    statement = (
        "On N <= C(d,k)/1000 samples, for every kernel and at least 99 % of the targets F + alpha G(F) of the "
        "separation class, all kernel regressors, whatever their weights, have a population risk above alpha^2/16."
    )
    source = "ResNet beyond kernels [S3] §4, Theorem 4.2 (Allen-Zhu and Li 2019)"
    expected = "oracle risk above alpha^2/16 for 99 % of 200 random targets or more, for every kernel tried"
    quick = _SPEC.format(kernels=", ".join(_KERNELS), more="")
    full = _SPEC.format(kernels=", ".join(_KERNELS + _MORE), more=_CUBES)
    control = ('experiment.given="target"',)

    def judge(self, results: Results) -> Judgement:
        return judge_bound(results)

    def figure(self, results: Results, control: Results) -> Picture:
        return draw_bound(results, control)
