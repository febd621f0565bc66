"""Whether a change of the code changed a number: hashes of everything recorded, before and after.

    python tools/bits.py record OUT before.json      # runs what is not in OUT yet, then hashes it
    python tools/bits.py record OUT2 after.json      # with the other version installed
    python tools/bits.py compare before.json after.json

OUT: directory for the runs: the quick ledger (every claim and its control) and the bundled runs of less than two
minutes. A record stopped by ctrl-C goes on where it was. One hash per dataset, over its type, shape and values; two
versions on one machine must agree in all of them. Exits with 1 where they do not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

from simlab.lab import bundled

SHORT = ("under one", "one", "about one")
"""How the head of a run says, in minutes on two cores, that it takes less than two."""


def short_runs() -> list[str]:
    """Names of the bundled runs of less than two minutes."""
    return [name for name in bundled.names() if bundled.get(name).minutes.partition(" on ")[0] in SHORT]


def run_all(out: Path) -> None:
    """The quick ledger and the short runs, each a command of its own; those already there take no time."""
    commands = [["reproduce", "--quick", "--quiet", "-o", str(out / "ledger")]]
    commands += [["run", name, "--quiet", "-o", str(out / "runs" / name)] for name in short_runs()]
    for command in commands:
        print("simlab", *command, flush=True)
        # 3: a claim judged false. That is what it is; the numbers are there all the same.
        if subprocess.run([sys.executable, "-m", "simlab", *command], stdout=subprocess.DEVNULL).returncode not in (
            0,
            3,
        ):
            sys.exit(f"simlab {' '.join(command)}: failed")


def digest(dataset: h5py.Dataset) -> str:
    values = dataset[()]
    content = repr(values.tolist()).encode() if values.dtype == object else np.ascontiguousarray(values).tobytes()
    return hashlib.sha256(f"{dataset.dtype} {dataset.shape} ".encode() + content).hexdigest()[:24]


def hashes(out: Path) -> Iterator[tuple[str, str]]:
    """("run: dataset", hash) of every dataset of every results.h5 under `out`; of every run also its spec's hash."""
    for path in sorted(out.rglob("results.h5")):
        run = path.parent.relative_to(out).as_posix()
        with h5py.File(path) as file:
            yield f"{run}: spec", str(file.attrs["spec_hash"])
            for name in sorted(file):
                if isinstance(file[name], h5py.Dataset):
                    yield f"{run}: {name}", digest(file[name])


def compare(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """What differs, one line each."""
    lines = [f"{key}: only before" for key in before if key not in after]
    lines += [f"{key}: only after" for key in after if key not in before]
    return lines + [f"{key}: differs" for key in before if key in after and before[key] != after[key]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="run everything and store its hashes")
    record.add_argument("out", type=Path)
    record.add_argument("hashes", type=Path)
    against = commands.add_parser("compare", help="two records")
    against.add_argument("before", type=Path)
    against.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.command == "record":
        run_all(given.out)
        found = dict(hashes(given.out))
        given.hashes.write_text(json.dumps(found, indent=0))
        print(f"{len(found)} hashes")
        return
    before, after = (json.loads(path.read_text()) for path in (given.before, given.after))
    differences = compare(before, after)
    print(*differences, sep="\n", end="\n" if differences else "")
    print(f"{len(before)} hashes before, {len(after)} after, {len(differences)} differences")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
