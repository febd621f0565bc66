"""What two specs differ in, key by key: for the refusal to go on with a run by another spec."""

from __future__ import annotations

from typing import Any

from simlab.core.errors import LONGEST_VALUE, shown
from simlab.lab.spec import Spec


def differences(old: Spec, new: Spec) -> list[str]:
    """``network.width: 50 → 100`` for every key that differs."""

    def leaves(spec: Spec) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def walk(value: Any, key: str) -> None:
            if isinstance(value, dict) and value:
                for name, item in value.items():
                    walk(item, f"{key}.{name}" if key else name)
            else:
                found[key] = value

        walk({**spec.tables, "sweep": spec.sweep.dump()}, "")
        return found

    a, b = leaves(old), leaves(new)
    both = {key: (a.get(key, "absent"), b.get(key, "absent")) for key in {**a, **b}}
    return [f"{key}: {_brief(before)} → {_brief(after)}" for key, (before, after) in both.items() if before != after]


def _brief(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= LONGEST_VALUE else shown(value)
