"""machines: learning with a kernel or features: ridge regression, Gaussian processes, kernel gradient flow.

A machine is an object that a user or an experiment creates in Python; there is no table for it in a spec.
`TrainedNetwork`, a network as an estimator, is a machine too. Its file is in `simlab.training`, which may import
networks, flows and machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import lazy

if TYPE_CHECKING:
    from simlab.machines.feature_ridge import FeatureRidge as FeatureRidge
    from simlab.machines.gaussian_process import GaussianProcess as GaussianProcess
    from simlab.machines.kernel_flow import KernelFlow as KernelFlow
    from simlab.machines.kernel_ridge import KernelRidge as KernelRidge
    from simlab.machines.path import RidgePath as RidgePath
    from simlab.machines.path import ridge_path as ridge_path
    from simlab.machines.ridge_choice import RidgeChoice as RidgeChoice
    from simlab.machines.ridge_choice import choose_ridge as choose_ridge
    from simlab.machines.solver import solve_path as solve_path
else:  # LAPACK and the solvers take 0.2 s to import
    __all__, __getattr__, __dir__ = lazy.exports(__name__, TrainedNetwork="simlab.training.estimator")
