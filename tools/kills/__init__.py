"""Kinds of work for `tools/kill_sweep.py`, one per file; `work.py`: their contract; `process.py`: the kills."""
