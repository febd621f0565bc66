"""The exact population risk R = ½ E (α f − g)², which an exact population flow descends on. MATH §7."""

from __future__ import annotations

from typing import ClassVar

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output


class Risk(Observable):
    """½ E (α f − g)²."""

    needs_samples: ClassVar[bool] = False

    def check(self, setting: Setting) -> None:
        if setting.samples:
            raise ValueError("observables: risk is known in a population_flow alone; on samples use test_loss")

    def outputs(self) -> dict[str, Output]:
        return {"risk": Output("population risk, half the mean square error over the law of the inputs", (RECORD,))}

    def measure(self, view: View) -> dict[str, float]:
        return {"risk": view.train_loss}
