"""The work of `thincrm features`: read, fit, keep how it was read, show."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Literal, TypedDict

from thincrm.console.chosen_factors import thinning_named
from thincrm.console.data_columns import TableColumns
from thincrm.console.run_source import new_run
from thincrm.console.show_run import keep_results, show_run
from thincrm.console.voice import Voice, say_no_numbers, say_row_numbers, say_skipped
from thincrm.data.reading.lines import UTF8
from thincrm.inference.dask_cluster import Client
from thincrm.models.features.model import FeatureModel
from thincrm.models.features.table_source import read_rows
from thincrm.models.features.terminal import FeatureTerminal
from thincrm.models.unasked_chains import UnaskedChains

__all__ = ["FeatureSettings", "fit_features"]

_UNASKED = UnaskedChains("a table", 100_000, 1_000_000)  # cells


class FeatureSettings(TypedDict):
    """Settings of a FeatureModel."""

    max_features: int
    weights: Literal["real", "binary"]
    n_factors: int | None
    level: Literal["smooth", "constant"] | None
    gates: Literal["observation", "row"]
    n_sweeps: int | Literal["auto"]
    n_draws: int
    n_chains: int
    random_state: int
    n_threads: int | None
    quiet: bool


def fit_features(
    voice: Voice,
    path: Path,
    how: TableColumns,
    thinning: str,
    settings: FeatureSettings,
    out: Path,
    client: Client | None = None,
    minutes: float | None = None,
    *,
    fewer: bool = False,
) -> bool:
    """Fit a feature model, keep it in `out`, show it; tell whether it got to its end.

    fewer: there may be fewer chains where one takes long.
    """
    factor = thinning_named(thinning)
    with voice.telling(f"reading {path.name}"):
        table = read_rows(path, how)
    say_skipped(voice, table.skipped, table.first_skipped)
    say_row_numbers(voice, table.row_numbers)
    say_no_numbers(voice, table.no_numbers)
    n_rows, n_columns = table.values.shape
    missing = int(table.values.isna().to_numpy().sum())
    voice.say(f"{n_rows:,} rows, {n_columns:,} columns, {missing:,} missing cells.")
    model = FeatureModel(thinning=factor, **settings)
    if fewer:
        _UNASKED.give(model, n_rows * n_columns, voice.say)
    kept = {"encoding": how.encoding or UTF8, "source": path.name, "kind": "table"}
    place = new_run(out, asdict(how) | kept)
    model.fit(table.values, t=table.t, out=place, client=client, minutes=minutes)
    keep_results(model, out)
    return show_run(voice, FeatureTerminal(), model, out, table.skipped)
