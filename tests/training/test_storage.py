"""Saving and loading: nothing lost, nothing overwritten, nothing run, damage found."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import simlab
from simlab import activations, flows, networks, train
from simlab.core.errors import BadInput, WriteFailed
from simlab.record.checksum import Damaged
from simlab.training import Trained


def trained(**network: Any) -> Trained:
    X = np.random.default_rng(0).standard_normal((12, 3))
    net, flow = networks.TwoLayer(**{"width": 5, **network}), flows.GradientDescent(steps=20, step=0.1)
    observe = ["train_loss", {"kind": "neuron_snapshots", "neurons": 2}, "tangent_spectrum"]
    return train(net, X, X[:, 0], flow, observe=observe, records=4, seed=2**100, progress=False)


def test_nothing_is_lost(tmp_path: Path) -> None:
    first = trained(activation="tanh")
    assert first.save(tmp_path / "net.h5") == tmp_path / "net.h5"
    again = simlab.load(str(tmp_path / "net.h5"))
    assert (again.network, again.flow, again.observables) == (first.network, first.flow, first.observables)
    assert (again.ending, again.seed, again.threads, again.dtype) == (first.ending, 2**100, 1, "float64")
    assert again.trajectory.identical(first.trajectory)
    X = np.random.default_rng(1).standard_normal((4, 3))
    for name in ("predict", "tangent_kernel", "features"):
        np.testing.assert_array_equal(getattr(again, name)(X), getattr(first, name)(X))
    np.testing.assert_array_equal(again.theta0, first.theta0)
    assert list(tmp_path.iterdir()) == [tmp_path / "net.h5"]
    again.save(tmp_path / "copy.h5")
    assert (tmp_path / "copy.h5").read_bytes() == (tmp_path / "net.h5").read_bytes()


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "net.h5"
    path.write_text("mine")
    with pytest.raises(BadInput, match=r"net\.h5: is there already; give another path, or overwrite=True"):
        trained().save(path)
    assert path.read_text() == "mine"
    trained().save(path, overwrite=True)
    assert simlab.load(path).records == 4
    (tmp_path / "link.h5").symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="is there already"):
        trained().save(tmp_path / "link.h5")


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(WriteFailed, match="cannot write"):
        trained().save(tmp_path / "no" / "net.h5")
    with pytest.raises(WriteFailed, match="cannot write"):
        trained().save(tmp_path, overwrite=True)
    with pytest.raises(BadInput, match="path = 3: must be the path of a file"):
        trained().save(3)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_what_is_no_trained_network(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    cases = [
        ("none.h5", "no such file"), (".", "is not a regular file"), ("text", "no trained network"),
        ("other.h5", "HDF5, but no trained network"),
    ]  # fmt: skip
    for name, says in cases:
        with pytest.raises(BadInput, match=says):
            simlab.load(tmp_path / name)
    with pytest.raises(BadInput, match="path = None: must be"):
        simlab.load(None)  # type: ignore[arg-type]


def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "net.h5"
    trained().save(path)
    whole = path.read_bytes()
    for at in np.linspace(0, len(whole) - 1, 40).astype(int):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(BadInput, match=r"net\.h5: "):
            simlab.load(path)
    for length in (0, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(BadInput, match=r"net\.h5: "):
            simlab.load(path)
    path.write_bytes(whole)
    assert simlab.load(path).records == 4


def test_a_changed_byte_inside_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "net.h5"
    trained().save(path)
    whole = bytearray(path.read_bytes())
    at = whole.find(trained().theta.tobytes())
    assert at > 0
    whole[at] ^= 1
    path.write_bytes(bytes(whole))
    with pytest.raises(Damaged, match="damaged: not the bytes that were written"):
        simlab.load(path)


def test_a_newer_format_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simlab.training.storage.SCHEMA", 7)
    trained().save(tmp_path / "net.h5")
    monkeypatch.undo()
    with pytest.raises(BadInput, match="of format 7, and this simlab reads format 1; install the newer simlab"):
        simlab.load(tmp_path / "net.h5")


def test_a_function_cannot_be_saved(tmp_path: Path) -> None:
    net = trained(activation=activations.custom(math.tanh))
    assert "tanh" in net.trajectory.attrs["spec"]
    with pytest.raises(BadInput, match=r"network\.activation\.phi = .*: cannot be saved; name it as text"):
        net.save(tmp_path / "net.h5")


def test_code_runs_only_where_it_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMLAB_ALLOW_CODE", "1")
    trained(activation={"kind": "custom", "phi": "numpy:tanh"}).save(tmp_path / "net.h5")
    monkeypatch.delenv("SIMLAB_ALLOW_CODE")
    with pytest.raises(BadInput, match=r"net\.h5: network\.activation.*would import and run code"):
        simlab.load(tmp_path / "net.h5")
    assert simlab.load(tmp_path / "net.h5", allow_code=True).records == 4
    assert "SIMLAB_ALLOW_CODE" not in os.environ
