"""The work of `thincrm clusters` and `thincrm assign`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Literal, TypedDict

from thincrm.console.data_columns import TableColumns
from thincrm.console.model_terminal import RunCommand, refusal
from thincrm.console.run_source import new_run
from thincrm.console.show_run import keep_results, show_run
from thincrm.console.voice import Voice, say_row_numbers, say_skipped
from thincrm.data.reading.lines import UTF8
from thincrm.inference.dask_cluster import Client
from thincrm.models.loading import load
from thincrm.models.mixtures.columns import found_kinds
from thincrm.models.mixtures.model import MixtureModel
from thincrm.models.mixtures.table_source import read_rows
from thincrm.models.mixtures.terminal import MixtureTerminal
from thincrm.models.unasked_chains import UnaskedChains
from thincrm.thinning.member import member_named

__all__ = ["ClusterSettings", "assign_rows", "fit_clusters"]

_UNASKED = UnaskedChains("a table", 10_000, 100_000)  # cells


class ClusterSettings(TypedDict):
    """Settings of a MixtureModel."""

    max_clusters: int
    gates: Literal["shared", "weighted", "observation"]
    n_sweeps: int | Literal["auto"]
    n_draws: int
    n_chains: int
    random_state: int
    n_threads: int | None
    quiet: bool


def fit_clusters(
    voice: Voice,
    path: Path,
    how: TableColumns,
    censored: str | None,
    thinning: str | None,
    settings: ClusterSettings,
    out: Path,
    client: Client | None = None,
    minutes: float | None = None,
    *,
    fewer: bool = False,
) -> bool:
    """Fit a mixture, keep it in `out`, show it; tell whether it got to its end.

    fewer: there may be fewer chains where one takes long.
    """
    factor = None if thinning is None else member_named(thinning)()
    with voice.telling(f"reading {path.name}"):
        table, side_N = read_rows(path, how, censored)
    say_skipped(voice, table.skipped, table.first_skipped)
    say_row_numbers(voice, table.row_numbers)
    n_rows, n_columns = table.values.shape
    missing = int(table.values.isna().to_numpy().sum())
    columns = "1 column" if n_columns == 1 else f"{n_columns:,} columns"
    voice.say(f"{n_rows:,} rows, {columns}, {missing:,} missing cells.")
    if side_N is not None:
        response = table.values.columns[0]
        voice.say(f"{response} is the response; {(side_N != 0).sum():,} rows are censored.")
    kinds = found_kinds(table.values)
    said = [f"{name} ({kind})" for name, kind in zip(table.values.columns, kinds, strict=True)]
    voice.say(f"Columns: {', '.join(said)}.")
    model = MixtureModel(thinning=factor, **settings)
    if fewer:
        _UNASKED.give(model, n_rows * n_columns, voice.say)
    flags = {} if censored is None else {"censored": censored}
    kept = {"encoding": how.encoding or UTF8, "source": path.name, "kind": "table"}
    place = new_run(out, asdict(how) | kept | flags)
    model.fit(table.values, t=table.t, censored=side_N, out=place, client=client, minutes=minutes)
    keep_results(model, out)
    return show_run(voice, MixtureTerminal(), model, out, table.skipped)


def assign_rows(voice: Voice, run: Path, path: Path, how: TableColumns, out: Path) -> None:
    """Write the clusters of new rows."""
    with voice.telling(f"opening {run}"):
        model = load(run)
    if not isinstance(model, MixtureModel):
        raise refusal("assign", model, run)
    MixtureTerminal().assign(RunCommand("assign", voice, run, out), model, path, how)
