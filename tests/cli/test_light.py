"""Help, guides, listing kinds, completing words and refusing bad input import nothing heavy, whatever is cached."""

from __future__ import annotations

import json
import subprocess
import sys

COMMANDS = """
import contextlib, io, json, os, sys
from simlab.cli import main
heavy = {"numba", "scipy", "matplotlib", "h5py", "numpy", "pydantic", "rich"}
seen = []
for argv, variables in json.loads(sys.argv[1]):
    sys.argv = ["simlab", *argv]
    os.environ.update(variables)
    texts = [io.TextIOWrapper(io.BytesIO()) for _ in range(2)]
    with contextlib.redirect_stdout(texts[0]), contextlib.redirect_stderr(texts[1]):
        try:
            main()
        except SystemExit as end:
            code = end.code
    for name in variables:
        del os.environ[name]
    said = b"".join(text.flush() or text.buffer.getvalue() for text in texts).decode()
    seen.append([code, said, sorted(heavy & set(sys.modules))])
print(json.dumps(seen))
"""


def test_help_listing_completing_and_refusing_import_nothing_heavy() -> None:
    def completing(words: str) -> dict[str, str]:
        return {"_SIMLAB_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}

    cases: list[tuple[list[str], dict[str, str], int, str]] = [
        (["--help"], {}, 0, "reproduce"),
        (["guide", "mathematics", "--section", "1"], {}, 0, "## 1"),
        (["list"], {}, 0, "two_layer"),
        (["list", "activations"], {}, 0, "The absolute value"),
        (["list", "claims", "--json"], {}, 0, "alpha_flow"),
        (["list", "nonsense"], {}, 2, "room = 'nonsense': unknown"),
        (["show", "alpha_flow"], {}, 0, "follow the α-flow"),
        (["show", "nonsense"], {}, 2, "no such kind"),
        (["kernel", "ntkk"], {}, 2, 'did you mean "ntk"?'),
        (["kernel", "ntk", "--depth", "3", "--activation", "rel"], {}, 2, 'did you mean "relu"?'),
        (["reproduce", "alpha_flo"], {}, 2, 'did you mean "alpha_flow"?'),
        (["run", "--nonsense"], {}, 2, "No such option"),
        ([], completing("simlab reproduce alp"), 0, "alpha_flow"),
        ([], completing("simlab kernel nt"), 0, "ntk"),
    ]
    given = json.dumps([case[:2] for case in cases])
    done = subprocess.run([sys.executable, "-c", COMMANDS, given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for (argv, _, code, text), (got_code, got_text, heavy) in zip(cases, json.loads(done.stdout), strict=True):
        assert (got_code, heavy) == (code, []), (argv, got_text)
        assert text in got_text, (argv, got_text)
