"""Which part of H = F + αG(F) a net has learned, by its projections on F and on G(F). [S3 §7], MATH §9.

Least squares of the net's output on F and αG(F), over the test data and all outputs together
(`simlab.targets.hierarchy.Learned`): both coefficients are 1 where all of H is learned, and the error splits into what
is missing of either part and the rest.
"""

from __future__ import annotations

from typing import Any

from simlab.core.params import Params as Base
from simlab.core.params import kind_of
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output

SEVERAL_OUTPUTS = True


class Params(Base):
    pass


def check(params: Params, setting: Setting) -> None:
    if not setting.target.is_hierarchy:
        raise ValueError(
            f"target.kind = {kind_of(setting.target)!r}: hierarchy needs one made of F and G, such as allen_zhu_li"
        )
    if setting.test_samples < 2:
        raise ValueError("observables: hierarchy needs experiment.test_samples of 2 or more")


def outputs(params: Params) -> dict[str, Output]:
    return {
        "learned_simple": Output("coefficient p of F in the net's output", (RECORD,)),
        "learned_composed": Output("coefficient q of αG(F) in the net's output", (RECORD,)),
        "error_simple": Output("(1 − p)² E‖F‖²", (RECORD,)),
        "error_composed": Output("(1 − q)² α² E‖G(F)‖²", (RECORD,)),
        "error_rest": Output("mean square of what is neither F nor G(F)", (RECORD,)),
    }


def measure(params: Params, view: View) -> dict[str, Any]:
    target: Any = view.target
    learned = target.learned(view.predict(view.X_test), target.parts(view.X_test))
    return {
        "learned_simple": learned.simple,
        "learned_composed": learned.composed,
        "error_simple": learned.error_simple,
        "error_composed": learned.error_composed,
        "error_rest": learned.error_rest,
    }
