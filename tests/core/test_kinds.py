"""Kinds: found from their files alone, the same ones as by importing them; and what the base class gives them."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from simlab import activations, networks
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.core.kinds import Kind, KindClass, changed_fields, snake
from simlab.networks.network import FeatureMap, Trainable


@pytest.mark.parametrize("room", catalogue.rooms())
def test_the_files_tell_the_same_kinds_as_the_modules(room: str) -> None:
    package, found = importlib.import_module(f"simlab.{room}"), {}
    for entry in pkgutil.iter_modules(package.__path__):
        if entry.name.startswith("_") or entry.name == catalogue.ROOMS[room]:
            continue
        module = importlib.import_module(f"simlab.{room}.{entry.name}")
        for name, value in vars(module).items():
            own = isinstance(value, KindClass) and value.__module__ == module.__name__
            if own and catalogue.plain(name) == catalogue.plain(entry.name):
                found[entry.name] = (inspect.getdoc(module) or "").partition("\n")[0]
    assert {kind: catalogue.first_line(room, kind) for kind in catalogue.names(room)} == found


@pytest.mark.parametrize("room", catalogue.rooms())
def test_a_kind_knows_its_name_and_room_and_fulfils_the_contract(room: str) -> None:
    contract = catalogue.contract(room)
    for kind, cls in catalogue.loaded(room).items():
        assert (cls.kind, cls.room) == (kind, room)
        assert issubclass(cls, contract)
        assert issubclass(cls, Kind)
        assert not inspect.isabstract(cls), (kind, cls.__abstractmethods__)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('"""One line."""\n', "One line."),
        ('"""One line.\n\nMore."""\n', "One line."),
        ("'''With \"\"\" in it.'''\n", 'With """ in it.'),
        ('r"""Raw \\d."""\n', "Raw \\d."),
        ('"""An escape \\u03c6"""\n', "An escape φ"),
        ('# first a comment\n"""Then a line."""\n', "Then a line."),
        ('"""\nBelow.\n"""\n', "Below."),
        ("x = 1\n", ""),
    ],
)
def test_first_lines_of_any_docstring(text: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "networks").mkdir()
    (tmp_path / "networks" / "planted.py").write_text(text)
    monkeypatch.setattr(catalogue, "PACKAGE", tmp_path)
    assert catalogue.first_line("networks", "planted") == line


def test_a_kind_is_the_class_named_as_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "room_of_its_own"
    room.mkdir()
    for name, text in {
        "two_layer": "class TwoLayer(Base):\n    pass\n",
        "mlp": "class Helper(Base):\n    pass\n\n\nclass MLP(Base):\n    pass\n",
        "contract": "class Contract(Kind):\n    pass\n",
        "imports": "from somewhere import Imports\n",
        "inside": "def make():\n    class Inside(Base):\n        pass\n",
        "speaks": '"""Not: class Speaks(Base)."""\n',
        "longer": "class LongerOne(Base):\n    pass\n",
        "bound": "class Bound:\n    pass\n",
        "_helper": "class Helper(Base):\n    pass\n",
    }.items():
        (room / f"{name}.py").write_text(text)
    monkeypatch.setattr(catalogue, "PACKAGE", tmp_path)
    monkeypatch.setitem(catalogue.ROOMS, "room_of_its_own", "contract")
    assert catalogue.names("room_of_its_own") == ["mlp", "two_layer"]


@pytest.mark.parametrize("name", ["_thin", "bound", "network", "../core/kinds", "simlab.networks.two_layer", ""])
def test_a_helper_or_a_contract_is_no_kind(name: str) -> None:
    with pytest.raises(BadInput, match="unknown kind"):
        catalogue.get("networks", name)


def test_names_of_files_and_classes() -> None:
    assert "lab" not in catalogue.rooms()
    assert not any(kind.startswith("_") for room in catalogue.rooms() for kind in catalogue.names(room))
    assert snake("TwoLayer") == "two_layer"
    assert snake("ResNet3") == "res_net3"
    assert catalogue.plain("two_layer") == catalogue.plain("TwoLayer")


def test_able_kinds_are_those_of_a_contract_or_a_fact() -> None:
    maps = catalogue.able("networks", FeatureMap)
    assert "random_features" in maps
    assert "two_layer" not in maps
    assert catalogue.able("networks", lambda cls: issubclass(cls, FeatureMap)) == maps


def test_a_kind_takes_named_fields_only() -> None:
    with pytest.raises(TypeError, match=r"^TwoLayer takes named fields only: width, "):
        networks.TwoLayer(3)
    with pytest.raises(BadInput, match=r"two_layer\.width = 0: must be greater"):
        networks.TwoLayer(width=0)
    with pytest.raises(BadInput, match='did you mean "width"'):
        networks.TwoLayer(witdh=3)


def test_a_contract_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Trainable()


def test_kinds_are_values_that_print_what_differs_from_the_default() -> None:
    net = networks.TwoLayer(width=3, activation=activations.Tanh)
    assert repr(net) == str(net) == "two_layer(width=3, activation=tanh())"
    assert (
        net
        == networks.TwoLayer(width=3, activation={"kind": "tanh"})
        == networks.get("two_layer", width=3, activation="tanh")
    )
    assert pickle.loads(pickle.dumps(net)) == net
    assert hash(pickle.loads(pickle.dumps(net))) == hash(net)
    assert changed_fields(net).keys() == {"width", "activation"}


def test_the_catalogue_imports_nothing_heavy() -> None:
    code = """if 1:
        import sys
        from simlab.core import catalogue
        for room in catalogue.rooms():
            assert [catalogue.first_line(room, kind) for kind in catalogue.names(room)]
        print([m for m in ("pydantic", "numpy", "numba", "scipy") if m in sys.modules])
        """
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"
