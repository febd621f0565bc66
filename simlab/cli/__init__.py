"""cli: click commands. Each parses, calls one function and prints; numerics and heavy imports stay out.

Exit codes: 0 done, 1 failed, 2 usage or bad spec, 3 finished with failed points or a claim judged false,
128 + signal number when stopped by SIGINT, SIGTERM or SIGHUP after committing.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from simlab.cli import _encoding, _hint, _streams
from simlab.core import stopping

if TYPE_CHECKING:
    import click


def main() -> None:
    """The entry point: signals first, so that not even the imports can be killed with the wrong exit code."""
    try:
        stopping.install(_streams.let_go_of_full)
        code = _call()
        stopping.ignore()
    except BaseException:  # not only Stopped: Python wraps what is raised inside a class body
        stopping.acknowledge()
        if not (number := stopping.received()):
            raise
        _streams.let_go_of_full()
        _streams.say(f"stopped by {signal.Signals(number).name}; what was committed is kept{_hint.how_to_go_on()}")
        _streams.throw_away(sys.stdout)  # cut short already; Python must not wait to write the rest at exit
        code = 128 + number
    sys.exit(code)


def _call() -> int:
    # A closed standard stream is None in Python, and printing to None prints to standard output.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    _encoding.prepare()
    _hint.forget()

    import click

    from simlab.cli import usage
    from simlab.cli.app import app
    from simlab.core.errors import SimlabError, one_line

    try:
        return _invoke(app)
    except BrokenPipeError:
        # Whoever read our output has left; Python must not try to flush it again at exit.
        _streams.throw_away(sys.stdout)
        return 1
    except click.UsageError as error:
        _streams.say(one_line(usage.in_one_line(error)))
        return error.exit_code
    except SimlabError as error:
        _streams.say(str(error))
        return error.exit_code
    except OSError as error:
        _streams.say(one_line(f"{error.filename or 'system'}: {error.strerror or error}"))
        return 1


def _invoke(app: click.Group) -> int:
    """Call the command, and write out what it printed while errors are still caught."""
    import click

    try:
        code = app.main(prog_name="simlab", auto_envvar_prefix="SIMLAB", standalone_mode=False)
    except click.UsageError as error:
        if not (error.ctx and type(error).__name__ == "NoArgsIsHelpError"):  # click >= 8.2; 8.1 prints the help itself
            raise
        click.echo(error.ctx.get_help())
        code = 0
    sys.stdout.flush()
    return int(code or 0)
