"""`thincrm features`: from a table with missing cells to a run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thincrm.console import options as o
from thincrm.console.data_columns import TableColumns
from thincrm.console.once import OnceCommand
from thincrm.console.output_places import check_run_place
from thincrm.console.stopping import end_of, resumable
from thincrm.console.voice import Voice
from thincrm.inference.dask_cluster import connected
from thincrm.numerics.waiting import starting

if TYPE_CHECKING:
    from thincrm.models.features.terminal import FeatureTerminal

__all__ = ["add_commands", "features", "terminal"]

_EXAMPLES = """\
Example: thincrm features table.csv --covariate gdp --label country --out run

Example: thincrm features stations.csv --covariate lon --covariate lat --out run

Example: thincrm features air.csv --date day --category region --covariate height --out run

Example: thincrm features pixels.csv --covariate year --weights binary --out run
"""


class Weights(StrEnum):
    """What a row that uses a feature takes of it."""

    real = "real"
    binary = "binary"


class Levels(StrEnum):
    """What a column's level may be."""

    smooth = "smooth"
    constant = "constant"


class Gates(StrEnum):
    """Who shares a gate."""

    observation = "observation"
    row = "row"


def add_commands(app: typer.Typer) -> None:
    """Add the model's commands."""
    app.command(cls=OnceCommand, epilog=_EXAMPLES)(features)


def terminal() -> FeatureTerminal:
    """Return how the model is shown and used on the command line."""
    from thincrm.models.features.terminal import FeatureTerminal  # noqa: PLC0415 - help is quick

    return FeatureTerminal()


def features(
    table: Annotated[
        Path,
        typer.Argument(
            help="A .csv, .tsv, .jsonl or .parquet file; empty cells are missing.",
            show_default=False,
        ),
    ],
    out: o.OutRun,
    covariate: Annotated[
        list[str] | None,
        typer.Option(help="Column that features depend on: numbers or dates. May be repeated."),
    ] = None,
    date: Annotated[
        str | None, typer.Option(help="Column of dates that features depend on.")
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(help="Column of categories that features depend on. May be repeated."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of numbers to model. May be repeated.", show_default="all numeric columns"
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column with the names of the rows.")] = None,
    date_format: o.DateFormat = None,
    encoding: o.Encoding = None,
    skip_bad: o.SkipBad = False,
    max_features: Annotated[int, typer.Option(help="The most features there can be.", min=1)] = 20,
    weights: Annotated[
        Weights,
        typer.Option(help="A feature has a weight in each row that uses it, or is present or not."),
    ] = Weights.real,
    factors: Annotated[
        int | None,
        typer.Option(
            help="Room for dense factors that every row uses, beside the features.",
            min=0,
            show_default="20; binary weights: 0",
        ),
    ] = None,
    level: Annotated[
        Levels | None,
        typer.Option(
            help="A column's level follows the covariates, or is one number.",
            show_default="smooth; binary weights: constant",
        ),
    ] = None,
    gates: Annotated[
        Gates,
        typer.Option(help="Features are switched for each observation, or for each covariate row."),
    ] = Gates.observation,
    thinning: o.Thinning = o.THINNING,
    sweeps: o.SweepsOrAuto = "auto",
    minutes: o.MinutesOfTable = None,
    draws: o.Draws = o.DRAWS,
    chains: o.TableChains = None,
    seed: o.RandomSeed = o.SEED,
    threads: o.Threads = None,
    scheduler: o.Scheduler = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Find latent features that depend on a covariate, in a table with missing cells."""
    with starting(quiet=quiet):
        from thincrm.models.features import fit_command as work  # noqa: PLC0415 - help is quick

    check_run_place(out)
    how = TableColumns(
        date, tuple(covariate or ()), tuple(column or ()), label, date_format, skip_bad, encoding,
        tuple(category or ()),
    )  # fmt: skip
    settings = work.FeatureSettings(
        max_features=max_features,
        weights=weights.value,
        n_factors=factors,
        level=None if level is None else level.value,
        gates=gates.value,
        n_sweeps=o.sweeps_named(sweeps),
        n_draws=draws,
        n_chains=chains or 4,
        random_state=seed,
        n_threads=threads,
        quiet=quiet,
    )
    with resumable(out), connected(scheduler) as client:
        complete = work.fit_features(
            Voice(quiet, json), table, how, thinning, settings, out, client,
            o.minutes_of(minutes, sweeps, o.TABLE_MINUTES), fewer=chains is None,
        )  # fmt: skip
    end_of(out, complete)
