"""The contract tests of a figure: it refuses runs that lack what it draws, and its pictures are readable.

>>> figures.check(figures.get("staircases"))
"""

from __future__ import annotations

import io
import tomllib
from collections.abc import Iterator

from simlab.core.checking import check_value, ensure
from simlab.core.errors import BadInput
from simlab.figures.figure import Figure
from simlab.figures.looks import check_looks
from simlab.lab.spec import Spec
from simlab.record.reader import Results


def check(figure: Figure, spec: Spec | None = None) -> None:
    """Raise AssertionError, with one line that says what is wrong, unless the figure keeps the contract.

    spec: records what the figure draws; by default a bundled spec that does. It is not run: the results are made up
        (`simlab.figures.synthetic`).
    """
    check_value(figure, Figure)
    about = f"figure {figure.kind}"
    try:
        figure.check({})
    except BadInput as error:
        ensure(str(error).startswith("figure"), f"{about}: its errors must begin with figure: {error}")
    else:
        raise AssertionError(f"{about}: it accepts a run that records nothing")
    results = next(_drawable(figure, _bundled_specs(figure) if spec is None else iter([spec])), None)
    if results is None:
        given = "no bundled spec records and sweeps" if spec is None else "the spec does not record and sweep"
        raise AssertionError(f"{about}: {given} what it draws; give a spec that does")
    picture = figure.draw(results)
    ensure(bool(picture.axes), f"{about}: it draws nothing")
    try:
        check_looks(picture)
    except AssertionError as error:
        raise AssertionError(f"{about}: {error}") from None
    ensure(_bytes(figure, results) == _bytes(figure, results), f"{about}: it draws another picture the second time")


def _bundled_specs(figure: Figure) -> Iterator[Spec]:
    """The bundled specs; first those with a figure of this kind."""
    from simlab.lab import bundled
    from simlab.lab.spec import resolve

    tables = [tomllib.loads(bundled.get(name).text) for name in bundled.names()]
    for table in sorted(tables, key=lambda table: table.get("figure", {}).get("kind") != figure.kind):
        yield resolve(table)


def _drawable(figure: Figure, specs: Iterator[Spec]) -> Iterator[Results]:
    """Made-up results of the specs that the figure does not refuse."""
    from simlab.figures.synthetic import SyntheticResults
    from simlab.lab.results import merged_outputs

    for spec in specs:
        try:
            figure.check(merged_outputs(spec))
            results = SyntheticResults(spec)
            figure.draw(results)
        except BadInput:
            continue
        yield results


def _bytes(figure: Figure, results: Results) -> bytes:
    """The pixels of the picture."""
    file = io.BytesIO()
    figure.draw(results).savefig(file, format="raw", dpi=40)
    return file.getvalue()
