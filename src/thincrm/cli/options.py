"""Options that several commands share, and what they have to say in common."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "CHAINS",
    "DRAWS",
    "SEED",
    "SWEEPS",
    "Covariates",
    "DateColumn",
    "DateFormat",
    "Draws",
    "Encoding",
    "Json",
    "Metadata",
    "NumChains",
    "NumSweeps",
    "OutFile",
    "OutRun",
    "Quiet",
    "RandomSeed",
    "Run",
    "SkipBad",
    "TextColumn",
    "ThinningName",
    "Thinnings",
    "Threads",
]

SWEEPS, DRAWS, CHAINS, SEED = 600, 100, 1, 0


class ThinningName(StrEnum):
    """How topics or features come and go."""

    gp = "gp"
    rvm = "rvm"
    bump = "bump"
    always = "always"


Run = Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)]
OutRun = Annotated[
    Path, typer.Option("--out", help="Folder of the run, new or empty.", show_default=False)
]
OutFile = Annotated[
    Path | None, typer.Option("--out", help="File to write.", show_default="in the run's folder")
]
TextColumn = Annotated[
    str | None, typer.Option("--text", help="Column of the texts.", show_default="text")
]
DateColumn = Annotated[
    str | None,
    typer.Option("--date", help="Column of the dates; of a folder of text files: name."),
]
Covariates = Annotated[
    list[str] | None,
    typer.Option("--covariate", help="Column of numbers, in place of a date. May be repeated."),
]
DateFormat = Annotated[
    str | None,
    typer.Option(help="How dates are written, such as %d/%m/%Y.", show_default="any usual form"),
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
        help="Table with dates and covariates: of a folder of text files (its column file names "
        "them), or of counts (a row a document)."
    ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Pass over rows that cannot be read; count them.")
]
NumSweeps = Annotated[int, typer.Option("--sweeps", help="Sweeps of each chain.", min=1)]
Draws = Annotated[int, typer.Option(help="Draws kept of each chain.", min=1)]
NumChains = Annotated[int, typer.Option("--chains", help="Independent chains.", min=1)]
RandomSeed = Annotated[
    int, typer.Option("--seed", help="The same seed gives the same result.", min=0)
]
Threads = Annotated[int | None, typer.Option(help="Threads.", show_default="one a core", min=1)]
Thinnings = Annotated[
    ThinningName,
    typer.Option("--thinning", help="Curves of coming and going; always: none of it."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing unless it fails.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
