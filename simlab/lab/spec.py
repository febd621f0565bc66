"""A spec: one TOML file (experiment, the tables of its rooms, a sweep, a figure) → validated and resolved.

``[experiment]`` holds kind, seed, threads and the experiment's own fields. Every other table is a kind that the
experiment holds: ``kind`` is its name, the other keys are its fields. ``[sweep]`` is read by `simlab.lab.sweep`.
``[figure]`` says how to draw the results; it changes no number and is no part of the hash.

Resolved means: every default written out, every axis listed by value, the seed there even when it was drawn.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from simlab.core import catalogue, reads
from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.kinds import Kind, Table
from simlab.core.parsing import choose, dump, join, parse, rooms_of, whole
from simlab.lab import covering, toml_text
from simlab.lab.sweep import Sweep, flat
from simlab.lab.tables import Given, assign, copy_tables, parse_toml, read_file, with_values
from simlab.lab.toml_text import Tables

if TYPE_CHECKING:
    from simlab.experiments.experiment import Experiment

KEPT_EXPERIMENTS = 1000  # as many as `needs` looks at


class Header(Table):
    """The keys of [experiment] that belong to the engine; the others are the experiment's own."""

    wide = ("seed",)

    kind: str
    seed: int | None = Field(None, ge=0, lt=1 << 128)
    threads: int = Field(1, ge=1, le=1024)


@dataclass(frozen=True)
class Spec:
    """A validated spec.

    tables: [experiment] and the tables of the kinds it holds, resolved.
    sweep: the axes.
    figure: [figure] as it was given; None without one.
    given: the spec as the user gave it; None where that is not known.
    """

    tables: Tables
    sweep: Sweep
    figure: Tables | None
    given: Given | None = field(default=None, compare=False)
    # Combination of axes → its experiment; the one that was asked for last is the last one.
    _experiments: dict[int, Experiment] = field(default_factory=dict, compare=False, repr=False)

    @property
    def header(self) -> Header:
        """The keys of [experiment] that belong to the engine."""
        return Header(**{k: v for k, v in self.tables["experiment"].items() if k in Header.model_fields})

    @property
    def seed(self) -> int:
        """Root seed of the random streams."""
        seed = self.header.seed
        assert seed is not None  # resolved
        return seed

    @property
    def threads(self) -> int:
        """Threads per point."""
        return self.header.threads

    @cached_property
    def experiment_class(self) -> type[Experiment]:
        """The class of the experiment; `at` gives the object of one point."""
        return catalogue.get("experiments", self.header.kind, "experiment.kind")

    def at(self, point: int) -> Experiment:
        """The experiment of one point, validated once: points that differ only in their seed share it.

        It is kept while it is one of the last KEPT_EXPERIMENTS that were asked for.
        """
        combination = self.sweep.combination(point)
        if combination not in self._experiments:
            return self.parse(point)
        found = self._experiments[combination] = self._experiments.pop(combination)  # now it is the last one
        if (watch := reads.current()) is not None:
            for path, kind in kinds_inside(found):
                watch.name(kind, path)
        return found

    def parse(self, point: int) -> Experiment:
        """The experiment of one point, validated now: whoever watches sees what its rules look at."""
        fixed = self._fixed
        if (watch := reads.current()) is not None:
            for name, chosen in fixed.items():
                watch.name(chosen, name)
        found = _parse_point(self.experiment_class, self.tables | fixed, self.sweep.values(point))
        self._experiments[self.sweep.combination(point)] = found
        if len(self._experiments) > KEPT_EXPERIMENTS:
            del self._experiments[next(iter(self._experiments))]
        return found

    @cached_property
    def _fixed(self) -> Tables:
        """The kinds that no axis touches, validated once: half the time that a point takes."""
        swept = {key.partition(".")[0] for key in self.sweep.keys}
        rooms = rooms_of(self.experiment_class)
        single = {name: room for name, room in rooms.items() if name in self.tables and name not in swept}
        return {name: choose(room, self.tables[name], name) for name, room in single.items()}

    @cached_property
    def text(self) -> str:
        """The resolved spec as TOML."""
        tables = copy_tables(self.tables)
        if sweep := self.sweep.dump():
            tables["sweep"] = sweep
        if self.figure is not None:
            tables["figure"] = self.figure
        return toml_text.dumps(tables)

    @cached_property
    def hash(self) -> str:
        """Identifies what is computed."""
        return hashlib.sha256(json.dumps([self.tables, self.sweep.dump()], sort_keys=True).encode()).hexdigest()


