"""The commands, and how they fail: in one sentence, with a code."""

from __future__ import annotations

import errno
import gc
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from thincrm import __version__
from thincrm.cli import demo_command, prediction_commands, run_commands
from thincrm.cli.reproduce_commands import reproduce
from thincrm.console.stopping import INTERRUPTED
from thincrm.errors import CannotWrite, ThincrmError, in_shell
from thincrm.files import now
from thincrm.inference.interrupts import is_interrupt
from thincrm.models.registry import command_modules
from thincrm.printable import printable

__all__ = ["app"]

_UNFINISHED, _BAD_INPUT = 1, 2
_HELP = (
    "Find topics, features or clusters in data with a date or another covariate, and when each is "
    "present."
)
_EPILOG = """\
Example: thincrm topics corpus.csv --text body --date date --out run

Exit codes: 0 done; 1 not everything could be written; 2 bad input, nothing was written; 130
interrupted, results so far are kept.
"""


class Sentences(TyperGroup):
    """Commands that fail in one sentence on standard error, not in a traceback."""

    def main(self, *args: Any, **more: Any) -> Any:
        """Run; a terminal that does not have a letter gets a question mark in its place.

        Garbage is collected less often than usual: imports leave next to none behind.
        """
        gc.set_threshold(50_000)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        return super().main(*args, **more)

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the words of the group itself."""
        with _printable_complaints():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; bad input ends with code 2, other failures with 1, an interrupt 130."""
        before = now().n_written
        with warnings.catch_warnings():
            warnings.showwarning = _note
            try:
                with _printable_complaints():
                    return super().invoke(ctx)
            except ThincrmError as error:
                _fail(in_shell(error))
                late = isinstance(error, CannotWrite) or now().n_written > before
                raise typer.Exit(_UNFINISHED if late else _BAD_INPUT) from error
            except OSError as error:
                said = os.strerror(error.errno) if error.errno else " ".join(str(error).split())
                where = f": {error.filename}" if error.filename else ""
                _fail(f"{said}{where}")
                named = error.errno == errno.ENAMETOOLONG and now().n_written == before
                raise typer.Exit(_BAD_INPUT if named else _UNFINISHED) from error
            except MemoryError as error:
                _fail("not enough memory: use fewer words, topics or draws.")
                raise typer.Exit(_UNFINISHED) from error
            except (KeyboardInterrupt, SystemError) as error:
                if not is_interrupt(error):  # which a compiled call may turn into another error
                    raise
                typer.secho("Interrupted: what was written before stays.", fg="red", err=True)
                raise typer.Exit(INTERRUPTED) from error


def _fail(sentence: str) -> None:
    typer.secho(f"Error: {printable(sentence)}", fg="red", err=True)


def _note(message: Warning | str, *_: object, **__: object) -> None:
    typer.secho(f"Note: {printable(in_shell(message))}", fg="yellow", err=True)


@contextmanager
def _printable_complaints() -> Iterator[None]:
    """Let what the command line complains of, such as a file name too many, be printable."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # of click, or of the copy of it that typer has
            for name, value in vars(error).items():
                if isinstance(value, str):
                    setattr(error, name, printable(value))
        raise


app = typer.Typer(
    cls=Sentences,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help=_HELP,
    epilog=_EPILOG,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"thincrm {__version__}")
        raise typer.Exit


@app.callback(help=_HELP)
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Read the options of the program itself."""


for _commands in (*command_modules(), run_commands, prediction_commands):
    _commands.add_commands(app)
app.add_typer(reproduce, name="reproduce")
demo_command.add_commands(app)
