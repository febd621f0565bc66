"""lab: one run. spec.py (TOML → validated), sweep.py (spec → points), run.py (points → segments → results)."""
