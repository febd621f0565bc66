"""`simlab show` of results whose parts do not fit together."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from simlab.cli._show_run import summary
from simlab.record.reader import Results
from simlab.record.schema import RESULTS_SCHEMA


def test_more_errors_than_points(tmp_path: Path) -> None:
    """`status` shorter than `error`: what fits is shown."""
    path = tmp_path / "results.h5"
    with h5py.File(path, "w") as file:
        file.attrs["simlab_results"] = RESULTS_SCHEMA
        file["point"] = np.arange(3)
        file["one"] = np.arange(1)
        for name, values, scale in (
            ("status", np.array([3], dtype=np.int8), "one"),
            ("error", ["a", "b", "c"], "point"),
        ):
            if not file[scale].is_scale:
                file[scale].make_scale(scale)
            file[name] = values
            file[name].dims[0].attach_scale(file[scale])
    assert len(Results(path)["error"]) == 3
    assert summary(path)["failures"] == [{"point": 0, "error": "a"}]
