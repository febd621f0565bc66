"""With C(d,k)/1000 features no linear fit learns a parity that they were not made for. [S3 §5], MATH §9.

H = F + αG(F) of the separation class on {±1/√d}^d; L = CΦ(x) with the coefficients that are best under the law itself.
The control makes the features, as many neurons or waves, of the right k coordinates: ReLU and Fourier features then
hold F and the parity (four tangent neurons are too few, and monomials of one even degree do not hold F).
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture

from simlab.claims._bounds import draw_bound, judge_bound
from simlab.claims.claim import Claim, Judgement
from simlab.record.reader import Results

_SPEC = """
[experiment]
kind = "cube_bound"
seed = 5
dim = 50
size = 4
alpha = 0.3
targets = 200
corners = {corners}
[sweep]
network = [{networks}]
{more}
"""


def _maps(neurons: int, tangent: int, degree: int) -> list[str]:
    return [
        f'{{ kind = "random_features", width = {neurons} }}',
        f'{{ kind = "neural_tangent", width = {tangent} }}',
        f'{{ kind = "fourier_features", width = {neurons} }}',
        f'{{ kind = "random_features", width = {neurons}, activation = {{ kind = "monomial", degree = {degree} }} }}',
    ]


_CUBES = (
    f'"experiment.dim" = {[50] * 4 + [100] * 4 + [30] * 4}\n"experiment.size" = {[4] * 4 + [3] * 4 + [6] * 4}\n'
    'zip = [["network", "experiment.dim", "experiment.size"]]'
)


class FeatureBound(Claim):
    statement = (
        "Over D <= C(d,k)/1000 given features (ReLU neurons, tangent features, Fourier features, random polynomials of "
        "degree k), for at least 99 % of the targets of the separation class, every linear function of them has a "
        "population risk above alpha^2/16."
    )
    source = "ResNet beyond kernels [S3] §5 (Allen-Zhu and Li 2019)"
    expected = "oracle risk above alpha^2/16 for 99 % of 200 random targets or more, for every feature map tried"
    quick = _SPEC.format(networks=", ".join(_maps(230, 4, 4)), more="", corners=8192)
    full = _SPEC.format(
        networks=", ".join(_maps(230, 4, 4) + _maps(161, 1, 3) + _maps(593, 19, 6)), more=_CUBES, corners=32768
    )
    control = ('experiment.given="target"',)

    def judge(self, results: Results) -> Judgement:
        return judge_bound(results)

    def figure(self, results: Results, control: Results) -> Picture:
        return draw_bound(results, control)
