"""What newcomers type: each is accepted, or refused in one line that says what, which value and what to do."""

from __future__ import annotations

import codecs
import subprocess
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import tomli_w

from tests.support.runs import small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
GOOD = tomli_w.dumps(small_tables())
MOST_LETTERS = 500
DRY = ("run", "s.toml", "--dry-run")

# TOML text -> what the line says ("" : accepted)
SPECS = {
    "byte_order_mark": (codecs.BOM_UTF8 + GOOD.encode(), ""),
    "windows_line_ends": (GOOD.replace("\n", "\r\n").encode(), ""),
    "no_last_line_end": (GOOD.rstrip().encode(), ""),
    "utf_16": (GOOD.encode("utf-16"), "save it as UTF-8"),
    "utf_16_without_a_mark": (GOOD.encode("utf-16-le"), "save it as UTF-8"),
    "latin_1": (b"# \xe9t\xe9\n" + GOOD.encode(), "line 1 is not UTF-8; save it as UTF-8"),
    "binary": (bytes(range(256)) * 10, "save it as UTF-8"),
    "empty": (b"", "[experiment]: missing"),
    "only_a_comment": (b"# later\n", "[experiment]: missing"),
    "json": (b'{"experiment": {"kind": "gradient_flow"}}', "TOML syntax error"),
    "python": (b"import simlab\nsimlab.run('quickstart')\n", "TOML syntax error"),
    "long_line": (b"x" * 100_000, "TOML syntax error"),
    "long_number": (b"x = " + b"9" * 10_000, "TOML too large"),
    "deep_lists": (b"x = " + b"[" * 5000 + b"]" * 5000, "TOML too large"),
    "a_table_twice": (GOOD.encode() + b"\n[network]\nwidth = 3\n", "TOML syntax error"),
}

# --set … -> what the line says
SETTINGS = {
    "flow.steps=2e3": "",
    "flow.steps=20.0": "",
    "sweep.network.width=[1e1, 20]": "",
    "sweep.seeds=2.0": "",
    "sweep.network.width={ logspace = [1, 2, 2.0] }": "",
    "flow.steps=2.5": "flow.steps = 2.5: must be a valid integer",
    "flow.steps=2e300": "flow.steps = 2e+300: must be a valid integer",
    "flow.steps='2000'": "flow.steps = '2000': must be a valid integer",
    "flow.steps=true": "flow.steps = True: must be a valid integer",
    "flow.steps=nan": "flow.steps = nan: must be a valid integer",
    "flow.step=nan": "flow.step = nan: must be a number greater than 0",
    "flow.alpha=-inf": "flow.alpha = -inf",
    "flow.step=1979-05-27": "flow.step = datetime.date(1979, 5, 27): must be a number",
    "flow.step=0,1": "flow.step = '0,1': must be a number",
    "network.width=99999999999999999999": "must fit into 64 bits",
    "network.width=0": "must be greater than or equal to 1",
    "network.width=[10, 20]": "must be a valid integer",
    "network.widht=5": 'did you mean "width"',
    "netwrok.width=5": 'did you mean "network"',
    "network.kind=two_layers": 'did you mean "two_layer"',
    "network=two_layer": "network.width: missing",
    "network={}": "network.kind: missing",
    "network=3": "must be a table",
    "target.kind=nonsense": "unknown kind",
    "data.dim=-3": "data.dim = -3",
    "data.dim=1e13": "data.dim = 10000000000000",
    "experiment.samples=0": "experiment.samples = 0",
    "experiment.seed=-1": "experiment.seed = -1",
    "experiment.seed=soon": "must be a valid integer",
    "experiment.threads=0": "experiment.threads = 0",
    "experiment.kind=gradient-flow": 'did you mean "gradient_flow"',
    "observables=[]": "",
    "observables.0=train_loss": "observables",
    "observables='trian_loss'": 'did you mean "train_loss"',
    "sweep.network.width=[]": "empty",
    "sweep.network.width=50": "must be a list",
    "sweep.network.width=[10, 10]": "a value is there twice",
    "sweep.network.width={ logspce = [0, 1, 2] }": 'did you mean "logspace"',
    "sweep.network.width={ linspace = [1, 2] }": "must be three numbers",
    "sweep.network.width={ linspace = [1, 10, 0] }": "how many must be a whole number",
    "sweep.network.widht=[1, 2]": 'did you mean "width"',
    "sweep.seeds=0": "sweep.seeds = 0",
    "sweep.seeds=100000000000": "sweep.seeds = 100000000000",
    "sweep.seeds=ten": "sweep.seeds = 'ten'",
    "sweep.experiment.seed=[1, 2]": "cannot be swept",
    "figure.kind=pie": "unknown kind",
    "figure=trajectories": "must be a table",
    "network.width": "must be key=value",
    "=5": "must be key=value",
    "width=5": "must be key=value",
    "": "must be key=value",
    "experiment.samples=100000000000000000": "",
}

