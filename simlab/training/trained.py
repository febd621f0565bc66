"""A network after its training: weights, trajectory, predictions and tangent kernel."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core import catalogue, checks
from simlab.core.errors import BadInput, one_of
from simlab.flows.flow import Flow
from simlab.losses.loss import Loss
from simlab.networks.network import Trainable
from simlab.observables.observable import Observable
from simlab.record.schema import COORDINATES, RECORD, Output
from simlab.training.arrays import c_writable
from simlab.training.threads import limited

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trained:
    """What `simlab.train` returns.

    network: the network, without weights.
    flow: what trained it.
    observables: what was measured on the way.
    theta: (size,), weights at the end.
    theta0: (size,), weights at the start.
    dim: dimension d of the inputs.
    ending: how the flow ended, in words; "ran to its end" where nothing was wrong.
    seed: root seed of the random streams.
    threads: number of threads of BLAS and numba.
    dtype: precision of the flow, "float64" or "float32".
    loss: what was minimised.
    columns: recorded name → values, (records, …) for what was measured on the way; `trajectory` has them as a Dataset.
    outputs: recorded name → description, dimensions and unit.
    made_by: provenance: versions, machine and sources of simlab that computed it.
    """

    network: Trainable
    flow: Flow
    observables: tuple[Observable, ...]
    theta: Floats
    theta0: Floats
    dim: int
    ending: str
    seed: int
    threads: int
    dtype: str
    loss: Loss
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    outputs: Mapping[str, Output] = field(repr=False)
    made_by: Mapping[str, Any] = field(repr=False)

    @cached_property
    def trajectory(self) -> xarray.Dataset:
        """What was measured, along the dimension ``record``, with the coordinates ``step`` and ``time``.

        The ``attrs`` of each variable have its description and unit, as from `simlab.open`. Those of the Dataset have
        seed, network, flow, ending and versions.
        """
        import xarray  # here, as it takes a second

        variables = {
            name: xarray.Variable(self.outputs[name].dims, values, self.outputs[name].attributes())
            for name, values in self.columns.items()
        }
        coords: dict[str, Any] = {RECORD: np.arange(self.records)}
        for name, values in self.columns.items():
            for dim, size in zip(self.outputs[name].dims, values.shape, strict=True):
                coords.setdefault(dim, self.outputs[name].coords.get(dim, np.arange(size)))
        words = {RECORD: "number of the record"}
        coords = {dim: (dim, values, {"long_name": words.get(dim, dim)}) for dim, values in coords.items()}
        coords |= {name: variables.pop(name) for name in COORDINATES}
        return xarray.Dataset(variables, coords, self._about())

    @property
    def records(self) -> int:
        """Number of recorded instants."""
        return len(self.columns["step"])

    def predict(self, X: ArrayLike) -> Floats:
        """α f(x_i) : (m,), or (m, c) for c outputs, at the rows of X : (m, d); α is the flow's output scale.

        Of a loss of classes these are scores: the class is the sign, or the largest of several outputs.
        """
        rows = self._inputs(X)
        with limited(self.threads):
            f: Floats = self.flow.output_scale() * self.network.forward(c_writable(self.theta), rows)
        return f

    def tangent_kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """K = J Jᵀ : (m, m), or (m, p) between the rows of X and Y; J = ∂f/∂θ at the trained weights."""
        rows, others = self._inputs(X), None if Y is None else self._inputs(Y, "Y")
        with limited(self.threads):
            return self.network.tangent_gram(c_writable(self.theta), rows, others)

    def features(self, X: ArrayLike) -> Floats:
        """H : (m, width), the last hidden layer, scaled so that H Hᵀ is the kernel of training the last layer alone."""
        if not self.network.has_features:
            able = one_of(catalogue.able("networks", lambda cls: issubclass(cls, Trainable) and cls.has_features))
            raise BadInput(f"network.kind = {self.network.kind!r}: has no features to show (allowed: {able})")
        rows = self._inputs(X)
        with limited(self.threads):
            return self.network.features(c_writable(self.theta), rows)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write everything to an HDF5 file, which `simlab.load` reads; it appears whole or not at all.

        overwrite: replace a file that is there already.
        """
        from simlab.training.storage import save

        return save(self, path, overwrite=overwrite)

    def __repr__(self) -> str:
        return f"<Trained {self.network} by {self.flow}: {self.ending}, {self.records} records>"

    def __dir__(self) -> list[str]:
        shown = ("features", "predict", "records", "save", "tangent_kernel", "trajectory")
        return sorted({*type(self).__dataclass_fields__, *shown})

    def _inputs(self, X: ArrayLike, name: str = "X") -> Floats:
        """X : (m, d) as compiled loops need it; refused if the weights are not finite."""
        if not np.all(np.isfinite(self.theta)):
            raise BadInput(f"theta is not finite: the flow diverged ({self.ending}); train with a smaller step")
        return c_writable(checks.matrix(X, name, dim=self.dim))

    def _about(self) -> dict[str, Any]:
        """Attributes of the Dataset, with the same names as in results.h5."""
        from simlab.training.storage import tables_text

        made_by = {name: json.dumps(self.made_by[name], sort_keys=True) for name in ("versions", "machine", "blas")}
        return {
            "spec": tables_text(self, strict=False),
            "seed": self.seed if self.seed < 1 << 63 else str(self.seed),
            "threads": self.threads,
            "ending": self.ending,
            "git_commit": self.made_by["git_commit"],
            **made_by,
        }
