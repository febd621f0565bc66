"""simlab: a Numba-compiled, CPU-only laboratory for the theory of deep networks.

``simlab.run(spec)`` runs a sweep from Python, as the command does; ``simlab.open(path)`` opens the results of a run.
``simlab.train(network, X, y, flow)`` trains a network on your own arrays, ``simlab.load(path)`` reads a saved one.
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
    from numpy.typing import ArrayLike, DTypeLike

    from simlab.core.formats import FigureFormat
    from simlab.flows import Flow
    from simlab.lab.run import Outcome
    from simlab.losses import Loss
    from simlab.networks import Trainable
    from simlab.observables import Observable
    from simlab.training import Trained

__version__ = "0.1.0"
__all__ = ["__version__", "load", "open", "run", "train"]


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

    checks.instance(path, "path", str | Path, "a file results.h5, or a run directory")
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
    from simlab.cli import running
    from simlab.lab.options import RunOptions

    return running.run(
        spec,
        directory,
        RunOptions(workers=workers, overwrite=overwrite, order=order, commit_seconds=commit_seconds),
        settings=settings,
        data=data,
        allow_code=allow_code,
        quiet=quiet,
        figure_format=figure_format,
    )


def train(
    network: Trainable | str | Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    flow: Flow | Mapping[str, Any],
    *,
    loss: str | Loss | Mapping[str, Any] = "squared",
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    X_validation: ArrayLike | None = None,
    y_validation: ArrayLike | None = None,
    observe: str | Observable | Mapping[str, Any] | Iterable[str | Observable | Mapping[str, Any]] | None = None,
    records: int = 101,
    spacing: Literal["linear", "log", "listed"] = "linear",
    at: Iterable[float] = (),
    seed: int | None = None,
    dtype: DTypeLike = "float64",
    threads: int = 1,
    progress: bool = True,
) -> Trained:
    """Train a network on your own arrays, in a script or a notebook.

    network: such as ``networks.TwoLayer(width=200)``; its name, or a table as in a spec, will do.
    X: (n, d), one input per row.
    y: (n,), or (n, c) for a network of c outputs.
    flow: such as ``flows.GradientDescent(steps=1000, step=0.5)``, or its table.
    loss: what is minimised, (1/n) Σ ℓ(α f(x_i), y_i): "squared", ½‖αf − y‖², or another of `simlab.losses`, by name,
        table or object. Losses of classes take y = ±1 (or 0 and 1) with one output; with more outputs class numbers or
        one-hot rows.
    X_test, y_test: data that observables such as test_loss measure on; never trained on.
    X_validation, y_validation: data to choose a setting by, for the observable validation_error.
    observe: observables, by name, table or object; by default the losses on the data given and weight_movement.
    records: how many instants to measure at, the first and the last among them.
    spacing: of these instants: linear, log (equal ratios), or listed.
    at: listed: the steps to measure at, or times of a flow in time, beside the first and the last.
    seed: root of the random streams; one is drawn, and kept in the result, where none is given.
    dtype: precision of the flow, float64 or float32; what is measured is measured in float64.
    threads: threads of BLAS and numba, whatever the caller uses. Bits can depend on it.
    progress: show a bar on a terminal, a line in a notebook, and elsewhere a line every few seconds.

    Returns a `Trained` with ``predict(X)``, ``trajectory`` (an `xarray.Dataset`), ``tangent_kernel(X)``,
    ``features(X)``, ``theta``, ``theta0``, ``ending`` (in words) and ``save(path)``. The same seed gives the same bits,
    those of a point of a sweep with these data. Raises `simlab.core.errors.BadInput` for what cannot be trained.

    >>> from simlab import flows, networks, train
    >>> net = networks.TwoLayer(width=200, activation="tanh")
    >>> flow = flows.GradientDescent(steps=1000, step=0.5)
    >>> trained = train(net, X, y, flow, observe=["train_loss", "tangent_drift"])  # doctest: +SKIP
    >>> trained.predict(X_new), trained.trajectory, trained.tangent_kernel(X)  # doctest: +SKIP
    """
    from simlab.cli.running import train as train_and_show

    return train_and_show(
        network,
        X,
        y,
        flow,
        progress,
        loss=loss,
        X_test=X_test,
        y_test=y_test,
        X_validation=X_validation,
        y_validation=y_validation,
        observe=observe,
        records=records,
        spacing=spacing,
        at=at,
        seed=seed,
        dtype=dtype,
        threads=threads,
    )


def load(path: str | Path, *, allow_code: bool = False) -> Trained:
    """Read a trained network that `Trained.save` wrote.

    path: of the file.
    allow_code: import what "module:name" in the network names; see ``simlab guide trust``.

    >>> trained.save("net.h5")  # doctest: +SKIP
    >>> simlab.load("net.h5").predict(X_new)  # doctest: +SKIP
    """
    from simlab.training import load as load_trained

    return load_trained(path, allow_code=allow_code)


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and importlib.util.find_spec(f"simlab.{name}") is not None:
        return importlib.import_module(f"simlab.{name}")
    raise AttributeError(f"module 'simlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The rooms, and the functions above: what TAB shows."""
    import pkgutil

    rooms = {module.name for module in pkgutil.iter_modules(__path__) if module.ispkg} - {"cli", "core"}
    return sorted(rooms.union(__all__))
