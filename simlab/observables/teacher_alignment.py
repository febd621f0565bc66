"""Whether the neurons of a two-layer net have found those of the teacher: cosines of w_j and v_k. MATH §7.

For every neuron v_k of the target: the largest cosine over the net's neurons, and the mean with weights |a_j|‖w_j‖. For
a 1-homogeneous φ this weight is the size of a neuron's part in f, so neurons that do nothing do not count.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View, check_neurons
from simlab.record.schema import RECORD, Output
from simlab.targets.neuron_sum import NeuronSum


class TeacherAlignment(Observable):
    """Largest and mean cosine of the net's neurons with each of the teacher's."""

    needs_samples: ClassVar[bool] = False
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def check(self, setting: Setting) -> None:
        check_neurons(setting.network, self.kind)
        target = setting.require_target(self.kind)
        if not target.has_neurons:
            raise ValueError(
                f"target.kind = {target.kind!r}: teacher_alignment needs a teacher whose neurons are known, "
                f"such as relu_teacher"
            )

    def outputs(self) -> dict[str, Output]:
        return {
            "alignment_max": Output("largest cosine of a neuron with the teacher's", (RECORD, "teacher")),
            "alignment_mean": Output("mean cosine with the teacher's neuron, weighted by |a|‖w‖", (RECORD, "teacher")),
        }

    def measure(self, view: View) -> dict[str, Any]:
        a, _, W = view.network.neurons(view.theta)
        assert isinstance(view.target, NeuronSum)  # what `check` asks for
        V = np.asarray(view.target.neurons)
        sizes, lengths = np.linalg.norm(W, axis=1), np.linalg.norm(V, axis=1)
        products = W @ V.T
        cosines = np.divide(products, np.outer(sizes, lengths), out=np.zeros_like(products), where=products != 0.0)
        weights = np.abs(a) * sizes
        total = float(weights.sum())
        mean = weights @ cosines / total if total > 0.0 else np.zeros(len(V))
        return {"alignment_max": cosines.max(axis=0), "alignment_mean": mean}
