"""What TAB shows, by Python's own completer: what a user needs, and nothing of pydantic's or of the house."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pydoc
import rlcompleter
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

import simlab
from simlab import flows, networks
from simlab.core import catalogue
from simlab.core.kinds import Kind
from simlab.core.parsing import choose
from simlab.kernels import laplace, ntk
from simlab.machines import FeatureRidge, GaussianProcess, KernelFlow, KernelRidge

KERNEL = ["at_cosines", "diagonal", "endpoints", "get_params", "gram", "set_params", "spectrum"]
ROOMS = ["activations", "claims", "data", "experiments", "figures", "flows", "kernels", "lab", "losses", "machines"]
ROOMS += ["networks", "observables", "record", "sphere", "statistics", "targets", "theory", "training"]


def tab(thing: Any) -> list[str]:
    """The names that TAB offers after ``thing.``, in order; where it finds none it offers those of `object`."""
    completer = rlcompleter.Completer({"thing": thing})
    completer.complete("thing.", 0)
    names = {match.removeprefix("thing.").rstrip("()") for match in completer.matches}
    return sorted(names - set(dir(object)))


def test_a_kernel_shows_its_fields_and_what_it_can_do() -> None:
    assert tab(ntk(3)) == sorted(["activation", "bias_std", "depth", "weight_std", *KERNEL])
    assert tab(laplace(1.0)) == sorted(["c", *KERNEL])
    assert tab(ntk(3) + laplace(1.0)) == sorted(["terms", *KERNEL])
    assert tab(type(ntk(3))) == sorted([*tab(ntk(3)), "mro", "register"])  # as of every abstract class


@pytest.mark.usefixtures("allow_code")
@pytest.mark.parametrize("room", catalogue.rooms())
def test_every_kind_shows_its_fields_and_what_its_contract_offers(room: str) -> None:
    for kind, table in catalogue.all_examples(room):
        cls = catalogue.get(room, kind)
        assert dir(cls) == sorted({*cls.model_fields, *cls.shown})
        assert all(inspect.getattr_static(cls, name) is not None for name in cls.shown)
        if room != "experiments":  # whose examples are whole specs
            chosen = choose(room, {"kind": kind, **table}, room)
            assert tab(chosen) == dir(cls)
            for name in tab(chosen):
                getattr(chosen, name)


def test_a_network_shows_what_a_user_needs() -> None:
    fields = ["activation", "bias", "doubled", "init_std", "inner_std", "scaling", "trained", "width"]
    methods = ["features", "forward", "gradient", "initialise", "limit_kernel", "size", "tangent_gram"]
    for_flows = ["loss_and_gradient", "pull", "push", "tangent_blocks"]
    assert tab(networks.TwoLayer(width=3)) == sorted([*fields, *methods, *for_flows])


def test_the_signature_is_in_words_that_a_user_knows() -> None:
    """Each field with its type and default; nothing of pydantic's, in any kind."""
    wanted = "(*, width: int, activation: Activation = relu(), scaling: 'ntk' | 'mean_field' | 'none' = 'ntk', "
    wanted += "bias: bool = False, trained: 'both' | 'first' | 'second' = 'both', doubled: bool = False, "
    wanted += "init_std: float = 1.0, inner_std: float | 'unit' | None = None)"
    assert str(inspect.signature(networks.TwoLayer)) == wanted
    assert "drop_steps: tuple[int, ...] | None = None" in str(inspect.signature(flows.SGD))
    for room in catalogue.rooms():
        for name, cls in catalogue.loaded(room).items():
            shown = str(inspect.signature(cls))
            assert list(inspect.signature(cls).parameters) == list(cls.model_fields), name
            assert not {word for word in ("Annotated", "typing", "Validator", "Gt(", "Undefined") if word in shown}, (
                name
            )


def test_a_trained_network_shows_what_it_can_do() -> None:
    trained = simlab.train(
        networks.TwoLayer(width=3), np.eye(2), [0, 1], flows.GradientDescent(steps=1, step=0.1), seed=0, progress=False
    )
    about = ["dim", "dtype", "ending", "flow", "network", "observables", "seed", "threads"]
    numbers = ["columns", "loss", "made_by", "outputs", "records", "theta", "theta0", "trajectory"]
    assert tab(trained) == sorted([*about, *numbers, "features", "predict", "save", "tangent_kernel"])


def test_pydantic_is_out_of_sight_and_works() -> None:
    """By isinstance, by attribute, by pickle and copy; and a subclass made later is a model like the others."""
    kernel = ntk(3)
    assert isinstance(kernel, BaseModel)
    assert BaseModel in Kind.__mro__
    assert kernel.model_dump()["depth"] == 3
    assert kernel.model_copy(update={"depth": 4}) == ntk(4)
    assert pickle.loads(pickle.dumps(kernel)) == copy.copy(kernel) == copy.deepcopy(kernel) == kernel
    assert kernel.polynomial_degree() is None
    assert inspect.getmro(type(kernel))[-2:] == (BaseModel, object)

    class Two(Kind):
        first: int
        second: float = 0.5

    class Three(Two):
        third: str = ""

    assert tab(Three(first=1)) == ["first", "second", "third"]
    assert Three.__bases__ == (Two,)
    assert issubclass(Three, BaseModel)
    with pytest.raises(ValueError, match="frozen"):
        Three(first=1).first = 2  # type: ignore[misc]
    assert "model_fields_set" not in pydoc.render_doc(kernel, renderer=pydoc.plaintext)


def test_a_machine_shows_its_parameters_and_methods() -> None:
    common = ["fit", "get_params", "predict", "score", "set_params"]
    assert tab(KernelRidge(ntk(3))) == sorted([*common, "kernel", "ridge"])
    assert tab(FeatureRidge("random_features")) == sorted([*common, "features", "memory", "path", "ridge", "seed"])
    process = ["log_marginal_likelihood", "sample_posterior", "sample_prior"]
    assert tab(GaussianProcess(ntk(3))) == sorted([*common, *process, "kernel", "noise"])
    assert {"fit", "kernel", "predict", "rate"} <= set(tab(KernelFlow(ntk(3))))


def test_simlab_shows_its_rooms_and_functions() -> None:
    assert set(tab(simlab)) >= {*ROOMS, "load", "open", "run", "train"}
    assert not {"Any", "Path", "annotations", "importlib", "cli", "core"} & set(tab(simlab))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_shows_what_is_its_own(room: str) -> None:
    """Its public files and functions; each is there when asked for."""
    module = importlib.import_module(f"simlab.{room}")
    shown = tab(module)
    assert not {"Any", "annotations", "kinds", "importlib", "np", "Kind", "Params", "TYPE_CHECKING", "made"} & set(
        shown
    )
    assert not any(name.startswith("_") for name in shown)
    for name in shown:
        assert getattr(module, name).__name__.startswith("simlab.") or callable(getattr(module, name))
    if room in catalogue.rooms() and room != "kernels":
        assert set(catalogue.names(room)) <= set(shown)
    with pytest.raises(AttributeError, match=f"module 'simlab.{room}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_kernels_show_the_functions_that_make_them() -> None:
    from simlab import kernels

    assert tab(kernels) == sorted(kernels.__all__)


def test_a_file_of_a_room_is_there_without_an_import() -> None:
    """In a new process: no other test has imported it. `dir` alone imports none."""
    code = "import sys; from simlab import networks; dir(networks)"
    code += "; assert 'simlab.networks.two_layer' not in sys.modules; networks.TwoLayer(width=3)"
    subprocess.run([sys.executable, "-c", code], check=True)
