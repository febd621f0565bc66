"""simlab: a Numba-compiled, CPU-only laboratory for the theory of deep networks.

``simlab.run(spec)`` runs a sweep from Python, as the command does; ``simlab.open(path)`` opens the results of a run.
Rooms (`simlab.networks`, `simlab.flows`, …) are imported when first used.
"""

from __future__ import annotations

# Nothing is imported here that Python has not imported already: under ``python -m simlab`` the current directory is
# still first on the path, until `simlab.__main__` takes it off.
import importlib
import importlib.util

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any, Literal

    import xarray

    from simlab.core.formats import FigureFormat
    from simlab.lab.run import Outcome

__version__ = "0.1.0"
__all__ = ["__version__", "open", "run"]


def open(path: str | Path) -> xarray.Dataset:
    """Open results.h5, or the run directory that holds it.

    Values are read from the file when they are asked for; `data.load()` reads all, `data.close()` closes the file.
    Axes of the sweep, `step` and `time` are coordinates; the spec, seed, versions and machine are in `data.attrs`.

    Example::

        data = simlab.open("out/quickstart")
        data["train_loss"].sel({"network.width": 64, "seed": 0})
    """
    from pathlib import Path

    from simlab.core import checks
    from simlab.record.reader import open_results

    checks.instance(path, "path", str | Path, "a file results.h5, or a run directory")  # type: ignore[arg-type]
    return open_results(path)


def run(
    spec: str | Path | Mapping[str, Any],
    directory: str | Path | None = None,
    *,
    settings: Iterable[str] = (),
    workers: int | None = None,
    data: str | Path | None = None,
    allow_code: bool = False,
    overwrite: bool = False,
    order: Literal["listed", "shuffled"] = "listed",
    commit_seconds: float = 30.0,
    quiet: bool = False,
    figure_format: FigureFormat = "png",
) -> Outcome:
    """Run a sweep, or go on with it, draw its figure and show progress, as ``simlab run`` does.

    spec: path of a TOML file, name of a bundled spec, or a dict of tables as TOML gives them.
    directory: run directory; by default ``out/NAME``, of a dict ``out/KIND`` with the experiment's kind.
    settings: changes to the spec, such as ``["network.width=100"]``.
    workers: processes to use; by default cores / threads of the spec.
    data: directory of stored data, as SIMLAB_DATA.
    allow_code: import what "module:name" in the spec names, as ``--allow-code``; see ``simlab guide trust``.
    overwrite: throw away what an earlier run left in the directory.
    order: in which to take points.
    commit_seconds: longest time between commits.
    quiet: no progress and no remarks on standard error.
    figure_format: of the figure that the spec's [figure] asks for.

    Returns an `Outcome` with ``dataset`` (an `xarray.Dataset`), ``directory``, ``results``, ``figure``, ``seed``,
    ``points`` and ``failed`` (point -> error). Raises `simlab.core.errors.BadInput` for what cannot be run. Stopped by
    ctrl-C it raises KeyboardInterrupt; the same call, or ``simlab resume DIRECTORY``, goes on.

    Works in notebooks, threads and scripts alike; a script needs no ``if __name__ == "__main__"``.

    >>> out = simlab.run("quickstart", "out/q", settings=["sweep.seeds=1"])  # doctest: +SKIP
    >>> out.dataset.train_loss  # doctest: +SKIP
    """
    from simlab.cli.running import run as run_and_draw

    return run_and_draw(
        spec,
        directory,
        settings=settings,
        workers=workers,
        data=data,
        allow_code=allow_code,
        overwrite=overwrite,
        order=order,
        commit_seconds=commit_seconds,
        quiet=quiet,
        figure_format=figure_format,
    )


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and importlib.util.find_spec(f"simlab.{name}") is not None:
        return importlib.import_module(f"simlab.{name}")
    raise AttributeError(f"module 'simlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The rooms, and the functions above: what TAB shows."""
    import pkgutil

    rooms = {module.name for module in pkgutil.iter_modules(__path__) if module.ispkg} - {"cli", "core"}
    return sorted(rooms.union(__all__))
