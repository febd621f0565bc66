"""What the two claims about lower bounds on the cube share: shares of targets above α²/16, and the picture. MATH §9."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from simlab.claims.claim import Judgement
from simlab.figures.style import BLUE, BROWN, panels
from simlab.record.reader import Results
from simlab.statistics.sweeps import points_of

LEAST_SHARE = 0.99  # of the targets, above the bound
FLOOR_RISK = 1e-6
"""Risks below are drawn there."""
WORDS = {
    "random_features": "ReLU features",
    "neural_tangent": "tangent features",
    "fourier_features": "Fourier features",
}


def points(results: Results) -> list[dict[str, Any]]:
    """Of every learner and cube: the risks of all targets, the bound, and how many functions were combined."""
    rows = []
    for at in points_of(results, "risk", ("target",)):
        risks = results.select("risk", at)
        bound = float(results.select("bound", at))
        row = {
            "at": _name(at, int(results.select("functions", at))),
            "functions": int(results.select("functions", at)),
            "allowed": int(results.select("allowed", at)),
            "bound": bound,
            "line": float(results.select("without_parity", at)),
            "share": float(np.mean(risks > bound)),
            "risks": risks.tolist(),
        }
        if "ridge_risk" in results:
            row["ridge"] = results.select("ridge_risk", at).tolist()
        rows.append(row)
    return rows


def _name(at: dict[str, Any], functions: int) -> str:
    """``ntk, depth 3, dim 50, N = 230``; D = 230 features"""
    words = []
    for key, value in at.items():
        if isinstance(value, str) and value.startswith("{"):
            table = json.loads(value)
            words.append("monomial features" if "activation" in table else WORDS.get(table["kind"], table["kind"]))
            fields = table | table.get("activation", {})
            words += [f"{name} {fields[name]:g}" for name in fields if name not in ("kind", "width", "activation")]
        else:
            words.append(f"{key.rpartition('.')[2]} {value}")
    return ", ".join([*words, f"{'D' if 'network' in at else 'N'} = {functions}"])


def judge_bound(results: Results) -> Judgement:
    """All of them above the bound for 99 % of the targets, with no more functions than the theorem allows."""
    rows = points(results)
    worst = min(rows, key=lambda row: row["share"])
    ratio = min(float(np.min(row["risks"])) / row["bound"] for row in rows)
    within = all(row["functions"] <= row["allowed"] for row in rows)
    measured = (
        f"above the bound: {100 * worst['share']:.1f} % of {len(worst['risks'])} targets at the least "
        f"({worst['at']}), over {len(rows)} learners; least risk {ratio:.3g} times the bound"
    )
    if not within:
        measured += "; more functions than C(d,k)/1000"
    short = f"above the bound: {100 * worst['share']:.1f} % of targets" if within else "too many functions"
    details = [{name: value for name, value in row.items() if name not in ("risks", "ridge")} for row in rows]
    return Judgement(bool(within and worst["share"] >= LEAST_SHARE), measured, {"points": details}, short)


def draw_bound(results: Results, control: Results) -> Picture:
    fig, axes = panels(2)
    fig.set_size_inches(11.5, max(3.6, 1.6 + 0.3 * len(points(results))))
    _strips(axes[0], points(results), "all coordinates given")
    _strips(axes[1], points(control), "control: the right k coordinates given")
    axes[1].set_yticklabels([])
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=8)
    return fig


def _strips(axis: Axes, rows: list[dict[str, Any]], title: str) -> None:
    for i, row in enumerate(rows):
        first = i == 0
        y = np.full(len(row["risks"]), -float(i))
        risks = np.maximum(row["risks"], FLOOR_RISK)
        offset = 0.12 if "ridge" in row else 0.0
        axis.plot(
            risks,
            y + offset,
            "o",
            ms=4,
            mfc="none",
            mew=0.7,
            color=BLUE,
            label="best weights for the target (oracle)" if first else None,
        )
        if "ridge" in row:
            ridge = np.maximum(row["ridge"], FLOOR_RISK)
            axis.plot(
                ridge,
                y - offset,
                "d",
                ms=4,
                mfc="none",
                mew=0.7,
                color=BROWN,
                label="ridge regression, best ridge" if first else None,
            )
        for name, style, text in (
            ("bound", "-", r"bound $\alpha^2/16$"),
            ("line", "--", r"$k\alpha^2$: $F$ alone is learned"),
        ):
            label = text if first else None
            axis.plot([row[name]] * 2, [-i - 0.5, -i + 0.5], style, lw=1.3, color="k", label=label)
    axis.set(xscale="log", xlim=(0.5 * FLOOR_RISK, 10.0), ylim=(0.6 - len(rows), 0.6))
    axis.set_xlabel(r"risk $\mathrm{E}\|H - R\|^2$ of every target (below $10^{-6}$: drawn there)")
    axis.set_yticks([-i for i in range(len(rows))], [row["at"] for row in rows], fontsize=8)
    axis.set_title(title, fontsize=10)
