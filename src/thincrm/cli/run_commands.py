"""`thincrm resume`, `report` and `export`: go on with a run, show it, hand it on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from thincrm.console import options as o
from thincrm.console.once import OnceCommand
from thincrm.console.options import sweeps_named
from thincrm.console.output_places import file_place
from thincrm.console.stopping import end_of, resumable
from thincrm.console.voice import Voice
from thincrm.inference.dask_cluster import connected
from thincrm.numerics.waiting import starting

__all__ = ["Format", "add_commands"]


class Format(StrEnum):
    """What a run can be exported to."""

    arviz = "arviz"
    csv = "csv"
    pyldavis = "pyldavis"


def add_commands(app: typer.Typer) -> None:
    """Add the commands."""
    for command, example in (
        (resume, "thincrm resume run --minutes 10"),
        (report, "thincrm report run --open"),
        (export, "thincrm export run --to pyldavis"),
    ):
        app.command(cls=OnceCommand, epilog=f"Example: {example}")(command)


def resume(
    run: o.Run,
    sweeps: Annotated[
        str | None,
        typer.Option(
            help="End after so many sweeps per chain, more or fewer than before; auto = once the "
            "verdict is a yes.",
            metavar="N",
            show_default="as before",
        ),
    ] = None,
    minutes: o.Minutes = None,
    scheduler: o.Scheduler = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Go on with a run that was stopped, as if it had not been; or make a run longer or shorter.

    A run that has ended goes on for --minutes, or until it has --sweeps.
    """
    with starting(quiet=quiet):
        from thincrm.cli import any_run  # noqa: PLC0415 - help is quick

    with resumable(run), connected(scheduler) as client:
        n_sweeps = None if sweeps is None else sweeps_named(sweeps)
        complete = any_run.resume(Voice(quiet, json), run, client, n_sweeps, minutes)
    end_of(run, complete)


def report(
    run: o.Run,
    out: Annotated[
        Path | None, typer.Option(help="File to write.", show_default="RUN/report.html")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write report.html: the results in one interactive file that needs no network."""
    with starting(quiet=quiet):
        from thincrm.cli import any_run  # noqa: PLC0415

    voice = Voice(quiet, json)
    path = file_place(out, run, "report.html")
    any_run.report(voice, run, path, title)
    voice.say(f"{path} written: open it in a browser.")
    voice.result(run=run, report=path)
    if open_it:
        typer.launch(path.resolve().as_uri())


def export(
    run: o.Run,
    to: Annotated[Format, typer.Option(help="For ArviZ, for pyLDAvis, or as CSV files.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="File or folder to write.",
            show_default="RUN/arviz.nc, RUN/pyldavis.html or RUN/tables",
        ),
    ] = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write the draws or tables of a run for another program."""
    with starting(quiet=quiet):
        from thincrm.cli import any_run  # noqa: PLC0415

    voice = Voice(quiet, json)
    names = {Format.arviz: "arviz.nc", Format.csv: "tables", Format.pyldavis: "pyldavis.html"}
    path = (out or run / names[to]) if to is Format.csv else file_place(out, run, names[to])
    written = any_run.export(voice, run, to.value, path)
    for file in written:
        voice.say(f"{file} written")
    voice.result(run=run, to=to, files=[str(file) for file in written])
