"""Values and letters that a spec should not hold, and some that it may; each as a piece of TOML or of text."""

from __future__ import annotations

import functools
import random
from typing import Any

from fuzzing.judging import PLANTED
from simlab.core import catalogue
from simlab.lab.schema import spec_schema

NUMBERS = (
    "0", "1", "-1", "2", "3", "0.0", "-0.0", "0.5", "1e-300", "5e-324", "1e308", "-1e308", "1e300", "1.5", "nan",
    "-nan", "inf", "-inf", "1e999", "100000", "1000000000", "10000000000000", "4294967296", "2147483647",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551616", "1" + "0" * 30, "340282366920938463463374607431768211456", "1e15", "1e16",
    "9007199254740993",
    "1" + "0" * 400, "7" * 4000, "9" * 5001, "0x7fffffffffffffff", "0b1", "0o7", "1_000", "1e2", "2.0", "1e-17",
)  # fmt: skip
STRINGS = (
    "", " ", "a", "kind", "x" * 300, "y" * 20_000, "ä" * 600, "_bound", "__init__", "_schedule", "__class__",
    "model_config", "Params", "../x", "../../etc/passwd", "/dev/null", "/dev/zero", "/", ".", "..", "os", "a:b",
    "os:system",
    "builtins:exec", f"{PLANTED}:phi", f"{PLANTED}", "this:s", "antigravity:x", "numpy:tanh", "simlab:run", "tanh",
    "two_layer", "nan", "inf", "1", "true", "[]", "{}", "\x00", "\x1b[31mred", "\r\n", "line\nline", "\u2028", "\u0085",
    "\u202eabc", "\ud7ff", "\U0001f600", "%s%n{0}{x}", "{kind}", "'\"\\", "\\", "a.b", "a/b", "a\\b", "#", "=",
    "\ufeff",
    "e\u0301" * 40, "-", "--help", "$(x)", "NaN", "None", "x.npy", "x.npz::a", "x.h5::/a", "::", "x::", "\x7f",
    "C" * 4000,
)  # fmt: skip
OTHERS = (
    "true", "false", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "[]", "{}", "[[]]", "[{}]", "[0]", "[1, 2]",
    "[0.5, 1]", '["a"]', '["a", 1, [2]]', "[nan]", "[inf, 1]", '{kind = "tanh"}', '{kind = 3}', "{kind = []}",
    '{kind = ""}', "{a = {b = {c = {d = 1}}}}", "[1, 1]", "[true]", "[1979-05-27]", "[[1, 2], [3]]", "{width = 3}",
    "[1e308, 1e308]", "[" + ", ".join(["1"] * 3000) + "]", "[" * 60 + "]" * 60, "[" * 900 + "]" * 900,
    "{linspace = [0, 1, 3]}", "{range = [3]}", "[-1]", '[""]', '{"" = 1}', '{"a.b" = 1}',
)  # fmt: skip
LETTERS = (
    "\x00", "\x01", "\x1b", "\x7f", "\u0085", "\u2028", "\ufeff", "\u202e", "\U0001f600", "é", '"', "'", '"""',
    "'''", "[", "]",
    "{", "}", "=", "#", "\\", "\r", "\n", "\t", ",", ".", "-", "_", "0", "9", "e", " ", "\\u0000", "\\ud800",
)  # fmt: skip
KEYS = (
    "kind", "seed", "seeds", "zip", "independent", "threads", "sweep", "figure", "experiment", "a", "", " ", "_x",
    "__class__",
    "model_config", "wide", "shown", "a.b", "é", "\x00", "\n", "x" * 300, "k" * 5000, "network", "data", "target",
    "flow", "loss",
    "observables", "activation", "width", "depth", "dim", "samples", "steps", "step", "path", "phi", "dphi", "kinks",
    "memory",
)  # fmt: skip


def quoted(text: str) -> str:
    """A TOML string: what may not stand in one is escaped."""
    out = []
    for letter in text:
        if letter in '"\\' or ord(letter) < 32 or ord(letter) == 127:
            out.append(f"\\u{ord(letter):04x}")
        else:
            out.append(letter)
    return '"' + "".join(out) + '"'


@functools.cache
def bounds() -> tuple[str, ...]:
    """Every number in the schema of specs: the limits, the defaults and the choices."""
    found: set[float] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif type(value) in (int, float):
            found.add(value)

    walk(spec_schema())
    return tuple(sorted({repr(at + by) for at in found for by in (0, 1, -1)}))


@functools.cache
def kinds() -> tuple[str, ...]:
    """The kinds of all rooms, and files that are none."""
    return tuple(sorted({kind for room in catalogue.rooms() for kind in catalogue.names(room)}))


def value(chance: random.Random) -> str:
    """A piece of TOML to stand for a value."""
    which = chance.random()
    if which < 0.4:
        return chance.choice(NUMBERS)
    if which < 0.55:
        return chance.choice(bounds())
    if which < 0.75:
        return quoted(chance.choice(STRINGS))
    if which < 0.8:
        return quoted(chance.choice(kinds()))
    return chance.choice(OTHERS)


def number(chance: random.Random) -> str:
    return chance.choice(NUMBERS if chance.random() < 0.5 else bounds())


def near(chance: random.Random, given: float) -> str:
    """A number not far from a sound one: what passes the first check and may fail at a later one."""
    by: list[Any] = [
        given + 1,
        given - 1,
        -given,
        given * 2,
        given * 10,
        given * 1000,
        given / 2,
        given * 1e-6,
        given * 1e9,
    ]
    return repr(chance.choice([*by, int(min(abs(given), 1e15)), float(given)]))
