"""The exact population risk R = ½ E (α f − g)², which an exact population flow descends on. MATH §7."""

from __future__ import annotations

from simlab.core.params import Params as Base
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output


class Params(Base):
    pass


def check(params: Params, setting: Setting) -> None:
    if setting.samples:
        raise ValueError("observables: risk is known in a population_flow alone; on samples use test_loss")


def outputs(params: Params) -> dict[str, Output]:
    return {"risk": Output("population risk, half the mean square error over the law of the inputs", (RECORD,))}


def measure(params: Params, view: View) -> dict[str, float]:
    return {"risk": view.train_loss}
