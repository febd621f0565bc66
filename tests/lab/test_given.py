"""The spec as the user gave it, beside the resolved one; and what a run says of another machine that began it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import example, given
from hypothesis import strategies as st

from simlab.core.errors import BadInput
from simlab.lab import run as running
from simlab.lab.directory import RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.run import collate_only, run_spec
from simlab.lab.spec import load, resolve
from simlab.lab.tables import SETTINGS_MARK, Given
from simlab.record.index import Index
from simlab.record.provenance import provenance
from simlab.record.reader import Results
from tests.support.runs import small_tables


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    """With comments, a seed left out, and the line ends of another system."""
    tables = small_tables(**{"network.width": [10]})
    del tables["experiment"]["seed"]
    path = tmp_path / "mine.toml"
    path.write_bytes(("# Why: α → ∞?\n" + tomli_w.dumps(tables)).replace("\n", "\r\n").encode())
    return path


@given(st.text(), st.lists(st.text()))
@example("a = 1", [])
@example("a = 1" + SETTINGS_MARK, [])
@example("a = 1" + SETTINGS_MARK + '# --set "b=2"\n', ["c=[1,\n2]", "d=\u2028"])
def test_text_and_settings_come_back_exactly(text: str, settings: list[str]) -> None:
    one = Given(text, tuple(settings))
    assert Given.parse(one.dump()) == one


def test_it_is_kept_by_the_run_and_by_its_results(tmp_path: Path, spec_file: Path) -> None:
    out, settings = tmp_path / "out", ("flow.steps=3", 'network.activation="tanh"')
    text = spec_file.read_bytes().decode()
    spec = load(spec_file, settings)
    run_spec(spec, out, RunOptions(workers=1))
    kept = (out / "given.toml").read_bytes().decode()
    assert kept.startswith(text)
    assert tomllib.loads(kept) == tomllib.loads(text), "settings are comments behind it"
    spec_file.unlink()
    collate_only(out)  # knows nothing but the directory
    attrs = Results(out).attrs
    assert attrs["spec_given"] == text
    assert json.loads(attrs["spec_settings"]) == list(settings)
    resolved = tomllib.loads(attrs["spec"])
    assert resolved["flow"]["steps"] == 3
    assert resolved["experiment"]["seed"] == spec.seed
    assert RunDirectory(out).read_spec() == spec
    (out / "given.toml").unlink()  # as in a run of an earlier version
    collate_only(out)
    assert "spec_given" not in Results(out).attrs
    assert RunDirectory(out).read_spec().hash == spec.hash


def test_of_a_dict_it_is_the_toml(tables: dict[str, Any]) -> None:
    before = deepcopy(tables)
    spec = resolve(tables | {"figure": None})
    assert spec.given is not None
    assert tomllib.loads(spec.given.text) == before
    assert spec.given.settings == ()


def test_a_value_that_toml_cannot_hold_is_refused_in_one_line(tables: dict[str, Any]) -> None:
    tables["figure"] = {"x": object()}
    with pytest.raises(BadInput, match="'object' is not TOML serializable"):
        resolve(tables)


def test_how_it_was_given_is_no_part_of_the_hash(tmp_path: Path, tables: dict[str, Any]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("# A comment.\n" + tomli_w.dumps(tables))
    assert load(path).hash == resolve(tables).hash == load(path, ["experiment.seed=3"]).hash
    assert load(path) == resolve(tables)


def test_a_later_run_of_the_same_spec_replaces_it(tmp_path: Path, tables: dict[str, Any]) -> None:
    run = RunDirectory(tmp_path / "out")
    run.path.mkdir()
    for text in ("# one", "# two"):
        run.check(spec := resolve(tables, as_given=Given(text)), False)
        run.begin(spec, False)
        assert (run.path / "given.toml").read_text() == text
    run.begin(run.read_spec(), False)  # resume
    assert (run.path / "given.toml").read_text() == "# two"


def test_a_run_begun_elsewhere_says_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]
) -> None:
    spec, out = resolve(small_tables(**{"network.width": [10]})), tmp_path / "out"
    run_spec(spec, out, RunOptions(workers=1))

    def said(before: Callable[[dict[str, Any]], Any]) -> list[str]:
        made = deepcopy(provenance())
        before(made)
        monkeypatch.setattr(Index, "provenance", lambda self: [json.dumps(made, sort_keys=True)])
        lines: list[str] = []
        running._take_over(RunDirectory(out), spec, lines.append)
        return lines

    assert said(lambda made: None) == []
    assert said(lambda made: made.pop("blas")) == [], "an earlier format"
    (line,) = said(lambda made: made["versions"].update(numpy="1.0"))
    assert f"versions.numpy: 1.0 → {provenance()['versions']['numpy']}" in line
    assert "begun with other versions, sources or machine" in line
    (line,) = said(lambda made: made["versions"].update(dict.fromkeys(made["versions"], "0")))
    assert "; and 7 more" in line
    assert "\n" not in line
