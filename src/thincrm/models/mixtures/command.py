"""`thincrm clusters` and `thincrm assign`: from a table to clusters that come and go."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thincrm.console import options as o
from thincrm.console.data_columns import TableColumns
from thincrm.console.once import OnceCommand
from thincrm.console.output_places import check_run_place, file_place
from thincrm.console.stopping import end_of, resumable
from thincrm.console.voice import Voice
from thincrm.inference.dask_cluster import connected
from thincrm.numerics.waiting import starting

if TYPE_CHECKING:
    from thincrm.models.mixtures.terminal import MixtureTerminal

__all__ = ["add_commands", "assign", "clusters", "terminal"]

_EXAMPLES = """\
Example: thincrm clusters table.csv --covariate year --out run

Example: thincrm clusters stations.csv --covariate lon --covariate lat --gates shared --out run
"""


class Gates(StrEnum):
    """Who has a gate."""

    shared = "shared"
    weighted = "weighted"
    observation = "observation"


def add_commands(app: typer.Typer) -> None:
    """Add the model's commands."""
    app.command(cls=OnceCommand, epilog=_EXAMPLES)(clusters)
    app.command(cls=OnceCommand, epilog="Example: thincrm assign run new.csv --out clusters.csv")(
        assign
    )


def terminal() -> MixtureTerminal:
    """Return how the model is shown and used on the command line."""
    from thincrm.models.mixtures.terminal import MixtureTerminal  # noqa: PLC0415 - help is quick

    return MixtureTerminal()


def clusters(
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
        typer.Option(
            help="Column that clusters depend on: numbers or dates. May be repeated (numbers)."
        ),
    ] = None,
    date: Annotated[
        str | None, typer.Option(help="Column of dates that clusters depend on.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="Column to cluster by. May be repeated.", show_default="all others"),
    ] = None,
    censored: Annotated[
        str | None,
        typer.Option(
            help="Column of -1, 0 or 1: the first column's true value is at most, exactly or at "
            "least what it says."
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column with the names of the rows.")] = None,
    date_format: o.DateFormat = None,
    encoding: o.Encoding = None,
    skip_bad: o.SkipBad = False,
    max_clusters: Annotated[int, typer.Option(help="The most clusters there can be.", min=2)] = 30,
    gates: Annotated[
        Gates,
        typer.Option(
            help="Clusters are weighted by the chance of being open, or switched for each "
            "covariate value (shared) or for each row (observation)."
        ),
    ] = Gates.weighted,
    thinning: Annotated[
        str | None,
        typer.Option(
            help="Prior of the activation curves: bump, gp, rvm; always = ordinary mixture.",
            show_default="bumps of all lengths",
        ),
    ] = None,
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
    """Find clusters that come and go with a covariate, in a table with missing cells."""
    with starting(quiet=quiet):
        from thincrm.models.mixtures import fit_command as work  # noqa: PLC0415 - help is quick

    check_run_place(out)
    how = TableColumns(
        date, tuple(covariate or ()), tuple(column or ()), label, date_format, skip_bad, encoding
    )
    settings = work.ClusterSettings(
        max_clusters=max_clusters,
        gates=gates.value,
        n_sweeps=o.sweeps_named(sweeps),
        n_draws=draws,
        n_chains=chains or 4,
        random_state=seed,
        n_threads=threads,
        quiet=quiet,
    )
    with resumable(out), connected(scheduler) as client:
        complete = work.fit_clusters(
            Voice(quiet, json), table, how, censored, thinning, settings, out, client,
            o.minutes_of(minutes, sweeps, o.TABLE_MINUTES), fewer=chains is None,
        )  # fmt: skip
    end_of(out, complete)


def assign(
    run: o.Run,
    table: Annotated[Path, typer.Argument(help="A table like the run's.", show_default=False)],
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
    encoding: o.Encoding = None,
    skip_bad: o.SkipBad = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write the likeliest clusters of new rows, with probabilities and log densities."""
    with starting(quiet=quiet):
        from thincrm.models.mixtures import fit_command as work  # noqa: PLC0415

    path = file_place(out, run, "assign.csv")
    how = TableColumns(date, tuple(covariate or ()), (), label, None, skip_bad, encoding)
    work.assign_rows(Voice(quiet, json), run, table, how, path)
