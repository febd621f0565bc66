"""Gram stores that were stopped on the way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from simlab.kernels import Kernel
from simlab.kernels.gram.blocks import Matrix
from simlab.kernels.gram.store import Limits, gram_file


def stop_after(blocks: int, kernels: Mapping[str, Kernel], X: Any, path: Path) -> None:
    """Leave an unfinished file with so many committed blocks."""
    write, calls = Matrix.write, []

    def stops(*arguments: Any) -> str:
        calls.append(arguments)
        if len(calls) > blocks * len(kernels):  # one call per dataset
            raise KeyboardInterrupt
        return write(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Matrix, "write", stops)
        with pytest.raises(KeyboardInterrupt):
            gram_file(kernels, X, path, limits=Limits(commit_seconds=0.0))
