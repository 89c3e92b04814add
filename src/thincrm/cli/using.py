"""`thincrm infer`, `date`, `impute` and `evaluate`: what a run says about data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thincrm.cli import options as o
from thincrm.cli.voice import Voice, file_place

__all__ = ["date", "evaluate", "impute", "infer"]

Documents = Annotated[
    Path,
    typer.Argument(
        help="Documents as of thincrm topics: a table, a folder, or counts of the same words.",
        show_default=False,
    ),
]
Known = Annotated[
    str | None, typer.Option("--text", help="Column of the texts.", show_default="as in the run")
]
Words = Annotated[
    Path | None,
    typer.Option("--words", help="Vocabulary of counts, a word a line: checked against the run's."),
]


def infer(
    run: o.Run,
    corpus: Documents,
    out: o.OutFile = None,
    text: Known = None,
    date: o.DateColumn = None,
    covariate: o.Covariates = None,
    metadata: o.Metadata = None,
    date_format: o.DateFormat = None,
    encoding: o.Encoding = None,
    words: Words = None,
    skip_bad: o.SkipBad = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write the share of each topic in new documents; without --date they may be of any time."""
    from thincrm.cli import predicting  # noqa: PLC0415 - help does not wait for it

    path = file_place(out, run, "infer.csv")
    reading = {
        "text": text,
        "date": date,
        "covariates": covariate or [],
        "metadata": metadata,
        "date_format": date_format,
        "encoding": encoding,
        "skip_bad": skip_bad,
    }
    predicting.infer(Voice(quiet, json), run, corpus, reading, words, path)


def date(
    run: o.Run,
    corpus: Documents,
    out: o.OutFile = None,
    text: Known = None,
    encoding: o.Encoding = None,
    words: Words = None,
    level: Annotated[float, typer.Option(help="Probability of the interval.")] = 0.9,
    skip_bad: o.SkipBad = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write when undated documents were written: the likeliest time and an interval."""
    from thincrm.cli import predicting  # noqa: PLC0415

    path = file_place(out, run, "date.csv")
    reading = {"text": text, "encoding": encoding, "skip_bad": skip_bad}
    predicting.date(Voice(quiet, json), run, corpus, reading, words, level, path)


def impute(
    run: o.Run,
    table: Annotated[Path, typer.Argument(help="A table with holes.", show_default=False)],
    out: o.OutFile = None,
    level: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.9,
    encoding: o.Encoding = None,
    skip_bad: o.SkipBad = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write the holes of a table, each with its mean and an interval."""
    from thincrm.cli import predicting  # noqa: PLC0415

    path = file_place(out, run, "impute.csv")
    predicting.impute(Voice(quiet, json), run, table, level, encoding, skip_bad, path)


def evaluate(
    run: o.Run,
    heldout: Annotated[
        float, typer.Option(help="Share of words, or of cells, that the model does not see.")
    ] = 0.2,
    sweeps: Annotated[
        int | None,
        typer.Option(help="Sweeps of the new fit.", show_default="as in the run", min=2),
    ] = None,
    seed: o.RandomSeed = o.SEED,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Fit the run's model again without some of its data, and say how well it predicts them."""
    from thincrm.cli import predicting  # noqa: PLC0415

    path = file_place(out, run, "evaluate.csv")
    predicting.evaluate(Voice(quiet, json), run, heldout, sweeps, seed, path)
