"""Adding a thing is adding one file, in every room: a new activation, claim, law of data, experiment, figure, flow,
kernel, loss, network, observable and target is known to everything, and no test and no list is edited.

The files are those of tests/example_package. They are added in both ways: by a package that names them as entry points,
and as files dropped into the rooms of a copy of simlab.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w

import simlab as package
from simlab.core import catalogue, guides
from tests.support.packages import EXAMPLE, drop_in, install, kinds_of

Call = Callable[..., subprocess.CompletedProcess[str]]
KINDS = kinds_of(EXAMPLE)
SPEC = {
    "experiment": {"kind": "gradient_flow", "samples": 20, "test_samples": 10, "records": 3, "seed": 5},
    "data": {"kind": KINDS["data"], "dim": 4},
    "target": {"kind": KINDS["targets"], "c": 2.0},
    "network": {"kind": KINDS["networks"], "activation": {"kind": KINDS["activations"], "c": 0.2}},
    "flow": {"kind": KINDS["flows"], "steps": 20},
    "observables": [{"kind": "train_loss"}, {"kind": KINDS["observables"]}],
    "figure": {"kind": KINDS["figures"]},
    "sweep": {"network.activation": [{"kind": KINDS["activations"], "c": 0.2}, "tanh"], "seeds": 2},
}
CHECK = """
import importlib, sys
from simlab.core import catalogue, guides
from simlab.lab.spec import resolve

room, kind = sys.argv[1:]
module = importlib.import_module(f"simlab.{room}")
for table in catalogue.examples(room, kind):
    module.check(resolve(table).at(0) if room == "experiments" else module.get(kind, **table))
print(catalogue.get(room, kind).__module__, len(catalogue.examples(room, kind)))
"""


@pytest.fixture(scope="module", params=[install, drop_in], ids=["a package", "a file in each room"])
def way(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """(folder, environment) in which the new kinds are there."""
    place = tmp_path_factory.mktemp("place")
    return place, request.param(EXAMPLE, place)


@pytest.fixture
def environment(way: tuple[Path, dict[str, str]]) -> dict[str, str]:
    return way[1]


def python(environment: dict[str, str], place: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **environment}, cwd=place, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def first_words(kind: str) -> str:
    """How the docstring of a kind's file begins."""
    (file,) = EXAMPLE.glob(f"*/{kind}.py")
    return file.read_text(encoding="utf-8").removeprefix('"""')[:20]


def test_there_is_one_for_every_room() -> None:
    assert set(KINDS) == set(catalogue.rooms())
    assert not {kind for room, kind in KINDS.items() if kind in catalogue.names(room)}


def test_the_guide_shows_a_file_as_it_is() -> None:
    text, (file,) = guides.read("kinds"), EXAMPLE.glob(f"*/{KINDS['observables']}.py")
    assert textwrap.indent(file.read_text(encoding="utf-8"), "    ") in text
    contracts = re.findall(r"^    (\w+) +(\w+)\.", text, re.MULTILINE)
    assert {room for room, module in contracts if room == module} == set(KINDS)


def test_list_knows_them(simlab: Call, environment: dict[str, str]) -> None:
    listed = json.loads(simlab("list", "--json", env=environment).stdout)
    for room, kind in KINDS.items():
        assert listed[room][kind].startswith(first_words(kind))


def test_show_knows_them(simlab: Call, environment: dict[str, str]) -> None:
    for room, kind in KINDS.items():
        shown = simlab("show", f"{room}/{kind}", env=environment)
        assert (shown.returncode, shown.stderr) == (0, "")
        assert shown.stdout.startswith(first_words(kind))


@pytest.mark.parametrize("room", KINDS)
def test_the_contract_check_of_the_room_passes(room: str, environment: dict[str, str], tmp_path: Path) -> None:
    module, examples = python(environment, tmp_path, "-c", CHECK, room, KINDS[room]).split()
    assert module in (f"simlab_example.{KINDS[room]}", f"simlab.{room}.{KINDS[room]}")
    assert int(examples) >= 1


def test_a_spec_of_them_runs_and_is_drawn(simlab: Call, way: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    place, environment = way
    (tmp_path / "spec.toml").write_text(tomli_w.dumps(SPEC))
    done = simlab("run", "spec.toml", "-o", "out", "--workers", 2, env=environment)
    assert done.returncode == 0, done.stderr
    with package.open(tmp_path / "out") as results:
        losses = results[KINDS["observables"]].values
        assert losses.shape == (2, 2, 3)
        assert (losses[..., -1] < losses[..., 0]).all()
        assert ("simlab-example" in json.loads(results.attrs["versions"])) == (place / "simlab_example").is_dir()
    assert list((tmp_path / "out").glob("*.png"))


def test_a_kernel_has_a_spectrum(simlab: Call, environment: dict[str, str], tmp_path: Path) -> None:
    spec = {
        "experiment": {"kind": "spectrum", "dim": 3, "max_degree": 5, "seed": 1},
        "kernel": {"kind": KINDS["kernels"], "c": 1.0},
    }
    (tmp_path / "spec.toml").write_text(tomli_w.dumps(spec))
    done = simlab("run", "spec.toml", "-o", "out", env=environment)
    assert done.returncode == 0, done.stderr
    with package.open(tmp_path / "out") as results:
        assert float(results["trace"]) == pytest.approx(1.0, abs=1e-12)


def test_a_claim_is_reproduced(simlab: Call, environment: dict[str, str]) -> None:
    done = simlab("reproduce", KINDS["claims"], "--quick", "-o", "ledger", "--json", env=environment)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert (row["claim"], row["holds"], row["control"]) == (KINDS["claims"], True, "refused")


def test_the_tests_that_walk_every_kind_pass_as_they_are(tmp_path: Path) -> None:
    """Where the files are part of simlab, its own tests find them."""
    environment = drop_in(EXAMPLE, tmp_path)
    walking = ["tests/core/test_kinds.py", "tests/core/test_tab.py", "tests/test_house.py"]
    said = python(environment, tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", *walking, "-k", "kind")
    assert " passed" in said
