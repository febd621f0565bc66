"""States of computations: what a checkpoint keeps of them, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.core.state import State


@dataclass
class Place(State):
    step: int
    theta: Any
    probe: Any = None


@dataclass
class Both(State):
    net: Place
    linear: Place | None = None
    ending: int = 0


def test_a_state_comes_back_from_its_arrays() -> None:
    state = Both(Place(3, np.arange(2.0)), None, 4)
    arrays = state.arrays()
    assert set(arrays) == {"net_step", "net_theta", "ending"}
    back = Both.of(arrays, net=Place, linear=Place)
    assert (back.net.step, back.linear, back.ending, back.net.probe) == (3, None, 4, None)
    assert np.array_equal(back.net.theta, state.net.theta)


@pytest.mark.parametrize("name", ["net_theta", "ending"])
def test_what_is_missing_is_named(name: str) -> None:
    arrays = Both(Place(3, np.arange(2.0))).arrays()
    del arrays[name]
    with pytest.raises(BadInput, match=f"the checkpoint has no {name.removeprefix('net_')}: another version of simlab"):
        Both.of(arrays, net=Place, linear=Place)
