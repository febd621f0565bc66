"""kernel, spectrum, gram: what they print, draw and write, and one line for what they refuse."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from simlab.cli._kernel_options import size
from simlab.kernels import laplace, nngp, ntk

Call = Callable[..., subprocess.CompletedProcess[str]]


def test_spectrum_prints_the_contract(simlab: Call, tmp_path: Path) -> None:
    done = simlab("spectrum", "ntk", "--depth", "2", "--dim", "10", "--max-degree", "12", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found) == ["kernel", "dim", "degrees", "eigenvalues", "log10", "multiplicities"]
    expected = ntk(2).spectrum(10, 12)
    assert found["kernel"] == "ntk(depth=2)"
    assert found["dim"] == 10
    assert found["degrees"] == list(range(13))
    assert found["eigenvalues"] == expected.eigenvalues.tolist()
    assert [value is None for value in found["log10"]] == (expected.eigenvalues == 0).tolist()
    assert found["multiplicities"][:4] == [1, 10, 54, 210]


def test_what_is_smaller_than_its_error_is_not_told_as_a_number(simlab: Call) -> None:
    own = ("nngp", "--depth", "2", "--activation", "custom", "--set", "activation.phi=numpy:tanh", "--allow-code")
    arguments = ("spectrum", *own, "--dim", "3", "--max-degree", "5")
    found = json.loads(simlab(*arguments, "--json").stdout)
    assert [value is None for value in found["eigenvalues"]] == [True, False, True, False, True, False]
    assert found["eigenvalues"][1] == pytest.approx(nngp(2, "tanh").spectrum(3, 1).eigenvalues[1], rel=1e-9)
    done = simlab(*arguments)
    assert done.stdout.count("unknown") == 3
    assert "3 eigenvalues are smaller than their error" in done.stderr


def test_spectrum_of_several_depths_is_drawn(simlab: Call, tmp_path: Path) -> None:
    figure = tmp_path / "decay.png"
    arguments = ("spectrum", "nngp", "--depth", "2,3", "--dim", "500", "--max-degree", "90", "--plot", figure)
    done = simlab(*arguments)
    assert done.returncode == 0, done.stderr
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "nngp(depth=2) on S^499" in done.stdout
    assert "nngp(depth=3) on S^499" in done.stdout
    assert "--json prints them all" in done.stderr
    assert simlab(*arguments, "-q").stderr == ""
    # Degrees whose eigenvalue lies below the range of float64 are printed all the same.
    last = next(line.split() for line in done.stdout.splitlines() if line.strip().startswith("90 "))
    exact = nngp(2).spectrum(500, 90)
    assert float(last[2]) == pytest.approx(exact.log10[90], abs=1e-6)


def test_kernel_tells_values_and_end_points(simlab: Call, tmp_path: Path) -> None:
    figure = tmp_path / "kernel.png"
    done = simlab("kernel", "ntk", "--depth", "3", "--at", "0.5,1", "--plot", figure, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["values"] == ntk(3)([0.5, 1.0]).tolist()
    assert found["endpoints"]["exponent"] == 0.5
    assert figure.read_bytes().startswith(b"\x89PNG")
    text = simlab("kernel", "nngp", "--depth", "2", "--activation", "leaky_relu", "--set", "activation.slope=0.5")
    assert "nngp(depth=2, activation=leaky_relu(slope=0.5))" in text.stdout
    assert "k^(−d-2)" in text.stdout
    assert "faster than any power" in simlab("kernel", "gaussian", "--c", "1").stdout


def test_gram_writes_every_kernel_and_depth(simlab: Call, tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((100, 7))
    np.save(tmp_path / "X.npy", X)
    out = tmp_path / "K.h5"
    done = simlab("gram", "nngp,ntk", tmp_path / "X.npy", "--depth", "2,5", "-o", out, "--memory", "1GB", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["datasets"]["ntk_5"] == "ntk(depth=5)"
    with h5py.File(out) as file:
        assert sorted(file) == ["nngp_2", "nngp_5", "ntk_2", "ntk_5"]
        assert np.array_equal(file["ntk_5"][:], ntk(5).gram(X))
    itself = simlab("gram", "laplace", tmp_path / "X.npy", "--c", "2", "-o", tmp_path / "X.npy", "--overwrite")
    assert itself.returncode == 2
    assert "is the input itself" in itself.stderr
    again = simlab("gram", "laplace", tmp_path / "X.npy", "--c", "2", "-o", out)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    done = simlab("gram", "laplace", tmp_path / "X.npy", "--c", "2", "-o", out, "--overwrite", "--float32", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    with h5py.File(out) as file:
        assert np.array_equal(file["laplace"][:], laplace(2.0).gram(X).astype(np.float32))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("spectrum", "ntk", "--dim", "3", "--max-degree", "5"), "ntk.depth: missing"),
        (("spectrum", "nkt", "--depth", "3", "--dim", "3", "--max-degree", "5"), 'did you mean "ntk"'),
        (("spectrum", "ntk", "--depth", "3", "--activation", "step", "--dim", "3", "--max-degree", "5"), "it jumps"),
        (("spectrum", "laplace", "--depth", "3", "--dim", "3", "--max-degree", "5"), "laplace.depth = 3: unknown key"),
        (("spectrum", "ntk", "--depth", "2;3", "--dim", "3", "--max-degree", "5"), "'2;3': must be an integer"),
        (("spectrum", "ntk", "--depth", "2", "--dim", "3", "--max-degree", "5", "--domain", "cube"), "at most 3"),
        (("spectrum", "ntk", "--depth", "2", "--dim", "3", "--max-degree", "99999999"), "from 0 to 20000"),
        (
            ("spectrum", "ntk", "--depth", "2", "--dim", "3", "--max-degree", "5", "--plot", "no/x.png"),
            "no: no such dir",
        ),
        (("spectrum", "laplace", "--c", "1e9", "--dim", "3", "--max-degree", "5"), "c = 1e+09: at most 2000"),
        (("kernel", "ntk", "--depth", "2", "--plot", ""), "--plot: give the name of a file"),
        (("gram", "ntk", "X.npy", "--depth", "2", "-o", ""), "--output: give the name of a file"),
        (("kernel", "ntk", "--depth", "2", "--at", "1.5"), "u = 1.5: a cosine must lie in"),
        (("kernel", "ntk", "--depth", "2", "--set", "depth"), "must be key=value"),
        (("gram", "ntk", "X.npy", "--depth", "2", "-o", "K.h5"), "X.npy: no such file"),
        (("gram", "ntk,ntk", "X.npy", "--depth", "2", "-o", "K.h5"), "the same kernel twice"),
        (("gram", "ntk", "X.npy", "--depth", "2", "-o", "no/K.h5"), "no: no such directory"),
        (("gram", "ntk", "X.npy", "--depth", "2", "-o", "K.h5", "--memory", "lots"), "'lots': must be a size"),
    ],
)
def test_bad_input_is_one_line(simlab_again: Call, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = simlab_again(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "nbytes"), [("4GB", 4 * 10**9), ("1.5 GiB", 3 << 29), ("500mb", 500 * 10**6), ("12", 12)]
)
def test_sizes(text: str, nbytes: int) -> None:
    assert size(text) == nbytes


def test_bench_lists_and_runs_those_of_the_checkout(simlab: Call) -> None:
    listed = simlab("bench", "--json")
    assert listed.returncode == 0, listed.stderr
    assert set(json.loads(listed.stdout)) >= {"engine", "kernels"}
    assert "--rounds" in simlab("bench", "kernels", "--", "--help").stdout
    wrong = simlab("bench", "kernel")
    assert wrong.returncode == 2
    assert 'did you mean "kernels"' in wrong.stderr
    assert simlab("bench", "kernels", "gram", "--rounds", "0").returncode == 2
