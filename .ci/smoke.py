"""A little of everything, with whatever versions are installed: a spectrum, a run, its results, a claim, a grid search,
a trained network.

Every step compares with something known, and the script ends with an error where one is wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

import simlab
from simlab import flows, networks, train
from simlab.kernels import ntk
from simlab.machines import KernelRidge


def call(*arguments: str) -> Any:
    """What ``simlab ARGUMENTS --json`` prints."""
    command = [sys.executable, "-m", "simlab", *arguments, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main() -> None:
    os.chdir(tempfile.mkdtemp())
    print("simlab", simlab.__version__, "in", os.path.dirname(simlab.__file__))

    spectrum = call("spectrum", "ntk", "--depth", "2", "--dim", "3", "--max-degree", "40")
    total = np.dot(spectrum["eigenvalues"], spectrum["multiplicities"])
    assert 1.9 < total < 2.0, total  # tends to k(1) = 2 from below

    outcome = call("run", "quickstart", "-o", "quickstart", "--quiet")
    assert outcome["failed"] == [], outcome
    data = simlab.open("quickstart")
    loss = data["train_loss"].isel(record=[0, -1]).values
    assert type(data).__name__ == "Dataset", type(data)
    assert np.all(loss[..., 1] < 1e-3 * loss[..., 0]), loss

    (row,) = call("reproduce", "tangent_rate", "-o", "ledger", "--quiet")
    assert (row["holds"], row["control"]) == (True, "refused"), row

    X = np.random.default_rng(0).standard_normal((60, 4))
    grid = {"kernel__depth": [2, 3], "ridge": [1e-3, 1e3]}
    found = GridSearchCV(KernelRidge(ntk(2)), grid).fit(X, X[:, 0])
    assert found.best_params_["ridge"] == 1e-3, found.best_params_

    flow = flows.GradientDescent(steps=200, step=0.5)
    trained = train(networks.TwoLayer(width=50, activation="tanh"), X, X[:, 0], flow, seed=0, progress=False)
    trained.save("net.h5")
    assert np.mean((trained.predict(X) - X[:, 0]) ** 2) < 0.1, trained
    assert np.array_equal(simlab.load("net.h5").predict(X), trained.predict(X))
    print("smoke test passed")


if __name__ == "__main__":
    main()
