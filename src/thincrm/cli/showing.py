"""`thincrm report` and `export`: a run for people and for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from thincrm.cli import options as o
from thincrm.cli.voice import Voice, file_place

__all__ = ["Format", "export", "report"]


class Format(StrEnum):
    """What a run can be exported to."""

    arviz = "arviz"
    csv = "csv"
    pyldavis = "pyldavis"


def report(
    run: o.Run,
    out: Annotated[
        Path | None, typer.Option(help="File to write.", show_default="RUN/report.html")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Headline of the page.")] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write report.html: what the run found, in one file that needs no network."""
    from thincrm.cli import results  # noqa: PLC0415 - help does not wait for it

    voice = Voice(quiet, json)
    path = file_place(out, run, "report.html")
    results.report(run, path, title)
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
    """Write a run's draws or tables for another program."""
    from thincrm.cli import results  # noqa: PLC0415

    voice = Voice(quiet, json)
    names = {Format.arviz: "arviz.nc", Format.csv: "tables", Format.pyldavis: "pyldavis.html"}
    path = (out or run / names[to]) if to is Format.csv else file_place(out, run, names[to])
    written = results.export(run, to, path)
    for file in written:
        voice.say(f"{file} written")
    voice.result(run=run, to=to, files=[str(file) for file in written])
