"""`thincrm infer`, `date`, `impute` and `evaluate`: what a run says about data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thincrm.console import options as o
from thincrm.console.data_columns import DocumentColumns, TableColumns
from thincrm.console.once import OnceCommand
from thincrm.console.output_places import file_place
from thincrm.console.voice import Voice
from thincrm.numerics.waiting import starting

__all__ = ["add_commands"]

Documents = Annotated[
    Path,
    typer.Argument(
        help="Documents as for thincrm topics: a table, a folder, or counts of the same words.",
        show_default=False,
    ),
]
TextLikeRun = Annotated[
    str | None, typer.Option("--text", help="Column with the texts.", show_default="as in the run")
]
Words = Annotated[
    Path | None,
    typer.Option(
        "--words", help="Vocabulary of the counts, one word per line; checked against the run's."
    ),
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands."""
    for command, example in (
        (infer, "thincrm infer run new.csv --out shares.csv"),
        (date, "thincrm date run undated.csv --text body"),
        (impute, "thincrm impute run table.csv --out filled.csv"),
        (evaluate, "thincrm evaluate run --heldout 0.2 --sweeps 200"),
    ):
        app.command(cls=OnceCommand, epilog=f"Example: {example}")(command)


def infer(
    run: o.Run,
    corpus: Documents,
    out: o.OutFile = None,
    text: TextLikeRun = None,
    date: o.DateColumn = None,
    covariate: o.Covariates = None,
    metadata: o.Metadata = None,
    date_format: o.DateFormat = None,
    words: Words = None,
    encoding: o.Encoding = None,
    skip_bad: o.SkipBad = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write the topic shares of new documents; without --date they may be of any time."""
    with starting(quiet=quiet):
        from thincrm.cli.any_run import run_command  # noqa: PLC0415 - help is quick

    path = file_place(out, run, "infer.csv")
    how = DocumentColumns(
        text, date, tuple(covariate or ()), metadata, date_format, skip_bad, words, encoding
    )
    command, model, terminal = run_command("infer", Voice(quiet, json), run, path)
    terminal.infer(command, model, corpus, how)


def date(
    run: o.Run,
    corpus: Documents,
    out: o.OutFile = None,
    text: TextLikeRun = None,
    words: Words = None,
    level: Annotated[float, typer.Option(help="Probability of the interval.")] = 0.9,
    encoding: o.Encoding = None,
    skip_bad: o.SkipBad = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Estimate when undated documents were written: the most probable time and an interval."""
    with starting(quiet=quiet):
        from thincrm.cli.any_run import run_command  # noqa: PLC0415

    path = file_place(out, run, "date.csv")
    how = DocumentColumns(text=text, skip_bad=skip_bad, words=words, encoding=encoding)
    command, model, terminal = run_command("date", Voice(quiet, json), run, path)
    terminal.date(command, model, corpus, how, level)


def impute(
    run: o.Run,
    table: Annotated[Path, typer.Argument(help="A table with missing cells.", show_default=False)],
    out: o.OutFile = None,
    covariate: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the covariate. May be repeated.", show_default="as in the run"
        ),
    ] = None,
    date: Annotated[
        str | None, typer.Option(help="Column of the dates.", show_default="as in the run")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Column with the names of the rows.", show_default="as in the run"),
    ] = None,
    date_format: Annotated[
        str | None, typer.Option(help="Format of the dates.", show_default="as in the run")
    ] = None,
    level: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.9,
    encoding: o.Encoding = None,
    skip_bad: o.SkipBad = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Fill in the missing cells of a table, each with a mean and an interval."""
    with starting(quiet=quiet):
        from thincrm.cli.any_run import run_command  # noqa: PLC0415

    path = file_place(out, run, "impute.csv")
    how = TableColumns(date, tuple(covariate or ()), (), label, date_format, skip_bad, encoding)
    command, model, terminal = run_command("impute", Voice(quiet, json), run, path)
    terminal.impute(command, model, table, how, level)


def evaluate(
    run: o.Run,
    heldout: Annotated[float, typer.Option(help="Share of words, or of cells, to hold out.")] = 0.2,
    sweeps: Annotated[
        int | None,
        typer.Option(help="Gibbs sweeps of the new fit.", show_default="as in the run", min=2),
    ] = None,
    seed: o.RandomSeed = o.SEED,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Fit the model again without some of the data, and measure how well it predicts them."""
    with starting(quiet=quiet):
        from thincrm.cli.any_run import evaluate_again  # noqa: PLC0415

    path = file_place(out, run, "evaluate.csv")
    evaluate_again(Voice(quiet, json), run, path, heldout, sweeps, seed)
