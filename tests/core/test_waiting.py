"""Threads spin briefly, unless the user has chosen otherwise; set before numba starts its threads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from simlab.core import waiting

SCRIPT = """
import os
from simlab import networks
networks.TwoLayer(width=2).loops(3)
print(os.environ.get("GOMP_SPINCOUNT"), os.environ.get("OMP_WAIT_POLICY"))
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, f"{waiting.TURNS} None"),
        ({"GOMP_SPINCOUNT": "7"}, "7 None"),
        ({"OMP_WAIT_POLICY": "active"}, "None active"),
    ],
)
def test_what_a_process_sets(given: dict[str, str], expected: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in waiting.CHOSEN}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment | given, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expected
