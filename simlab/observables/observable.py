"""The contract of an observable: numbers measured at recorded instants of a flow."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from simlab.core.kinds import Kind
from simlab.record.schema import Output

if TYPE_CHECKING:
    from simlab.observables.view import Setting, View


class Observable(Kind):
    """What is measured along a flow.

    several_outputs: it also makes sense of networks with several outputs, y being (n, c) then.
    needs_linearised: the linearised network must be trained too, in the same flow (`View.linear`).
    needs_samples: it speaks of training samples, which an exact population flow does not have.
    needs_test: it is measured on test samples, and means nothing without any.
    needs_descent: it compares with gradient flow, which `momentum` and `langevin` are not.
    """

    lack: ClassVar[str] = "no observable"
    shown: ClassVar[tuple[str, ...]] = ("measure", "outputs")
    several_outputs: ClassVar[bool] = False
    needs_linearised: ClassVar[bool] = False
    needs_samples: ClassVar[bool] = True
    needs_test: ClassVar[bool] = False
    needs_descent: ClassVar[bool] = False

    @abstractmethod
    def outputs(self) -> dict[str, Output]:
        """Name → description and dimensions of every number that `measure` gives.

        An output without the dimension ``record`` is no trajectory: it is recorded once, at the start.
        """

    @abstractmethod
    def measure(self, view: View) -> dict[str, Any]:
        """The numbers at one instant, by the names of `outputs`."""

    def check(self, setting: Setting) -> None:
        """Raise ValueError, one line that names the key, where the observable makes no sense in this setting."""
