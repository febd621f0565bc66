"""experiments: what one point of a sweep computes, one file per kind. The contract is `Experiment`.

>>> from simlab import experiments
>>> experiment = experiments.get("spectrum", dim=3, max_degree=30, kernel={"kind": "ntk", "depth": 3})
>>> experiment.outputs()

`OneShot` is for experiments that compute once, `following.Followed` for those that follow a flow. `check` runs the
contract tests on one experiment, also on one from another package. Sweeps and workers are the business of `simlab.lab`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simlab.core import catalogue
from simlab.core.parsing import choose
from simlab.experiments.experiment import Experiment, OneShot

__all__ = ["Experiment", "OneShot", "check", "get"]


def get(name: str, **fields: Any) -> Experiment:
    """An experiment by name; fields that are kinds are given as objects, names or tables."""
    found: Experiment = choose("experiments", {"kind": name, **fields}, "experiment")
    return found


def check(kind: Experiment) -> None:
    """Run the contract tests on one experiment; AssertionError, one line, where it breaks the contract."""
    from simlab.experiments.checking import check_experiment

    check_experiment(kind)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
