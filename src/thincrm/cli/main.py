"""The commands, and how they fail: in one sentence, with a code."""

from __future__ import annotations

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
from thincrm.cli import demo, fitting, showing, using
from thincrm.cli.reproduce import reproduce
from thincrm.cli.shell import asked, in_shell
from thincrm.errors import ThincrmError
from thincrm.printable import printable

__all__ = ["app"]

_BAD_INPUT, _INTERRUPTED = 2, 130
_EPILOG = """\
Example: thincrm topics corpus.csv --text body --date date --out run

Exit codes: 0 done; 2 bad input, in one sentence; 130 interrupted, what there is so far is kept.
"""


class Sentences(TyperGroup):
    """Commands that fail in one sentence on standard error, not in a traceback."""

    def main(self, *args: Any, **more: Any) -> Any:
        """Run; a terminal that does not have a letter gets a question mark in its place."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        with asked(more.get("args") or (args[0] if args else None) or sys.argv[1:]):
            return super().main(*args, **more)

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the words of the group itself."""
        with _printable_complaints():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors of ours end with code 2, an interrupt with 130."""
        with warnings.catch_warnings():
            warnings.showwarning = _note
            try:
                with _printable_complaints():
                    return super().invoke(ctx)
            except ThincrmError as error:
                _fail(in_shell(str(error)))
                raise typer.Exit(_BAD_INPUT) from error
            except OSError as error:
                said = os.strerror(error.errno) if error.errno else " ".join(str(error).split())
                where = f": {error.filename}" if error.filename else ""
                _fail(f"{said}{where}")
                raise typer.Exit(_BAD_INPUT) from error
            except MemoryError as error:
                _fail("the memory does not suffice; fewer words, topics or draws need less.")
                raise typer.Exit(_BAD_INPUT) from error
            except KeyboardInterrupt as error:
                typer.secho("Interrupted: what was written before stays.", fg="red", err=True)
                raise typer.Exit(_INTERRUPTED) from error


def _fail(sentence: str) -> None:
    typer.secho(f"Error: {printable(sentence)}", fg="red", err=True)


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.secho(f"Note: {printable(in_shell(str(message)))}", fg="yellow", err=True)


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
    help="Thinned completely random measures: topics that come and go, with a covariate.",
    epilog=_EPILOG,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"thincrm {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Thinned completely random measures: topics that come and go, with a covariate."""


app.command(epilog=fitting.TOPICS_EXAMPLE)(fitting.topics)
app.command(epilog=fitting.FEATURES_EXAMPLE)(fitting.features)
app.command(epilog="Example: thincrm resume run")(fitting.resume)
app.command(epilog="Example: thincrm infer run new.csv --out shares.csv")(using.infer)
app.command(epilog="Example: thincrm date run undated.csv --text body")(using.date)
app.command(epilog="Example: thincrm impute run table.csv --out filled.csv")(using.impute)
app.command(epilog="Example: thincrm evaluate run --heldout 0.2 --sweeps 200")(using.evaluate)
app.command(epilog="Example: thincrm report run --open")(showing.report)
app.command(epilog="Example: thincrm export run --to pyldavis")(showing.export)
app.add_typer(reproduce, name="reproduce")
app.command(epilog="Example: thincrm demo --out demo")(demo.demo)