def override(tables: Tables, settings: Iterable[str]) -> Tables:
    """Apply ``key=value`` settings: a dotted key of the spec, a TOML value (a bare word is a string)."""
    tables = copy_tables(tables)
    for setting in as_settings(settings):
        key, equals, text = setting.partition("=")
        key = key.strip().replace('"', "")
        table, _, rest = key.partition(".")
        entire = key == table and table in _choices(tables)  # activation=step
        if not (equals and table and (rest or entire)):
            raise BadInput(f"--set {shown(setting)}: must be key=value with a dotted key, such as network.width=100")
        try:
            value = parse_toml(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        # An axis keeps its dots: sweep.network.width names the axis "network.width".
        parts = [table, rest] if table == "sweep" else key.split(".")
        axes = flat(tables["sweep"]) if isinstance(tables.get("sweep"), dict) else {}
        if axis := next((name for name in (key, table) if name in axes), None):
            raise BadInput(f"--set {setting}: {axis} is an axis of the sweep; set sweep.{axis}=[…] instead")
        assign(tables, parts, value, f"--set {setting}")
    return tables


def as_settings(settings: Iterable[str]) -> tuple[str, ...]:
    """Settings one by one; a string is one of them, not its letters."""
    return (settings,) if isinstance(settings, str) else tuple(settings)


def _choices(tables: Tables) -> set[str]:
    """The tables of a spec that a bare name or a list can stand for, also those that are not there yet."""
    found = {*tables, "figure"} - {"experiment", "sweep"}
    header = tables.get("experiment")
    with contextlib.suppress(BadInput, KeyError, TypeError):
        found |= {*rooms_of(catalogue.get("experiments", header["kind"]))} if isinstance(header, dict) else set()
    return found


def resolve(
    tables: Mapping[str, Any],
    *,
    seed: int | None = None,
    as_given: Given | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Spec:
    """Validate tables and write out what they leave open.

    seed: used where the spec gives none.
    as_given: where the tables come from; without it, their own TOML.
    progress: called now and then with the number of points checked.
    """
    spec = _resolved(tables, seed, as_given)
    covering.check(spec, progress)
    return replace(spec, given=Given.of(tables)) if as_given is None else spec


def _resolved(tables: Mapping[str, Any], seed: int | None, as_given: Given | None) -> Spec:
    """Validated at the first point only; its experiment is kept."""
    given = copy_tables(tables)
    figure = given.pop("figure", None)
    sweep_table = given.pop("sweep", None)
    for name, table in (("experiment", given.get("experiment")), ("sweep", sweep_table), ("figure", figure)):
        if table is not None and not isinstance(table, dict):
            raise BadInput(f"{name} = {shown(table)}: must be a table, [{name}]")
    if "experiment" not in given:
        raise BadInput(f"[experiment]: missing (with kind, one of {one_of(catalogue.names('experiments'))})")
    table = given["experiment"]
    if "kind" not in table:
        raise BadInput(f"experiment.kind: missing (allowed: {one_of(catalogue.names('experiments'))})")
    header = parse(Header, {k: v for k, v in table.items() if k in Header.model_fields}, "experiment")
    experiment = catalogue.get("experiments", header.kind, "experiment.kind")
    sweep = Sweep.parse(sweep_table)
    for key in sweep.keys:
        if key.removeprefix("experiment.") in Header.model_fields:
            raise BadInput(f"sweep.{key}: cannot be swept (repetitions: seeds = 10)")
    values = sweep.values(0)
    first = _parse_point(experiment, given, values)
    # What the sweep overrides must be right as well: somebody meant it.
    if any(_has(given, key) for key in values):
        _parse_point(experiment, given, {key: value for key, value in values.items() if not _has(given, key)})
    sweep = _whole_axes(experiment, given, sweep)
    root = header.seed if header.seed is not None else seed if seed is not None else secrets.randbits(32)
    resolved = _write_out(given, first, sweep)
    resolved["experiment"] |= {"seed": root, "threads": header.threads}
    return Spec(resolved, sweep, figure, as_given, {0: first})


def read_back(tables: Mapping[str, Any], hash_: str | None, given: Given | None, *, computes: bool = True) -> Spec:
    """A spec that simlab itself resolved and wrote: where the hash is right, no axis is checked again.

    Where it is not, the spec is checked as any other, and has another hash than this one.

    computes: validate the first point: does this version of simlab still accept it? Without, no experiment is imported.
    """
    if not computes and isinstance(tables.get("experiment"), dict):
        own = {key: table for key, table in tables.items() if key not in ("sweep", "figure")}
        spec = Spec(own, Sweep.parse(tables.get("sweep")), tables.get("figure"), given)
        if spec.hash == hash_:
            return spec
    spec = _resolved(tables, None, given)
    if spec.hash != hash_:
        covering.check(spec)
    return spec


def _whole_axes(experiment: type[Experiment], given: Tables, sweep: Sweep) -> Sweep:
    """Axes of fields that are integers, as integers: ``[1e2, 1e3]`` is ``[100, 1000]``."""
    axes = dict(sweep.axes)
    for group in sweep.groups:
        for key in group:
            at = next((i for i, value in enumerate(axes[key]) if whole(value) is not value), None)
            if at is None:
                continue
            here = {**sweep.values(0), **{name: sweep.axes[name][at] for name in group}}
            holder, name = covering.holder_of(_parse_point(experiment, given, here), key)
            if holder is not None and type(getattr(holder, name)) is int:
                axes[key] = [whole(value) for value in axes[key]]
    return replace(sweep, axes=axes)


def load(
    path: str | Path,
    settings: Iterable[str] = (),
    *,
    seed: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Spec:
    """Read, override, validate, resolve."""
    settings = as_settings(settings)
    tables, text = read_file(path)
    return resolve(override(tables, settings), seed=seed, as_given=Given(text, settings), progress=progress)


def kinds_inside(kind: Kind, path: str = "experiment", tables_at: str = "") -> Iterator[tuple[str, Kind]]:
    """A kind and all kinds that it holds, each with the dotted key of its table, as `parse` names them.

    path: dotted key of the kind's own table.
    tables_at: what comes before the keys of the tables of its kinds; "" for an experiment, whose tables are at the top.
    """
    yield path, kind
    for name in rooms_of(type(kind)):
        value, key = getattr(kind, name), join(tables_at, name)
        named = [(f"{key}[{i}]", one) for i, one in enumerate(value)] if isinstance(value, tuple) else [(key, value)]
        for at, one in named:
            if isinstance(one, Kind):
                yield from kinds_inside(one, at, at)


def _parse_point(experiment: type[Experiment], tables: Mapping[str, Any], values: Mapping[str, Any]) -> Experiment:
    point = with_values(tables, values)
    own = {k: v for k, v in point["experiment"].items() if k not in Header.model_fields}
    chosen = {k: v for k, v in point.items() if k != "experiment"}
    _check_tables(experiment, point)
    try:
        found = parse(experiment, {**own, **chosen}, "experiment", choices_at="")
    except (MemoryError, OverflowError, RecursionError) as error:
        raise BadInput(f"spec: too large for this machine: {error or type(error).__name__}") from None
    return found


def _has(tables: Mapping[str, Any], key: str) -> bool:
    here: Any = tables
    for part in key.split("."):
        if not isinstance(here, Mapping) or part not in here:
            return False
        here = here[part]
    return True


def _check_tables(experiment: type[Experiment], tables: Mapping[str, Any]) -> None:
    """Choices are tables at the top, the experiment's own fields are not."""
    rooms = rooms_of(experiment)
    known = ["experiment", *rooms, "sweep", "figure"]
    for name in tables:
        if name not in known:
            raise BadInput(f"[{name}]: unknown table{nearest(name, known)} (allowed: {one_of(known)})")
    for name in tables["experiment"]:
        if name in rooms:
            raise BadInput(f"experiment.{name}: unknown key; give it as a table of its own, [{name}]")


def _write_out(given: Tables, first: Kind, sweep: Sweep) -> Tables:
    """Defaults filled in from the first point; a table whose kind is swept stays as it was given."""
    rooms = rooms_of(type(first))
    tables: Tables = {"experiment": {"kind": given["experiment"]["kind"]}}
    for key, value in dump(first).items():
        if key in rooms:
            swept = any(axis == key or (axis.startswith(f"{key}.") and axis.endswith(".kind")) for axis in sweep.keys)
            tables[key] = given[key] if swept and key in given else value
        else:
            tables["experiment"][key] = value
    return tables
