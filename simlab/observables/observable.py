"""The contract of an observable: numbers measured at recorded instants of a flow."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from simlab.core.kinds import Kind
from simlab.record.schema import Output

if TYPE_CHECKING:
    from simlab.observables.view import Setting, View


class Observable(Kind):
    """What is measured along a flow.

    several_outputs: it can measure networks with several outputs, where y is (n, c).
    needs_linearised: it compares with the linearised network, trained in the same flow (`View.linear`).
    needs_samples: it uses training samples, which an exact population flow does not have.
    needs_test: it is measured on test samples.
    needs_descent: it compares with gradient flow, so it is of no use with `momentum` and `langevin`.
    losses: with which losses it makes sense: "any"; those of "real" labels, where αf is to approximate y; or the
        "squared" loss alone, as closed forms of the flow do.
    """

    lack: ClassVar[str] = "no observable"
    shown: ClassVar[tuple[str, ...]] = ("measure", "outputs")
    several_outputs: ClassVar[bool] = False
    needs_linearised: ClassVar[bool] = False
    needs_samples: ClassVar[bool] = True
    needs_test: ClassVar[bool] = False
    needs_descent: ClassVar[bool] = False
    losses: ClassVar[Literal["any", "real", "squared"]] = "squared"

    @abstractmethod
    def outputs(self) -> dict[str, Output]:
        """Name → description and dimensions, of everything that `measure` returns.

        An output without the dimension ``record`` is no trajectory: it is recorded once, at the start.
        """

    @abstractmethod
    def measure(self, view: View) -> dict[str, Any]:
        """Name → number or array at one instant, for every name of `outputs`."""

    def check(self, setting: Setting) -> None:
        """Raise ValueError, one line that names the key, where the observable makes no sense in this setting."""
