"""Whether the neurons of a two-layer net have found those of the teacher: cosines of w_j and v_k. MATH §7.

For every neuron v_k of the target the largest cosine over the net's neurons, and their mean weighted by |a_j|‖w_j‖, the
size of a neuron's part in f for a 1-homogeneous φ: dead neurons do not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simlab.core.params import Params as Base
from simlab.core.params import kind_of
from simlab.observables.view import Setting, View, check_able
from simlab.record.schema import RECORD, Output


class Params(Base):
    pass


def check(params: Params, setting: Setting) -> None:
    check_able(setting.network, "neurons", "teacher_alignment")
    if not setting.target.has_neurons:
        raise ValueError(
            f"target.kind = {kind_of(setting.target)!r}: teacher_alignment needs a teacher whose neurons are known, "
            f"such as relu_teacher"
        )


def outputs(params: Params) -> dict[str, Output]:
    return {
        "alignment_max": Output("largest cosine of a neuron with the teacher's", (RECORD, "teacher")),
        "alignment_mean": Output("mean cosine with the teacher's neuron, weighted by |a|‖w‖", (RECORD, "teacher")),
    }


def measure(params: Params, view: View) -> dict[str, Any]:
    a, _, W = view.module.neurons(view.network, view.theta)
    V = np.asarray(view.target.neurons)  # type: ignore[union-attr]
    sizes, lengths = np.linalg.norm(W, axis=1), np.linalg.norm(V, axis=1)
    products = W @ V.T
    cosines = np.divide(products, np.outer(sizes, lengths), out=np.zeros_like(products), where=products != 0.0)
    weights = np.abs(a) * sizes
    total = float(weights.sum())
    mean = weights @ cosines / total if total > 0.0 else np.zeros(len(V))
    return {"alignment_max": cosines.max(axis=0), "alignment_mean": mean}
