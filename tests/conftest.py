"""Shared by all tests: a small spec, and a way to run the command line as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import settings

from simlab.core import foreign_code
from tests.support import scheduling
from tests.support.command_server import CommandServer
from tests.support.runs import small_tables
from tests.support.scheduling import pytest_xdist_make_scheduler  # noqa: F401  a hook

settings.register_profile("simlab", deadline=None, max_examples=50)
settings.load_profile("simlab")
os.environ.pop(foreign_code.ALLOW, None)  # whatever the developer allows elsewhere, the tests ask for themselves


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: scheduling.rank(item.nodeid))


@pytest.fixture
def tables() -> dict[str, Any]:
    return small_tables(**{"network.width": [10, 20], "seeds": 3})


@pytest.fixture(scope="module")
def allow_code() -> Iterator[None]:
    """For the tests of a module that asks for it: "module:name" in examples may be imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(foreign_code.ALLOW, "1")
        yield


@pytest.fixture
def write_spec(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    def write(tables: dict[str, Any], name: str = "spec.toml") -> Path:
        path = tmp_path / name
        path.write_text(tomli_w.dumps(tables))
        return path

    return write


@pytest.fixture
def simlab(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``simlab ARGS…`` in a process of its own."""

    def call(*arguments: Any, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "simlab", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            **options,
        )

    return call


@pytest.fixture(scope="session")
def _served() -> Iterator[CommandServer]:
    served = CommandServer()
    yield served
    served.close()


@pytest.fixture
def simlab_again(tmp_path: Path, _served: CommandServer) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``simlab ARGS…`` in a process that has run others before: for the many commands that end at once."""
    return lambda *arguments: _served.call([str(argument) for argument in arguments], tmp_path)
