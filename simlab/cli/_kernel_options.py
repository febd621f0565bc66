"""The options that name a kernel, shared by `kernel`, `spectrum` and `gram`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simlab.cli import _options
from simlab.core.errors import shown

if TYPE_CHECKING:
    from simlab.kernels import Kernel

F = TypeVar("F", bound=Callable[..., Any])
UNIT_BYTES = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 1 << 10,
    "MIB": 1 << 20,
    "GIB": 1 << 30,
}


# Types of options. click calls their value by the function's name: --memory SIZE.
def integers(text: str) -> tuple[int, ...]:
    """``2,3,10`` → (2, 3, 10)"""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        message = f"{shown(text)}: must be an integer, or several with commas between them"
        raise click.BadParameter(message) from None


def numbers(text: str) -> tuple[float, ...]:
    """``0.5,-1`` → (0.5, −1.0)"""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        message = f"{shown(text)}: must be a number, or several with commas between them"
        raise click.BadParameter(message) from None


def size(text: str) -> int:
    """``4GB`` → bytes"""
    digits = text.rstrip("BKMGTIbkmgti ")
    unit = text[len(digits) :].strip().upper()
    try:
        nbytes = int(float(digits) * UNIT_BYTES[unit])
    except (ValueError, KeyError, OverflowError):
        nbytes = 0
    if nbytes <= 0:
        raise click.BadParameter(f"{shown(text)}: must be a size such as 500MB or 4GB")
    return nbytes


def kernel(function: F) -> F:
    """KIND and the fields of a kernel; `kernels` turns them into objects."""
    for decorate in reversed(
        (
            click.argument("kind", shell_complete=_options.completing(_options.kinds_of("kernels"))),
            click.option("--depth", type=integers, help="Weight layers, 2 is one hidden layer; several: 2,3,10."),
            click.option(
                "--activation",
                metavar="NAME",
                shell_complete=_options.completing(_options.kinds_of("activations")),
                help="relu, erf, … (`simlab list activations`).",
            ),
            click.option(
                "--weight-std",
                type=float,
                metavar="NUMBER",
                help="σ_w of the general recursion.  [default: normalised family]",
            ),
            click.option("--bias-std", type=float, metavar="NUMBER", help="σ_b of the general recursion."),
            click.option("--c", type=float, metavar="NUMBER", help="c of laplace, gaussian, power_exponential."),
            click.option("--gamma", type=float, metavar="NUMBER", help="γ of power_exponential."),
            click.option(
                "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Any other field: activation.slope=0.1."
            ),
            _options.allow_code,
        )
    ):
        function = decorate(function)
    return function


def kernels(kind: str, fields: dict[str, Any], settings: tuple[str, ...]) -> list[Kernel]:
    """One kernel for every kind (``nngp,ntk``) and every depth that was given."""
    from simlab.core import catalogue

    for name in kind.split(","):  # before anything heavy is imported
        catalogue.check_name("kernels", name, f"{name}.kind")
        if fields.get("activation") is not None:
            catalogue.check_name("activations", fields["activation"], f"{name}.activation.kind")
    from simlab.core.parsing import choose
    from simlab.lab.spec import override

    given = {name: value for name, value in fields.items() if value is not None}
    if "activation" in given:
        given["activation"] = {"kind": given["activation"]}
    depths = given.pop("depth", None)
    found = []
    for name in kind.split(","):
        for depth in (None,) if depths is None else depths:
            table = {"kind": name, **given, **({} if depth is None else {"depth": depth})}
            tables = override({"kernel": table}, [f"kernel.{setting}" for setting in settings])
            found.append(choose("kernels", tables["kernel"], name))
    return found
