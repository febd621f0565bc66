"""lab: one run. spec.py (TOML → validated), sweep.py (spec → points), run.py (points → segments → results).

Around these: tables.py and toml_text.py read and write TOML, covering.py checks all points of a sweep at few of them,
needs.py and estimate.py say what a run takes; directory.py knows the files of a run, options.py how it is run; pool.py
is the parent of the workers, worker.py a worker, pace.py how far they are, results.py how results.h5 is written;
bundled.py finds the specs that come with simlab, schema.py describes specs for editors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import catalogue

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
