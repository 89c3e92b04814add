"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from thincrm.errors import InvalidInput

__all__ = [
    "AUTO_MINUTES",
    "DRAWS",
    "SEED",
    "SWEEPS",
    "TABLE_MINUTES",
    "THINNING",
    "Covariates",
    "DateColumn",
    "DateFormat",
    "Draws",
    "Encoding",
    "Json",
    "Metadata",
    "Minutes",
    "MinutesOfAuto",
    "MinutesOfTable",
    "NumSweeps",
    "OutFile",
    "OutRun",
    "Quiet",
    "RandomSeed",
    "Run",
    "Scheduler",
    "SkipBad",
    "SweepsOrAuto",
    "TableChains",
    "TextColumn",
    "Thinning",
    "Threads",
    "minutes_of",
    "sweeps_named",
]

SWEEPS, DRAWS, SEED, THINNING = 600, 100, 0, "gp"
AUTO_MINUTES, TABLE_MINUTES = 10.0, 3.0  # at most, where runs go on until a yes: topics; tables

Run = Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)]
OutRun = Annotated[
    Path, typer.Option("--out", help="Folder for the run, new or empty.", show_default=False)
]
OutFile = Annotated[
    Path | None, typer.Option("--out", help="File to write.", show_default="in the run's folder")
]
TextColumn = Annotated[
    str | None, typer.Option("--text", help="Column with the texts.", show_default="text")
]
DateColumn = Annotated[
    str | None,
    typer.Option("--date", help="Column with the dates. For a folder of text files: name."),
]
Covariates = Annotated[
    list[str] | None,
    typer.Option("--covariate", help="Column of numbers, instead of a date. May be repeated."),
]
DateFormat = Annotated[
    str | None,
    typer.Option(help="Format of the dates, such as %d/%m/%Y.", show_default="any usual format"),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="How letters are written in tables and texts: latin-1, cp1252, ...",
        show_default="utf-8, or as in the run",
    ),
]
Metadata = Annotated[
    Path | None,
    typer.Option(
        help="Table with dates and covariates. For a folder of text files, its column file names "
        "the files; for counts, it has one row per document."
    ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Skip rows that cannot be read, and count them.")
]
NumSweeps = Annotated[int, typer.Option("--sweeps", help="Gibbs sweeps per chain.", min=1)]
SweepsOrAuto = Annotated[
    str,
    typer.Option(
        "--sweeps", help="Gibbs sweeps per chain; auto = until the verdict is a yes.", metavar="N"
    ),
]
_MINUTES = "End after so many minutes at most, though not before the first draws."
Minutes = Annotated[float | None, typer.Option(help=_MINUTES, show_default="no limit")]
MinutesOfAuto = Annotated[
    float | None,
    typer.Option(help=_MINUTES, show_default=f"{AUTO_MINUTES} with --sweeps auto, else no limit"),
]
MinutesOfTable = Annotated[
    float | None,
    typer.Option(help=_MINUTES, show_default=f"{TABLE_MINUTES} with --sweeps auto, else no limit"),
]
Draws = Annotated[int, typer.Option(help="Posterior draws kept per chain.", min=1)]
TableChains = Annotated[
    int | None,
    typer.Option(
        "--chains",
        help="Independent chains, side by side on the cores there are.",
        min=1,
        show_default="4; of large tables fewer",
    ),
]
RandomSeed = Annotated[
    int, typer.Option("--seed", help="Random seed: the same seed gives the same result.", min=0)
]
Threads = Annotated[
    int | None, typer.Option(help="Threads to use.", show_default="one per core", min=1)
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        help="Run on a Dask cluster: the address of its scheduler, such as tcp://host:8786.",
        show_default="this machine",
    ),
]
Thinning = Annotated[
    str,
    typer.Option(
        "--thinning",
        help="Prior of the activation curves: gp (Gaussian process), rvm (relevance vector "
        "machine), bump (one bump per curve); always = static model.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but notes and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]


def sweeps_named(value: str) -> int | Literal["auto"]:
    """Return how many sweeps an option says."""
    if value == "auto":
        return "auto"
    if not (value.isascii() and value.isdecimal() and int(value) > 0):
        raise InvalidInput(f"--sweeps must be a whole number above 0 or auto, got {value!r}.")
    return int(value)


def minutes_of(minutes: float | None, sweeps: str, most: float = AUTO_MINUTES) -> float | None:
    """Return how long a run may take: told, or so long that `auto` comes to an end."""
    return most if minutes is None and sweeps == "auto" else minutes
