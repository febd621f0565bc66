"""Kinds of other packages (entry points): errors, schema, compiled code and broken packages.

What every new kind can do, from another package or not, is tested in tests/test_one_file_per_kind.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from simlab.core.errors import BadInput
from tests.support.packages import EXAMPLE, install, write_metadata

Call = Callable[..., subprocess.CompletedProcess[str]]
SPEC: dict[str, Any] = {
    "experiment": {"kind": "gradient_flow", "samples": 20, "test_samples": 10, "records": 3, "seed": 5},
    "data": {"kind": "uniform_sphere", "dim": 4},
    "target": {"kind": "neuron"},
    "network": {"kind": "single_neuron", "activation": {"kind": "bent", "c": 0.2}},
    "flow": {"kind": "gradient_descent", "step": 0.1, "steps": 20},
    "observables": [{"kind": "train_loss"}, {"kind": "largest_residual"}],
    "sweep": {"network.activation": [{"kind": "bent", "c": 0.2}, "tanh"], "seeds": 2},
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """With the example package installed."""
    return install(EXAMPLE, tmp_path / "site")


def python(code: str, environment: dict[str, str], tmp_path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_fields_and_schema(simlab: Call, environment: dict[str, str]) -> None:
    shown = simlab("show", "activations/bent", env=environment).stdout
    assert "number, above 0 and at most 1; default 0.1" in shown
    assert "how much the line is bent" in shown
    assert 'kind = "bent"' in shown
    schema = json.loads(simlab("schema", env=environment).stdout)
    assert {"activations.bent", "networks.single_neuron", "observables.largest_residual"} <= schema["$defs"].keys()
    assert "c" in json.loads(simlab("schema", "bent", env=environment).stdout)["properties"]


def test_errors_name_them(simlab: Call, environment: dict[str, str]) -> None:
    refused = simlab("show", "activations/bnt", env=environment)
    assert 'did you mean "activations/bent"?' in refused.stderr
    code = "from simlab import networks\ntry:\n    networks.TwoLayer(width=3, activation={'kind': 'bent', 'c': 0.0})\n"
    code += "except Exception as error:\n    print(error)"
    said = python(code, environment, Path.cwd())
    assert said == "two_layer.activation.c = 0.0: must be greater than 0\n"


def test_without_the_package_its_kinds_are_unknown(simlab: Call, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(tomli_w.dumps(SPEC))
    unknown = simlab("run", "spec.toml", "-o", "elsewhere")
    assert unknown.returncode == 2
    assert "kind = 'largest_residual': unknown kind" in unknown.stderr


def test_python_knows_them(environment: dict[str, str], tmp_path: Path) -> None:
    code = """if 1:
        from simlab import activations, kernels, networks
        assert activations.Bent is activations.get("bent", c=0.5).__class__
        networks.check(networks.get("two_layer", width=5, activation="bent"))
        print(kernels.ntk(3, "bent")(0.5) > 0, networks.SingleNeuron(activation="bent"))
        """
    assert python(code, environment, tmp_path) == "True single_neuron(activation=bent())\n"


def test_compiled_code_and_stored_results_know_the_sources_of_other_packages(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Also where the version of the package stays: nobody raises it at every edit."""
    code = """if 1:
        from simlab import activations
        from simlab.core import code_key, sources
        phi, a = activations.get("bent").compiled().phi, activations.get("bent").numbers()
        print(phi(1.0, a), phi._cache.keeps, code_key.code_key(phi), sources.source_hash())
        """
    file = tmp_path / "site" / "simlab_example" / "bent.py"
    before = python(code, environment, tmp_path).split()
    assert before[:2] == ["1.1", "True"]
    assert python(code, environment, tmp_path).split() == before
    file.write_text(file.read_text() + "# a comment\n")
    commented = python(code, environment, tmp_path).split()
    assert commented[:3] == before[:3]
    assert commented[3] != before[3]
    file.write_text(file.read_text().replace("return z + a[0] * z * z", "return z - a[0] * z * z"))
    after = python(code, environment, tmp_path).split()
    assert after[:2] == ["0.9", "True"]
    assert after[2] != before[2]


BROKEN = {
    "cannot be imported (ModuleNotFoundError: No module named 'nowhere')": "import nowhere\n",
    "cannot be imported (ZeroDivisionError: division by zero)": "1 / 0\n",
    "cannot be imported (SystemExit: 3)": "raise SystemExit(3)\n",
    "cannot be imported (AttributeError: module 'broken' has no attribute 'Crooked')": "",
    "must be a subclass of simlab.activations.Activation": "class Crooked:\n    pass\n",
    "the kind is called 'crooked_one'; the entry point must be named so too": (
        "from simlab.activations import Activation\nclass CrookedOne(Activation):\n    pass\nCrooked = CrookedOne\n"
    ),
    "does not define compiled": "from simlab.activations import Activation\nclass Crooked(Activation):\n    pass\n",
}


@pytest.mark.parametrize("says", BROKEN)
def test_a_broken_entry_point_is_one_clear_line_and_breaks_nothing_else(
    says: str, simlab: Call, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "broken.py").write_text(BROKEN[says])
    environment = write_metadata(site, "broken", "1.0", {"simlab.activations": {"crooked": "broken:Crooked"}})
    listed = simlab("list", "activations", "--json", env=environment)
    assert (listed.returncode, listed.stderr) == (0, "")
    lines = json.loads(listed.stdout)["activations"]
    where = "entry point simlab.activations 'crooked' = 'broken:Crooked'"
    assert lines["crooked"] == f"broken: {where}: {says}"
    assert lines["relu"].startswith("ReLU")
    shown = simlab("show", "crooked", env=environment)
    assert shown.returncode == 2
    assert shown.stderr == f"simlab: {where}: {says}\n"
    for command in (["show", "two_layer"], ["schema", "two_layer"], ["kernel", "ntk", "--depth", 3]):
        assert simlab(*command, env=environment).returncode == 0
    refused = simlab("kernel", "ntk", "--depth", 3, "--activation", "crooked", env=environment)
    assert refused.returncode == 2
    assert says in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_a_kind_of_simlab_is_never_replaced(simlab: Call, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "usurper.py").write_text("1 / 0\n")
    environment = write_metadata(site, "usurper", "1.0", {"simlab.activations": {"relu": "usurper:ReLU"}})
    done = simlab("kernel", "ntk", "--depth", 2, env=environment)
    assert done.returncode == 0, done.stderr


def test_a_spec_cannot_name_a_module_that_no_entry_point_names(tmp_path: Path) -> None:
    """ "module:name" is for `custom` alone, and needs leave (tests/cli/test_allow_code.py)."""
    from simlab.lab.spec import resolve

    for kind in ("simlab_example.bent:Bent", "simlab_example.bent", "os:system"):
        with pytest.raises(BadInput, match=r"network\.activation\.kind = .*: unknown kind"):
            resolve({**SPEC, "network": {"kind": "two_layer", "width": 3, "activation": kind}, "observables": []})


def test_a_package_cannot_replace_a_kind_of_simlabs_own(simlab: Call, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "usurper.py").write_text("raise SystemExit('imported')\n")
    environment = write_metadata(site, "usurper", "1.0", {"simlab.activations": {"tanh": "usurper:Tanh"}})
    listed = json.loads(simlab("list", "activations", "--json", env=environment).stdout)["activations"]
    assert listed["tanh"].startswith("The hyperbolic tangent")
    code = "from simlab import activations\nprint(type(activations.get('tanh')).__module__)"
    assert python(code, environment, tmp_path) == "simlab.activations.tanh\n"
