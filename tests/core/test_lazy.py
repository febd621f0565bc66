"""Public names that are imported when they are asked for."""

from __future__ import annotations

import pytest

from simlab import machines
from simlab.core import lazy
from simlab.machines.kernel_ridge import KernelRidge


def test_names_come_from_the_imports_for_type_checkers() -> None:
    assert machines.KernelRidge is KernelRidge
    assert {"KernelRidge", "TrainedNetwork", "ridge_path"} <= set(machines.__all__)
    assert dir(machines) == sorted(machines.__all__)
    for name in machines.__all__:
        assert getattr(machines, name).__name__ == name


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match=r"module 'simlab.machines' has no attribute 'KernelRige'.*KernelRidge"):
        _ = machines.KernelRige  # type: ignore[attr-defined]


def test_only_names_imported_as_themselves_under_type_checking() -> None:
    text = "from a import b as b\nif TYPE_CHECKING:\n    from c.d import E as E\n    from f import g\n    import h\n"
    assert lazy._imports_for_types(text) == {"E": "c.d"}
