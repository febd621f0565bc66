"""The formats that a figure can be drawn in; each is also the suffix of its file."""

from __future__ import annotations

from typing import Literal, get_args

FigureFormat = Literal["png", "pdf", "svg"]
FIGURE_FORMATS: tuple[FigureFormat, ...] = get_args(FigureFormat)
