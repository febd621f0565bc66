"""kernel, spectrum: a kernel's values, end points and eigenvalues."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from simlab.cli import _kernel_options, _options

PRINTED_LINES = 40


@click.command(short_help="Values of a kernel, and its expansion at u = ±1.")
@_kernel_options.kernel
@click.option(
    "--at",
    type=_kernel_options.numbers,
    default="-1,-0.5,0,0.5,1",
    show_default=True,
    help="Cosines u to evaluate κ(u) at.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw κ(u)/κ(1) into this file: .png, .pdf or .svg.",
)
@_options.quiet
@_options.as_json
def kernel(
    kind: str,
    at: tuple[float, ...],
    plot: Path | None,
    quiet: bool,
    as_json: bool,
    settings: tuple[str, ...],
    **fields: Any,
) -> None:
    """Evaluate kernel KIND at cosines u, and tell its expansion at u = ±1, which sets the decay of its spectrum.

    \b
    Example:
      simlab kernel ntk --depth 3
      simlab kernel nngp --depth 2,5,20 --at 0.9,0.99 --json
      simlab kernel ntk --depth 3 --plot kernel.png \\
          --activation leaky_relu --set activation.slope=0.1
    """
    _check_figure(plot)
    chosen = _kernel_options.kernels(kind, fields, settings)
    rows = []
    for one in chosen:
        ends = one.endpoints()
        rows.append(
            {
                "kernel": repr(one),
                "u": list(at),
                "values": one(list(at)).tolist(),
                "endpoints": {
                    "exponent": ends.exponent,
                    "at_plus_one": ends.at_plus_one,
                    "at_minus_one": ends.at_minus_one,
                },
            }
        )
    if plot is not None:
        from simlab.figures.spectra import profiles
        from simlab.figures.style import save

        save(profiles(chosen), plot)
        _remark(f"figure: {plot}", quiet)
    if as_json:
        _options.print_json(rows[0] if len(rows) == 1 else rows)
        return
    for row in rows:
        click.echo(row["kernel"])
        for u, value in zip(row["u"], row["values"], strict=True):
            click.echo(f"  κ({u:g}) = {value!r}")
        ends = row["endpoints"]
        if ends["exponent"] is None:
            click.echo("  smooth at u = ±1: eigenvalues fall faster than any power of the degree")
        else:
            nu, plus, minus = ends["exponent"], ends["at_plus_one"], ends["at_minus_one"]
            power = f"{1 - 2 * nu:+g}" if nu != 0.5 else ""
            click.echo(f"  κ(1−t) ∋ {plus:.10g} t^{nu:g},  κ(−1+t) ∋ {minus:.10g} t^{nu:g}:  μ_k ~ k^(−d{power})")


@click.command(short_help="Eigenvalues on the sphere or the Boolean cube.")
@_kernel_options.kernel
@click.option("--dim", type=click.IntRange(min=2), metavar="N", required=True, help="Dimension d of the space.")
@click.option("--max-degree", type=click.IntRange(min=0), metavar="N", required=True, help="Largest degree.")
@click.option(
    "--domain", type=click.Choice(["sphere", "cube"]), default="sphere", show_default=True, help="S^(d-1) or {±1}^d."
)
@click.option(
    "--rtol",
    type=float,
    metavar="NUMBER",
    default=1e-15,
    show_default=True,
    help="Relative accuracy; a loose one is faster.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw eigenvalues and predicted law into this file: .png, .pdf or .svg.",
)
@_options.quiet
@_options.as_json
def spectrum(
    kind: str,
    dim: int,
    max_degree: int,
    domain: str,
    rtol: float,
    plot: Path | None,
    quiet: bool,
    as_json: bool,
    settings: tuple[str, ...],
    **fields: Any,
) -> None:
    """Eigenvalues of kernel KIND on the sphere S^(d-1), or the Boolean cube, at degrees 0 … MAX_DEGREE.

    \b
    Example:
      simlab spectrum ntk --depth 5 --dim 10 --max-degree 1000 --plot decay.pdf
      simlab spectrum nngp --depth 2,3,10 --dim 3 --max-degree 100 --json
      simlab spectrum laplace --c 1 --dim 10 --max-degree 50
    """
    _check_figure(plot)
    chosen = _kernel_options.kernels(kind, fields, settings)
    spectra = [one.spectrum(dim, max_degree, domain=domain, rtol=rtol) for one in chosen]
    if as_json:
        rows = [_as_json(one) for one in spectra]
        _options.print_json(rows[0] if len(rows) == 1 else rows)
    else:
        for one, found in zip(chosen, spectra, strict=True):
            _print_spectrum(one, found, quiet)
    if plot is not None:
        from simlab.figures.spectra import decay
        from simlab.figures.style import save

        save(decay(chosen, spectra), plot)
        _remark(f"figure: {plot}", quiet)


def _check_figure(plot: Path | None) -> None:
    """Before the work, not after it."""
    from simlab.core.errors import BadInput

    if plot is not None and not plot.name:
        raise BadInput("--plot: give the name of a file")
    if plot is not None and not plot.parent.is_dir():
        raise BadInput(f"{plot.parent}: no such directory")
    if plot is not None:
        from simlab.figures.style import file_format

        file_format(plot)


def _as_json(found: Any) -> dict[str, Any]:
    """An eigenvalue smaller than its error (of a custom activation) is not known: null."""
    known = found.known().tolist()
    return {
        "kernel": repr(found.kernel),
        "dim": found.dim,
        "degrees": found.degrees.tolist(),
        "eigenvalues": [
            v if sure and math.isfinite(v) else None for v, sure in zip(found.eigenvalues.tolist(), known, strict=True)
        ],
        "log10": [
            v if sure and math.isfinite(v) else None for v, sure in zip(found.log10.tolist(), known, strict=True)
        ],
        "multiplicities": [int(value) for value in found.multiplicities],
    }


def _print_spectrum(one: Any, found: Any, quiet: bool) -> None:
    count, known = len(found.degrees), found.known()
    shown: Any = range(count)
    if count > PRINTED_LINES:
        # Neighbours together: even and odd degrees have laws of their own.
        some = {round((count - 2) ** (i / 14)) for i in range(15)}
        shown = sorted({*range(11), *some, *(k + 1 for k in some)})
    place = f"S^{found.dim - 1}" if found.domain == "sphere" else f"{{±1}}^{found.dim}"
    click.echo(f"{one!r} on {place}")
    click.echo(f"{'degree':>7}  {'eigenvalue':>24}  {'log10':>12}  {'multiplicity':>14}")
    for k in shown:
        size, number = found.log10[k], found.multiplicities[k]
        text = f"{size:12.6f}" if math.isfinite(size) and known[k] else f"{'-':>12}"
        click.echo(f"{found.degrees[k]:>7}  {_number(found, k):>24}  {text}  {_integer(int(number)):>14}")
    if len(shown) < count:
        _remark(f"{count - len(shown)} of {count} degrees are not printed; --json prints them all", quiet)
    worst = max([*found.errors[known], 1.2e-16])
    _remark(f"relative error at most {worst:.1e} ({found.method})", quiet)
    if not known.all():
        _remark(f"{(~known).sum()} eigenvalues are smaller than their error and unknown", quiet)


def _number(found: Any, k: int) -> str:
    """The eigenvalue, also where float64 has no such small numbers."""
    value, size = float(found.eigenvalues[k]), float(found.log10[k])
    if not found.known()[k]:
        return "unknown"
    if value == 0.0 and math.isfinite(size):
        return f"{10 ** (size - math.floor(size)):.12f}e{math.floor(size)}"
    return f"{value!r}"


def _integer(value: int) -> str:
    return str(value) if value < 10**13 else f"{float(value):.6e}" if value < 10**300 else f"1e{len(str(value)) - 1}"


def _remark(line: str, quiet: bool) -> None:
    if not quiet:
        click.echo(line, err=True)


COMMANDS = {"kernel": kernel, "spectrum": spectrum}
