"""Changes of a spec's tables. Each takes the chance, the tables (changed in place) and the pieces of TOML in them."""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import tomli_w

from fuzzing import nasty
from fuzzing.judging import PLANTED
from simlab.core import catalogue
from simlab.lab.sweep import GENERATORS

Tables = dict[str, Any]
MARK = "@@fuzz{}@@"  # stands for a piece of TOML until the tables are text


@functools.cache
def donors() -> tuple[tuple[str, Tables], ...]:
    """(room, table with kind) of every example of every kind."""
    return tuple(
        (room, {"kind": kind, **table})
        for room in catalogue.rooms()
        if room not in ("claims", "experiments")
        for kind, table in catalogue.all_examples(room)
    )


@functools.cache
def fields(room: str, kind: str) -> tuple[str, ...]:
    return tuple(catalogue.get(room, kind).model_fields)


class Pieces:
    """Pieces of TOML that stand in tables as marks."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def put(self, toml: str) -> str:
        self.pieces.append(toml)
        return MARK.format(len(self.pieces) - 1)

    def text(self, tables: Tables) -> str:
        text = tomli_w.dumps(tables)
        for i, piece in enumerate(self.pieces):
            text = text.replace(f'"{MARK.format(i)}"', piece)
        return text


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
    """(container, key, path) of everything inside tables and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key, (*at, key)
        yield from _places(inner, (*at, key))


def _pick(chance: random.Random, tables: Tables, wanted: Callable[[Any], bool]) -> tuple[Any, Any, tuple[Any, ...]]:
    """One place whose value is wanted; the experiment's kind where there is none."""
    found = [place for place in _places(tables) if wanted(place[0][place[1]])]
    return chance.choice(found) if found else (tables, "a", ("a",))


