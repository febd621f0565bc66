"""Three kinds for simlab: an activation, a network and an observable. One file per kind; pyproject.toml names them."""

__version__ = "0.1.0"
