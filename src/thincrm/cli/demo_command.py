"""`thincrm demo`: topics of all State of the Union addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thincrm.console import options as o
from thincrm.console.once import OnceCommand
from thincrm.console.voice import Voice
from thincrm.numerics.waiting import starting

__all__ = ["add_commands"]

_FOLDER, _SWEEPS = Path("demo"), 120


def add_commands(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=OnceCommand, epilog="Example: thincrm demo --out demo")(demo)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for report.html and tables.")] = _FOLDER,
    sweeps: o.NumSweeps = _SWEEPS,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Fit topics to all State of the Union addresses, in about a minute, and write a report."""
    with starting(quiet=quiet):
        from thincrm.cli import state_of_the_union  # noqa: PLC0415 - help is quick

    state_of_the_union.run(Voice(quiet, json), out, sweeps)
