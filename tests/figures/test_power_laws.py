"""Power laws: the fit against exact ones and against the coverage that it promises; the figure of any sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab import figures
from simlab.core.errors import BadInput
from simlab.figures import scaling
from simlab.figures.looks import check_looks
from simlab.figures.powers import fit_power, reduced
from simlab.lab.results import merged_outputs
from simlab.lab.run import run_spec
from simlab.lab.spec import resolve
from simlab.record.reader import Results
from simlab.record.schema import RECORD, Output

X = np.array([10.0, 20.0, 40.0, 80.0, 160.0])


def test_an_exact_power_is_found() -> None:
    power = fit_power(X, 3.0 * X**-0.7)
    assert power is not None
    assert power.exponent == pytest.approx(-0.7, abs=1e-12)
    assert power(40.0) == pytest.approx(3.0 * 40.0**-0.7, rel=1e-12)
    assert power.high - power.low < 1e-10
    assert power.within(-0.7, 0.01)
    assert not power.within(-0.6, 0.05)


@pytest.mark.parametrize("repetitions", [1, 30])
def test_the_interval_contains_the_exponent_19_times_of_20(repetitions: int) -> None:
    """Over 400 samples the share has a standard error of 1.1 %."""
    rng, inside = np.random.default_rng(1), 0
    for _ in range(400):
        power = fit_power(X, X[:, np.newaxis] ** -0.5 * np.exp(0.1 * rng.standard_normal((X.size, repetitions))))
        assert power is not None
        inside += power.low <= -0.5 <= power.high
    assert 0.91 <= inside / 400 <= 0.99


@pytest.mark.parametrize("y", [np.zeros(5), -X, np.full(5, np.nan)])
def test_what_is_no_power_is_not_fitted(y: np.ndarray) -> None:
    assert fit_power(X, y) is None
    assert fit_power(X[:2], X[:2]) is None


def test_scaling_of_a_sweep_of_whole_tables(tmp_path: Path) -> None:
    spec = resolve(
        {
            "experiment": {"kind": "random_features_error", "seed": 1, "points": 4},
            "data": {"kind": "uniform_sphere", "dim": 2},
            "sweep": {
                "network.width": [8, 16, 32],
                "network": [{"kind": "fourier_features", "kernel": kernel} for kernel in ("gaussian", "cauchy")],
                "seeds": 4,
            },
        }
    )
    table = {"kind": "scaling", "x": "network.width", "y": ["sup_error", "rms_error"], "reference": -0.5, "title": "T"}
    chosen = figures.choose(table, merged_outputs(spec))
    results = Results(run_spec(spec, tmp_path / "run").results)
    figure = chosen.draw(results)
    assert len(figure.axes) == 2
    texts = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    power = fit_power([8, 16, 32], results["rms_error"][:, 1])
    assert power is not None
    fitted = rf"${power.exponent:.2f} \pm {(power.high - power.low) / 2:.2f}$"
    assert sorted(texts) == sorted(
        [
            "band: range of 4 seeds",
            next(text for text in texts if "gaussian" in text),
            f"fourier features cauchy: {fitted}",
            "exponent $-0.5$",
        ]
    )
    check_looks(figure)
    assert figure.axes[0].get_xlabel() == "width $m$"
    assert figures.save(chosen, results, tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    elsewhere = figures.choose({**table, "x": "network.depth"}, merged_outputs(spec))
    with pytest.raises(BadInput, match=r"figure\.x = 'network.depth': no axis of this sweep"):
        elsewhere.draw(results)
    with pytest.raises(BadInput, match="'errors' is no number or trajectory"):
        figures.choose({**table, "y": ["errors"]}, merged_outputs(spec))


class Recorded(dict[str, Any]):
    """Trajectories of lengths 3, 2 and 0 (a point that failed), padded with NaN, and a single number a point."""

    def __init__(self) -> None:
        loss = np.array([[4.0, 9.0, 1.0], [5.0, 2.0, np.nan], [np.nan] * 3])
        super().__init__({"loss": loss, "length": np.array([3, 2, 0]), "error": np.array([1.0, 2.0, np.nan])})
        self.dims = {"loss": ("width", "record"), "length": ("width",), "error": ("width",)}

    def select(self, name: str, at: dict[str, Any]) -> Any:
        return self[name]


def test_the_end_and_the_largest_of_trajectories() -> None:
    made: Any = Recorded()
    np.testing.assert_array_equal(reduced(made, "loss", {}, "end"), [1.0, 2.0, np.nan])
    np.testing.assert_array_equal(reduced(made, "loss", {}, "largest"), [9.0, 5.0, np.nan])
    np.testing.assert_array_equal(reduced(made, "error", {}, "largest"), [1.0, 2.0, np.nan])
    made["loss"][0, 1] = np.nan  # recorded, not padding
    np.testing.assert_array_equal(reduced(made, "loss", {}, "largest"), [np.nan, 5.0, np.nan])
    made["loss"] = np.empty((3, 0))  # nothing recorded anywhere
    np.testing.assert_array_equal(reduced(made, "loss", {}, "largest"), np.full(3, np.nan))
    np.testing.assert_array_equal(reduced(made, "loss", {}, "end"), np.full(3, np.nan))


def test_scaling_of_trajectories() -> None:
    made: Any = Recorded()
    made["width"], made.dims["width"] = np.array([1.0, 2.0, 4.0]), ("width",)
    for of, values in (("end", [1.0, 2.0, np.nan]), ("largest", [9.0, 5.0, np.nan])):
        params = scaling.Params(x="width", y=["loss"], of=of, fit=False)  # type: ignore[arg-type]
        scaling.check(params, {"loss": Output("a loss", (RECORD,))})
        (axis,) = scaling.draw(params, made).axes
        (line,) = axis.lines
        np.testing.assert_array_equal(np.asarray(line.get_ydata()), values)
        assert axis.get_legend() is None, "one line without a fit needs none"
