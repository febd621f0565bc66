"""simlab: a Numba-compiled, CPU-only laboratory for the theory of deep networks.

``simlab.open(path)`` opens the results of a run; ``simlab.run(spec, directory)`` runs a sweep from Python.
Rooms (`simlab.networks`, `simlab.flows`, …) are imported when first used.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray

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
    from simlab.record.reader import open_results

    return open_results(path)


def run(spec: str | Path, directory: str | Path, **options: Any) -> Any:
    """Run a sweep, or go on with it; the outcome has `results` and `failed`. See `simlab.lab.run.run_spec`."""
    from simlab.lab.run import run_spec

    return run_spec(spec, directory, **options)


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and importlib.util.find_spec(f"simlab.{name}") is not None:
        return importlib.import_module(f"simlab.{name}")
    raise AttributeError(f"module 'simlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The rooms, and the functions above: what TAB shows."""
    rooms = {module.name for module in pkgutil.iter_modules(__path__) if module.ispkg} - {"cli", "core"}
    return sorted(rooms.union(__all__))
