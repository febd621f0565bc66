"""Which part of H = F + αG(F) a net has learned, by its projections on F and on G(F). [S3 §7], MATH §9.

Least squares of the net's output on F and αG(F), over the test data and all outputs together
(`simlab.targets.hierarchy.Learned`): both coefficients are 1 where all of H is learned, and the error splits into what
is missing of either part and the rest.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output
from simlab.targets.hierarchy import Hierarchy as HierarchicalFunction


class Hierarchy(Observable):
    """Coefficients of F and αG(F) in the net's output, and the error that each leaves."""

    several_outputs: ClassVar[bool] = True
    needs_test: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "real"

    def check(self, setting: Setting) -> None:
        target = setting.require_target(self.kind)
        if not target.is_hierarchy:
            raise ValueError(
                f"target.kind = {target.kind!r}: hierarchy needs one made of F and G, such as allen_zhu_li"
            )
        if setting.test_samples < 2:
            raise ValueError("observables: hierarchy needs experiment.test_samples of 2 or more")

    def outputs(self) -> dict[str, Output]:
        return {
            "learned_simple": Output("coefficient p of F in the net's output", (RECORD,)),
            "learned_composed": Output("coefficient q of αG(F) in the net's output", (RECORD,)),
            "error_simple": Output("(1 − p)² E‖F‖²", (RECORD,)),
            "error_composed": Output("(1 − q)² α² E‖G(F)‖²", (RECORD,)),
            "error_rest": Output("mean square of what is neither F nor G(F)", (RECORD,)),
        }

    def measure(self, view: View) -> dict[str, Any]:
        target = view.target
        assert isinstance(target, HierarchicalFunction)  # what `check` asks for
        learned = target.learned(view.predict(view.X_test), target.parts(view.X_test))
        return {
            "learned_simple": learned.simple,
            "learned_composed": learned.composed,
            "error_simple": learned.error_simple,
            "error_composed": learned.error_composed,
            "error_rest": learned.error_rest,
        }
