"""Redraw the README's pictures from results alone: of claims from a ledger, of runs from their directories.

    simlab reproduce --quick tangent_rate relu_decay lazy_generalisation learning_rate_decides -o out/ledger
    simlab run runs/learning_curves.toml -o out/learning_curves
    simlab run runs/fourier_tubes.toml -o out/fourier_tubes
    python tools/pictures.py out/ledger out               # ledger, and the directory that holds the runs
    python tools/pictures.py --check                      # which pictures are older than their specs or their code

Each PNG says in its text fields of which specs it is (`simlab specs`: their hashes) and what drew it (`simlab drawn
by`: a hash of the source lines that draw, without comments and docstrings). Results of another spec are refused.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Picture
from PIL import Image

from simlab import claims, figures
from simlab.claims.ledger import spec_of
from simlab.core.errors import BadInput, SimlabError
from simlab.figures.style import save
from simlab.lab.results import merged_outputs
from simlab.lab.spec import Spec, load
from simlab.record.reader import Results

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / ".readme"
CLAIMS = ("tangent_rate", "relu_decay", "lazy_generalisation", "learning_rate_decides")
RUNS = ("learning_curves", "fourier_tubes")
SPECS, DRAWN_BY = "simlab specs", "simlab drawn by"
DPI = 90
DRAWING = ("simlab.figures", "simlab.claims", "simlab.statistics")
NOT_DRAWING = ("judge", "data_needed")
"""Methods of a claim that have no part in its picture"""


def specs(name: str) -> list[Spec]:
    """Of a claim the quick spec and its control's, of a run its own: those whose results the picture shows."""
    if name in CLAIMS:
        claim = claims.get(name)
        return [spec_of(claim, "quick"), spec_of(claim, "quick", control=True)]
    return [load(ROOT / "runs" / f"{name}.toml")]


def about(name: str) -> dict[str, str]:
    """The text fields of a picture that is up to date."""
    return {SPECS: " ".join(spec.hash for spec in specs(name)), DRAWN_BY: drawing_hash(name)}


def draw(name: str, results: list[Results]) -> Picture:
    """The figure of a claim or run; results of any but its present specs are refused."""
    wanted = specs(name)
    for spec, found in zip(wanted, results, strict=True):
        if found.attrs["spec_hash"] != spec.hash:
            raise BadInput(f"{found.path}: results of another spec than {name} has now; run it again")
    if name in CLAIMS:
        return claims.get(name).figure(*results)
    return figures.choose(wanted[0].figure or {}, merged_outputs(wanted[0])).draw(results[0])


def drawing_hash(name: str) -> str:
    """Of the source lines that draw a picture: its own file and the shared ones that it imports."""
    room = "claims" if name in CLAIMS else "figures"
    start = name if name in CLAIMS else str((specs(name)[0].figure or {})["kind"])
    text = "\n".join(_lines(path) for path in sorted(_imported(ROOT / "simlab" / room / f"{start}.py")))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _imported(path: Path) -> set[Path]:
    """A file and what it imports of figures, of statistics and of the claims' shared files, and so on."""
    found, left = set(), [path]
    while left:
        here = left.pop()
        found.add(here)
        for node in ast.walk(ast.parse(here.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith(DRAWING):
                continue
            inside = ROOT.joinpath(*str(node.module).split("."))
            for file in [inside.with_suffix(".py"), *(inside / f"{name.name}.py" for name in node.names)]:
                if file.exists() and file not in found:
                    left.append(file)
    return found


def _lines(path: Path) -> str:
    """The code without imports, blank lines, comments and docstrings; of a claim its functions but the judge."""
    text = path.read_text(encoding="utf-8")
    lines, kept = text.splitlines(), []
    body: list[ast.stmt] = ast.parse(text).body
    if path.parent.name == "claims":
        body = [inner for node in body for inner in (node.body if isinstance(node, ast.ClassDef) else [node])]
        body = [node for node in body if isinstance(node, ast.FunctionDef) and node.name not in NOT_DRAWING]
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Expr):
            continue
        said: set[int] = set()  # lines of docstrings
        for inner in ast.walk(node):
            first = inner.body[0] if isinstance(inner, ast.FunctionDef | ast.ClassDef) else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                said |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            line = lines[number - 1]
            if number not in said and line.strip() and not line.strip().startswith("#"):
                kept.append(line)
    return "\n".join(kept)


def fields(path: Path) -> dict[Any, Any]:
    """The text fields of a PNG."""
    with Image.open(path) as image:
        return dict(image.info)


def stale(path: Path) -> str:
    """What of a picture is older than the house, in words; nothing where it is up to date."""
    found, now = fields(path), about(path.stem)
    words = {SPECS: "its specs have changed", DRAWN_BY: "the code that draws it has changed"}
    return " and ".join(text for key, text in words.items() if found.get(key) != now[key])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledger", nargs="?", type=Path, default=Path("out/ledger"), help="of `simlab reproduce`")
    parser.add_argument("runs", nargs="?", type=Path, default=Path("out"), help="directory of the runs' directories")
    parser.add_argument("-o", "--output", type=Path, default=PICTURES)
    parser.add_argument("--check", action="store_true", help="draw nothing; exit 1 where a picture is out of date")
    options = parser.parse_args()
    if options.check:
        old = {name: stale(options.output / f"{name}.png") for name in (*CLAIMS, *RUNS)}
        print("\n".join(f"{name}: {why}" for name, why in old.items() if why) or "all pictures are up to date")
        sys.exit(any(old.values()))
    for name in (*CLAIMS, *RUNS):
        home = options.ledger / "quick" / name
        places = [home / "measured", home / "control"] if name in CLAIMS else [options.runs / name]
        figure = draw(name, [Results(place) for place in places])
        path = save(figure, options.output / f"{name}.png", about(name), DPI)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    try:
        main()
    except SimlabError as error:
        sys.exit(f"pictures: {error}")
