"""show sweep: the sweep language, with examples that are read by the parser itself."""

from __future__ import annotations

import tomllib

import click

from simlab.cli import _options, _text

INTRODUCTION = """\
[sweep] turns one spec into many points. Each axis is a dotted key of the spec and its values; the points are all \
combinations, the last axis fastest. An axis may name a key that its table leaves out. A spec without [sweep] is one \
point."""

EXAMPLES = (
    ("An axis: a key in quotes, and a list of its values.", '"network.width" = [50, 100, 200]'),
    ("Without quotes it is the same axis.", "network.width = [50, 100, 200]"),
    ("linspace = [first, last, how many]: evenly spaced.", '"flow.step" = { linspace = [0.1, 0.5, 5] }'),
    ("logspace: from 10^first to 10^last.", '"flow.alpha" = { logspace = [0, 3, 4] }'),
    ("geomspace: the ends themselves, evenly spaced in the logarithm.", '"flow.alpha" = { geomspace = [1, 8, 4] }'),
    ("range = [start, stop, step]: whole numbers, the stop excluded.", '"data.dim" = { range = [2, 11, 4] }'),
    ("A choice of kind, by its name.", '"network.activation" = ["relu", "tanh"]'),
    (
        "An axis of whole tables.",
        'flow = [\n  { kind = "sgd", batch = 1, steps = 900 },\n  { kind = "ode", end_time = 9.0 },\n]',
    ),
    ("A field of the experiment itself.", '"experiment.samples" = [100, 1000]'),
    ("seeds: repetitions with their own random numbers; the dimension seed.", "seeds = 10"),
    (
        "zip: axes that advance together. They are one dimension, named by the first.",
        '"network.width" = [50, 100]\n"flow.step" = [0.2, 0.1]\nzip = [["network.width", "flow.step"]]',
    ),
    (
        "independent: points of this axis draw their own random numbers. Points that differ in other axes share them.",
        '"network.width" = [50, 100]\nindependent = ["network.width"]',
    ),
)


def show_sweep(as_json: bool) -> None:
    """Print the sweep language with examples."""
    from simlab.lab.sweep import Sweep

    rows = []
    for text, example in EXAMPLES:
        sweep = Sweep.parse(tomllib.loads(example))
        labels = [sweep.label(point) for point in range(sweep.points)]
        rows.append({"text": text, "toml": example, "points": labels})
    if as_json:
        _options.print_json({"description": INTRODUCTION, "examples": rows})
        return
    click.echo(_text.wrap(INTRODUCTION))
    for row in rows:
        click.echo("\n" + _text.wrap(str(row["text"])))
        click.echo("\n".join(f"    {line}" for line in str(row["toml"]).splitlines()))
        count, first, last = len(row["points"]), row["points"][0], row["points"][-1]
        click.echo(_text.wrap(f"{count} points: {first} … {last}", 6, "    → "))
    click.echo(
        "\n"
        + _text.wrap(
            "On the command line: `simlab run SPEC --set 'sweep.network.width=[50, 100]'`. `simlab run SPEC --dry-run`"
            " lists the points and writes nothing. seed, threads and kind of [experiment] cannot be swept."
        )
    )