# arguments -> what the line says; `s.toml` is a good spec, `d` an empty directory, `f` a text file
COMMANDS = {
    "run": "Missing argument 'SPEC'",
    "run d": "d: is a directory; give a TOML file",
    "run f": "TOML syntax error",
    "run ./s": "s: no such file",
    "run nowhere.toml": "nowhere.toml: no such file",
    "run quickstrat": 'did you mean "quickstart"',
    "run nowhere/quickstart.toml": '"quickstart" is a bundled spec',
    "run s.toml -o f": "f: is a file; give a directory",
    "run s.toml -o f/out": "f/out: cannot be used as a run directory",
    "run s.toml --workers two": "'two' is not a valid integer",
    "run s.toml --workers -1": "-1 is not in the range",
    "run s.toml --order random": "'random' is not one of",
    "run s.toml --commit-seconds -1": "-1.0 is not in the range",
    "run s.toml extra.toml": "unexpected extra argument",
    "run s.toml --wokers 2": "--workers",
    "run s.toml --data nowhere": "no such directory",
    "run /proc/self/mem": "cannot be read: Input/output error",
    "resume": "Missing argument 'DIRECTORY'",
    "resume nowhere": "nowhere: not a run directory",
    "resume f": "f: not a run directory",
    "resume s.toml": "s.toml: not a run directory",
    "status d": "d: not a run directory",
    "collate d": "d: not a run directory",
    "show f": "cannot be read as HDF5",
    "show d": "d: no results.h5 here",
    "show old.h5": "collate",
    "show other.h5": "not a results file",
    "show quickstrat": 'did you mean "quickstart"',
    "list claim": 'did you mean "claims"',
    "list run": 'did you mean "runs"',
    "new quickstrat": 'did you mean "quickstart"',
    "new quickstart -o f": "f: exists, and is not overwritten",
    "new quickstart -o nowhere/x.toml": "nowhere/x.toml: cannot be written",
    "new -o x.toml": "name the spec to write",
    "reproduce tangent_rates": 'did you mean "tangent_rate"',
    "kernel": "Missing argument 'KIND'",
    "kernel ntl --depth 3": 'did you mean "ntk"',
    "kernel ntk": "depth: missing",
    "kernel ntk --depth three": "must be an integer",
    "kernel ntk --depth 0": "depth = 0",
    "kernel ntk --depth 3 --activation rellu": 'did you mean "relu"',
    "kernel ntk --depth 3 --at x": "must be a number",
    "spectrum ntk --depth 3": "Missing option '--dim'",
    "spectrum ntk --depth 3 --dim 1 --max-degree 5": "1 is not in the range",
    "gram ntk nowhere.npy --depth 3 -o K.h5": "nowhere.npy",
    "gram ntk f --depth 3 -o K.h5": "f:",
    "gram ntk x.npy --depth 3": "Missing option '-o'",
    "gram ntk x.npy --depth 3 -o K.h5 --memory lots": "must be a size such as 500MB or 4GB",
    "quickstart": "no command 'quickstart'",
    "--hlep": "--help",
}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A directory with what the commands name."""
    (tmp_path / "s.toml").write_text(GOOD)
    (tmp_path / "d").mkdir()
    (tmp_path / "f").write_text("not a spec\n")
    np.save(tmp_path / "x.npy", np.eye(3))
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file.attrs["simlab_results"] = 0
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.eye(3)
    return tmp_path


def judge(done: subprocess.CompletedProcess[str], says: str) -> None:
    """Accepted, or one line under 500 letters with exit code 2."""
    assert "Traceback" not in done.stderr
    if not says:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert len(done.stderr) < MOST_LETTERS, done.stderr
    assert done.stderr.startswith("simlab: ")
    assert says in done.stderr


@pytest.mark.parametrize("name", SPECS)
def test_files(tmp_path: Path, simlab_again: Call, name: str) -> None:
    content, says = SPECS[name]
    (tmp_path / "s.toml").write_bytes(content)
    judge(simlab_again(*DRY), says)


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings(tmp_path: Path, simlab_again: Call, setting: str) -> None:
    (tmp_path / "s.toml").write_text(GOOD)
    judge(simlab_again(*DRY, "--set", setting), SETTINGS[setting])


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(desk: Path, simlab_again: Call, command: str) -> None:
    before = sorted(path.name for path in desk.iterdir())
    judge(simlab_again(*command.split()), COMMANDS[command])
    assert sorted(path.name for path in desk.iterdir()) == before, "nothing may be written"
