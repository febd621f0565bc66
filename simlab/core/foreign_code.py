"""Functions that a spec names by text, "module:name". They are imported, and so run, only where the user allows it.

A spec is data and may come from anybody, so naming a module in it must not be enough to run that module. The user
allows it by ``--allow-code``, by ``simlab.run(…, allow_code=True)``, or by SIMLAB_ALLOW_CODE=1 in the environment,
which workers inherit. A function object given from Python needs no permission: whoever gives it can run it anyway.

Commands that only read a run (`status`, `show`, `collate`) need no permission either: they keep the text as text.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from simlab.core import environment
from simlab.core.errors import BadInput, one_of, shown

ALLOW = "SIMLAB_ALLOW_CODE"
"""Environment variable by which the user allows code."""
READING = "SIMLAB_READS_ONLY"
"""Environment variable that `reading` sets, for the processes started from here too."""
YES, NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


def is_allowed() -> bool:
    """Whether code named by text may run. BadInput where SIMLAB_ALLOW_CODE has an unknown value."""
    word = os.environ.get(ALLOW, "").strip().lower()
    if word not in (*YES, *NO):
        raise BadInput(f"{ALLOW} = {shown(os.environ[ALLOW])}: unknown (allowed: {one_of([*YES, *NO[1:]])})")
    return word in YES


def allowing(yes: bool = True) -> AbstractContextManager[None]:
    """Allow code inside the block and in processes started there. ``yes=False`` changes nothing."""
    return environment.variable(ALLOW, "1") if yes else contextlib.nullcontext()


def reading() -> AbstractContextManager[None]:
    """Inside the block text that names code is not imported but kept as text, also in processes started there."""
    return environment.variable(READING, "1")


def is_unread(value: Any) -> bool:
    """Whether `value` is text that was kept as text because this process only reads."""
    return isinstance(value, str) and READING in os.environ


def is_named_in(text: str) -> bool:
    """Whether this text names code that was imported in this process."""
    return any(name in text for name in _imported)


_imported: set[str] = set()
"""Every "module:name" that `load` was asked for in this process."""


def check_form(text: str) -> None:
    """ValueError unless the text reads ``module:name``; imports nothing."""
    module, colon, name = text.partition(":")
    if not colon or not all(part.isidentifier() for part in [*module.split("."), *name.split(".")]):
        raise ValueError('must be "module:name" or a function of one float')


def load(text: str) -> Callable[..., Any]:
    """The function that ``module:name`` names; ValueError if it is not allowed or there is none."""
    check_form(text)
    if not is_allowed():
        raise ValueError(
            f"would import and run code; if you trust it, allow that with --allow-code, or {ALLOW}=1 in the"
            " environment, or from Python give the function itself (see `simlab guide trust`)"
        )
    _imported.add(text)
    module, _, name = text.partition(":")
    try:
        found = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    except ModuleNotFoundError as error:
        raise ValueError(
            f"cannot be imported ({error}); a module of your own must be installed or on PYTHONPATH: the current"
            " directory is not searched"
        ) from None
    except (Exception, SystemExit) as error:  # whatever the module does when it is imported
        raise ValueError(f"cannot be imported ({type(error).__name__}: {error})") from None
    if not callable(found):
        raise ValueError(f"is not a function but {type(found).__name__}")
    return found
