"""Mutated specs: case number i of seed s is a TOML file and options, whatever else is run.

A case begins with a sound spec (bundled, of a claim, or an experiment's example), most with its axes cut short, and
changes its tables or its text in one to four places.
"""

from __future__ import annotations

import functools
import random
import tomllib
from dataclasses import dataclass, field

import tomli_w

from fuzzing import nasty
from fuzzing.spec_tables import MUTATIONS, Pieces, Tables
from fuzzing.spec_text import TEXT_MUTATIONS
from simlab import claims
from simlab.core import catalogue
from simlab.lab import bundled
from simlab.lab.sweep import GENERATORS

AXIS_VALUES = 3  # values that are left of an axis


@dataclass
class Case:
    """One mutated spec.

    content: bytes of the file.
    options: of `simlab run`, beside the file and --dry-run.
    about: the original and the mutations, in words.
    """

    content: bytes
    options: list[str] = field(default_factory=list)
    about: str = ""


@functools.cache
def originals() -> tuple[tuple[str, str, float], ...]:
    """(name, TOML, weight): long sweeps are taken less often, as each of their points is validated."""
    found = [(name, bundled.get(name).text) for name in bundled.names()]
    for name in catalogue.names("claims"):
        claim = claims.get(name)
        found += [(f"claims.{name}.quick", claim.quick), (f"claims.{name}.full", claim.full)]
    for kind in catalogue.names("experiments"):
        for i, tables in enumerate(catalogue.examples("experiments", kind)):
            whole = {**tables, "experiment": {"kind": kind, **tables.get("experiment", {})}}
            found.append((f"experiments.{kind}.{i}", tomli_w.dumps(whole)))
    return tuple((name, text, 1.0 / (1.0 + _points(tomllib.loads(text)) / 50.0)) for name, text in found)


def _points(tables: Tables) -> int:
    """Roughly how many points a sweep has."""
    count = 1
    for key, value in tables.get("sweep", {}).items():
        if key not in ("zip", "independent"):
            size = value if isinstance(value, int) else len(value) if isinstance(value, list) else 20
            count *= max(1, size)
    return count


def case(seed: int, number: int) -> Case:
    """Case `number` of a seed."""
    chance = random.Random(f"{seed} {number}")
    names = originals()
    name, text, _ = chance.choices(names, [weight for *_, weight in names])[0]
    found = Case(b"", about=name)
    tables = tomllib.loads(text)
    cut = chance.random() < 0.85
    if cut:
        _cut(tables)
    if chance.random() < 0.75:
        text = _in_tables(chance, tables, found)
    elif cut:
        text = tomli_w.dumps(tables)
    content = text.encode("utf-8", "surrogatepass")
    if not found.about.count(";") or chance.random() < 0.1:
        for _ in range(chance.choice([1, 1, 1, 2, 5])):
            mutation = chance.choice(TEXT_MUTATIONS)
            content = mutation(chance, content)
            found.about += f"; {mutation.__name__}"
    if chance.random() < 0.08:
        _set(chance, tables, found)
    if chance.random() < 0.15:
        found.options.append("--json")
    if chance.random() < 0.05:
        found.options += ["--workers", chance.choice(["1", "2", "1000000"])]
    found.content = content
    return found


def _cut(tables: Tables) -> None:
    """Short axes: a case is about one value, not about ten thousand points."""
    sweep = tables.get("sweep", {})
    for key, value in sweep.items():
        if isinstance(value, list) and key not in ("zip", "independent"):
            sweep[key] = value[:AXIS_VALUES]
        elif isinstance(value, dict) and next(iter(value), "") in GENERATORS[:3]:
            numbers = next(iter(value.values()))
            sweep[key] = {next(iter(value)): [*numbers[:2], min(numbers[2], AXIS_VALUES)]}
    if isinstance(sweep.get("seeds"), int):
        sweep["seeds"] = min(sweep["seeds"], AXIS_VALUES)


def _in_tables(chance: random.Random, tables: Tables, found: Case) -> str:
    pieces = Pieces()
    for _ in range(chance.choice([1, 1, 1, 1, 1, 2, 2, 3])):
        mutation = chance.choices([one for one, _ in MUTATIONS], [weight for _, weight in MUTATIONS])[0]
        mutation(chance, tables, pieces)
        found.about += f"; {mutation.__name__}"
    return pieces.text(tables)


def _set(chance: random.Random, tables: Tables, found: Case) -> None:
    """Options --set, on keys that are there and on others."""
    names = [f"{table}.{key}" for table, inner in tables.items() if isinstance(inner, dict) for key in inner]
    for _ in range(chance.choice([1, 1, 2])):
        key = chance.choice([*names, *nasty.KEYS]) if names else chance.choice(nasty.KEYS)
        text = chance.choice([f"{key}={nasty.value(chance)}", f"{key}={chance.choice(nasty.STRINGS)}", key, f"{key}="])
        if "\0" not in text and len(text) < 100_000:  # what a command line can hold
            found.options += ["--set", text]
            found.about += "; --set"
