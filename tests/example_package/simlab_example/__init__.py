"""Kinds for simlab, one in each of its rooms. One file per kind; pyproject.toml names them."""

__version__ = "0.1.0"
