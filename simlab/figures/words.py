"""The words of figures: readable names of recorded numbers and axes of a sweep, rounded numbers, symbols in mathtext.

`SYMBOLS` is the table of names: a recorded name, a dotted key of the spec, or the key's last part → words and symbol.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

SYMBOLS = {
    "alpha": r"feature scale $\alpha$",
    "alpha_limit": r"$\alpha$-flow from the law of the weights",
    "alpha_matched": r"$\alpha$-flow from the net's own start",
    "conjugate_error": "error of the conjugate kernel",
    "degree": "degree $k$",
    "depth": "depth $L$",
    "dim": "dimension $d$",
    "discretisation_error": r"discretisation error $D_t$",
    "entry_error": r"entry error $|\hat K_{12} - \Theta_{12}|$",
    "flow.alpha": r"output scale $\alpha$",
    "flow.step": r"step size $\eta$",
    "frobenius_error": r"Frobenius error of $\hat K$",
    "init_std": r"scale $\tau$ of the initial weights",
    "kernel_test_distance": "distance to kernel regression, test inputs",
    "loss_limit": "loss of the exact dynamics",
    "lambda": r"ridge $\lambda$",
    "linear_test_distance": r"rms of $\alpha(f - f_{\mathrm{lin}})$, test inputs",
    "linear_weight_distance": r"$\|\theta - \theta_{\mathrm{lin}}\|$",
    "relative_movement": r"relative movement $\|\theta - \theta_0\| / \|\theta_0\|$",
    "rms_error": "root-mean-square error",
    "samples": "samples $n$",
    "size": "size $N$",
    "sup_error": "largest error",
    "tangent_drift": r"kernel drift $\|\hat K_t - \hat K_0\| / \|\hat K_0\|$",
    "time": "time $t$",
    "train": "samples $n$",
    "train_loss": "training loss",
    "weight_movement": r"movement $\|\theta - \theta_0\|$",
    "width": "width $m$",
}
SYMBOL = re.compile(r"\$(\\?[a-zA-Z]+)\$")
PLAIN_BELOW = 1e5
"""Numbers of this size or more, and those below 1e-4, are written with powers of ten."""


def readable(name: str) -> str:
    """``train_loss`` → ``training loss``, ``network.width`` → ``width $m$``: what stands along an axis."""
    last = name.rpartition(".")[2]
    return SYMBOLS.get(name) or SYMBOLS.get(last) or last.replace("_", " ")


def number(value: Any, among: Iterable[Any] = ()) -> str:
    """A number to three digits: ``3.16``, ``1024``, ``$10^{-5}$``.

    among: other numbers; so many more digits are written that unequal ones look different.
    """
    if isinstance(value, bool | int | np.integer) or not hasattr(value, "__float__"):
        return str(value)
    others = [float(other) for other in among if hasattr(other, "__float__") and float(other) != float(value)]
    for digits in range(3, 18):
        text = _rounded(float(value), digits)
        if all(_rounded(other, digits) != text for other in others):
            break
    return text


def _rounded(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return str(value)
    if value == round(value) and abs(value) < PLAIN_BELOW:
        return str(int(value))
    if 10**digits <= abs(value) < PLAIN_BELOW:
        return f"{value:.0f}"
    head, _, power = f"{value:.{digits}g}".partition("e")
    if not power:
        return head
    sign, head = ("-", head[1:]) if head.startswith("-") else ("", head)
    factor = "" if head == "1" else rf"{head} \times "
    return f"${sign}{factor}10^{{{int(power)}}}$"


def point_label(dims: Iterable[str], values: Iterable[Any]) -> str:
    """A point of the sweep in words: ``ntk, depth 3, $d = 10$``.

    A kind is its name, a table such as ``{"kind": "ntk", "depth": 3}`` its values; other axes are name or symbol with
    the value.

    dims: names of the axes.
    values: the point's value on each.
    """
    words = []
    for dim, value in zip(dims, values, strict=True):
        name = dim.rpartition(".")[2].replace("_", " ")
        if isinstance(value, str) and value.startswith("{"):
            words.append(" ".join(_plain(v) for v in json.loads(value).values() if not isinstance(v, bool)))
        elif name in ("kind", "activation"):
            words.append(_plain(value))
        elif (symbol := SYMBOL.search(readable(dim))) and name != "depth" and not isinstance(value, str):
            words.append(f"${symbol[1]} = {number(value).strip('$')}$")
        else:
            words.append(f"{name} {_plain(value)}")
    return ", ".join(words)


def _plain(value: Any) -> str:
    return value.replace("_", " ") if isinstance(value, str) else number(value)
