"""What a claim says of itself, read without importing it, is what its class says."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from simlab import claims
from simlab.core import catalogue
from simlab.core import constants as module
from simlab.core.constants import constants

NAMES = ("statement", "source", "expected", "control", "quick", "full")


@pytest.mark.parametrize("claim", catalogue.names("claims"))
def test_the_same_as_by_importing(claim: str) -> None:
    found, imported = constants("claims", claim, NAMES), claims.get(claim)
    assert {name: getattr(found, name) for name in NAMES} == {name: getattr(imported, name) for name in NAMES}
    assert inspect.getdoc(found) == inspect.getdoc(imported)


def test_only_what_is_needed_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "simlab" / "claims"
    room.mkdir(parents=True)
    (room / "_words.py").write_text("import nowhere\nWORD = 'word'\n\ndef twice(x):\n    return x + x\n")
    (room / "planted.py").write_text(
        '"""Doc."""\nimport nowhere\nfrom math import floor, no_such_thing\nfrom simlab.claims import _words\n'
        "from simlab.claims._words import WORD as OURS\nimport os.path\n"
        "raise_here = None\nfirst, second = 1, floor(2.5)\nsecond += 1\n"
        "def made(n: nowhere.Type) -> nowhere.Type:\n    return _words.twice(OURS) * n + helper()\n"
        "def helper():\n    return os.path.sep\n"
        "class Planted(nowhere.Claim):\n    wanted = made(second)\n    other: nowhere.Type = nowhere.value\n"
    )
    monkeypatch.setattr(module, "PACKAGE", tmp_path / "simlab")
    assert constants("claims", "planted", ["wanted"]).wanted == "wordword" * 3 + "/"
    with pytest.raises(ImportError):
        constants("claims", "planted", ["other"])


def test_nothing_heavy_is_imported() -> None:
    script = (
        "import sys\nfrom simlab.core import catalogue\nfrom simlab.core.constants import constants\n"
        f"for claim in catalogue.names('claims'):\n    constants('claims', claim, {NAMES})\n"
        "print([m for m in ('numba', 'scipy', 'matplotlib', 'h5py', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
