"""``pytest -n 2``: which tests go to which worker.

Workers, and the processes that their tests start, share one cache of compiled code, but a loop that both need at the
same time is compiled twice. So rooms that compile the same loops go to one worker as a whole. They come first, and the
single files after them, the longest in front, fill up whichever worker is free.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

TOGETHER = {
    "networks": ("losses", "networks", "flows", "observables", "experiments"),
    "kernels": ("activations", "sphere", "kernels", "machines", "theory", "data", "targets"),
}
LONGEST = ("lab/test_kills.py", "claims/test_ledger.py", "lab/test_directory.py", "cli/test_cli.py", "lab/test_run.py")


def portion(nodeid: str) -> str:
    """What a worker gets at once: a group of rooms, or a file."""
    path = nodeid.split("::")[0]
    room = Path(path).parent.name
    return next((name for name, rooms in TOGETHER.items() if room in rooms), path)


def rank(nodeid: str) -> int:
    at = portion(nodeid)
    order = [*TOGETHER, *(f"tests/{path}" for path in LONGEST)]
    return order.index(at) if at in order else len(order)


@pytest.hookimpl(optionalhook=True)  # known to pytest-xdist alone
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class ByPortion(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return portion(nodeid)

    config.option.loadscopereorder = False  # by number of tests, which says nothing of their seconds
    return ByPortion(config, log)