def any_value(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    where, key, _ = _pick(chance, tables, lambda value: not isinstance(value, dict))
    where[key] = pieces.put(nasty.value(chance))


def any_number(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    where, key, _ = _pick(chance, tables, lambda value: type(value) in (int, float))
    where[key] = pieces.put(nasty.number(chance))


def near_number(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    where, key, _ = _pick(chance, tables, lambda value: type(value) in (int, float))
    if type(where.get(key) if isinstance(where, dict) else where[key]) in (int, float):
        where[key] = pieces.put(nasty.near(chance, where[key]))


def table_as_value(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    where, key, _ = _pick(chance, tables, lambda value: isinstance(value, dict))
    where[key] = pieces.put(nasty.value(chance))


def other_table(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    """The example of another kind: of the same room mostly, or of any."""
    where, key, _ = _pick(chance, tables, lambda value: isinstance(value, dict) and "kind" in value)
    same = [table for room, table in donors() if room in (str(key), f"{key}s")]
    if not same or chance.random() < 0.3:
        same = [table for _, table in donors()]
    where[key] = copy.deepcopy(chance.choice(same))


def other_kind(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    where, key, _ = _pick(chance, tables, lambda value: isinstance(value, dict) and "kind" in value)
    if isinstance(where.get(key) if isinstance(where, dict) else where[key], dict):
        odd = pieces.put(nasty.value(chance))
        where[key]["kind"] = odd if chance.random() < 0.3 else chance.choice(nasty.kinds())


def other_experiment(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    if isinstance(tables.get("experiment"), dict):
        tables["experiment"]["kind"] = chance.choice(catalogue.names("experiments"))


def taken_away(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    where, key, _ = _pick(chance, tables, lambda value: True)
    if key in where if isinstance(where, dict) else True:
        del where[key]


def added(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    """A key that is not there: one of the kind's own where it is known, or any."""
    where, key, _ = _pick(chance, tables, lambda value: isinstance(value, dict))
    table = where[key] if isinstance(where, dict) and key in where else tables
    name = chance.choice(nasty.KEYS)
    if isinstance(table, dict):
        rooms = [room for room in catalogue.rooms() if room != "claims" and table.get("kind") in catalogue.names(room)]
        if rooms and chance.random() < 0.8:
            name = chance.choice(fields(chance.choice(rooms), str(table["kind"])) or nasty.KEYS)
        table[name] = pieces.put(nasty.value(chance))


def renamed(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    where, key, _ = _pick(chance, tables, lambda value: True)
    if isinstance(where, dict) and key in where:
        where[chance.choice([*nasty.KEYS, f"{key}s", str(key)[:-1], str(key).upper()])] = where.pop(key)


def moved(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    where, key, _ = _pick(chance, tables, lambda value: True)
    other, name, _ = _pick(chance, tables, lambda value: True)
    if (key in where) if isinstance(where, dict) else True:
        other[name] = copy.deepcopy(where[key])


def wrapped(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    where, key, _ = _pick(chance, tables, lambda value: True)
    if (key in where) if isinstance(where, dict) else True:
        inner = where[key]
        where[key] = chance.choice(
            [[inner], {"kind": inner}, [inner, copy.deepcopy(inner)], {str(key): inner}, [[inner]]]
        )


def axis(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    """An axis over some key of the spec."""
    where, key, path = _pick(chance, {k: v for k, v in tables.items() if k != "sweep"}, lambda value: True)
    sweep = tables.setdefault("sweep", {})
    if not isinstance(sweep, dict):
        return
    name = ".".join(str(part) for part in path) if chance.random() < 0.9 else chance.choice(nasty.KEYS)
    old = where[key] if not isinstance(where, dict) or key in where else 1
    which = chance.random()
    if which < 0.45:
        numbers = [chance.choice(["0", "1", "2", "3", "-1", "1e2", "10", nasty.number(chance)]) for _ in range(2)]
        last = chance.choice(
            ["1", "2", "3", "10", "0", "-1", "1.5", "1000", "20000", "1000000", "10000000", nasty.number(chance)]
        )
        sweep[name] = pieces.put(f"{{{chance.choice([*GENERATORS, 'linspce'])} = [{', '.join([*numbers, last])}]}}")
    elif which < 0.7:
        sweep[name] = [copy.deepcopy(old), pieces.put(nasty.value(chance))]
    elif which < 0.8:
        sweep[name] = pieces.put(nasty.value(chance))
    elif which < 0.9:
        sweep[name] = [copy.deepcopy(chance.choice(donors())[1]) for _ in range(2)]
    else:
        sweep[name] = pieces.put(f"[{', '.join(map(str, range(chance.choice([2, 50, 2000, 20_000]))))}]")


def sweep_word(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    sweep = tables.setdefault("sweep", {})
    if not isinstance(sweep, dict):
        return
    axes = [key for key in sweep if key not in ("seeds", "zip", "independent")]
    word = chance.choice(["seeds", "zip", "independent"])
    if chance.random() < 0.4 or (word != "seeds" and not axes):
        sweep[word] = pieces.put(nasty.value(chance))
    elif word == "seeds":
        sweep[word] = pieces.put(chance.choice(["1", "2", "1000", "100000", "10000000", "1e3", "2.5"]))
    elif word == "zip":
        sweep[word] = [
            [chance.choice(axes) for _ in range(chance.choice([1, 2, 3]))] for _ in range(chance.choice([1, 2]))
        ]
    else:
        sweep[word] = [chance.choice([*axes, "a"]) for _ in range(chance.choice([0, 1, 2]))]


def figure(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    tables["figure"] = copy.deepcopy(chance.choice([t for room, t in donors() if room == "figures"]))
    for name in fields("figures", tables["figure"]["kind"]):
        if chance.random() < 0.3:
            tables["figure"][name] = pieces.put(nasty.value(chance))


def own_function(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    """An activation that names code, where there is an activation, or in a network that has one."""
    name = chance.choice([*nasty.STRINGS, *[f"{PLANTED}:phi", "numpy:tanh"] * 20])
    table = {"kind": "custom", "phi": pieces.put(nasty.quoted(name))}
    if chance.random() < 0.3:
        table["dphi"] = pieces.put(nasty.value(chance))
    there = [place for place in _places(tables) if place[1] == "activation"]
    inner = [value for key, value in tables.items() if key in ("network", "kernel") and isinstance(value, dict)]
    if there:
        where, key, _ = chance.choice(there)
        where[key] = table
    else:
        chance.choice(inner or [tables])["activation"] = table


def header(chance: random.Random, tables: Tables, pieces: Pieces) -> None:
    if isinstance(tables.get("experiment"), dict):
        tables["experiment"][chance.choice(["seed", "threads", "kind"])] = pieces.put(nasty.value(chance))


MUTATIONS: list[tuple[Callable[[random.Random, Tables, Pieces], None], float]] = [
    (any_value, 4), (any_number, 4), (near_number, 7), (table_as_value, 0.5), (other_table, 3), (other_kind, 1.5),
    (other_experiment, 0.7), (taken_away, 1), (added, 4), (renamed, 0.7), (moved, 0.7), (wrapped, 0.7), (axis, 3),
    (sweep_word, 1.5), (figure, 1.5), (own_function, 1), (header, 0.7),
]  # fmt: skip
