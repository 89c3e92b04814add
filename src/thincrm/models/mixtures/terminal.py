"""A mixture on the command line: its clusters; `impute`, `assign` and `evaluate` of its runs."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from rich.table import Table

from thincrm.console.data_columns import TableColumns
from thincrm.console.filled_cells import label_column, write_cells
from thincrm.console.model_terminal import ModelTerminal, RunCommand
from thincrm.console.terminal_tables import (
    MOST_ATOMS,
    MOST_SHOWN,
    CurveTable,
    plain_table,
    say_written,
    value_text,
)
from thincrm.data.writing import write_csv
from thincrm.errors import InvalidInput
from thincrm.models.mixtures.model import MixtureModel
from thincrm.models.mixtures.sides import without_limits
from thincrm.models.mixtures.table_source import read_new_rows
from thincrm.models.mixtures.typical import Entry, typical_entries
from thincrm.numerics.waiting import now

__all__ = ["MixtureTerminal"]

_ENTRIES = 4
_LEVEL = 0.9
_ASSIGNED = ("cluster", "probability", "log_density")


def _entry_text(entry: Entry) -> str:
    value = entry.mean
    if entry.is_probability:
        return f"{entry.name} {100 * value:.0f} %"
    return f"{entry.name} {value:.3g}" if abs(value) < 1000.0 else f"{entry.name} {value:,.0f}"


class MixtureTerminal(ModelTerminal[MixtureModel]):
    """How a mixture is shown and used."""

    def table(self, model: MixtureModel) -> Table:
        """Return the clusters: share of rows, share through t, what is most unlike the others."""
        known = model.covariates_
        share_LT = model.activation()["share"].to_numpy().reshape(-1, len(known.rows))
        sizes = model.sizes()["rows"] / len(model.labels_)
        grid = CurveTable(known, "cluster", "rows", "most unlike the others")
        rows = zip(share_LT, typical_entries(model), strict=True)
        for cluster, (share_T, entries) in enumerate(islice(rows, MOST_ATOMS)):
            said = ", ".join(map(_entry_text, entries[:_ENTRIES]))
            grid.add(cluster, f"{100 * sizes[cluster]:.0f} %", share_T, said)
        return grid.table

    def impute(
        self, command: RunCommand, model: MixtureModel, table: Path, how: TableColumns, level: float
    ) -> None:
        """Write each missing or censored cell with its mean and interval."""
        with command.voice.telling(f"reading {table.name}"):
            found, side_N = read_new_rows(command.run, model, table, how)
            now("filling in missing cells")
            filled = model.impute(found.values, t=found.t, level=level, censored=side_N)
        missing = found.values.isna().to_numpy(copy=True)
        if side_N is not None:
            missing[:, 0] |= side_N != 0
        write_cells(command, found, missing, tuple(filled), level)

    def assign(
        self, command: RunCommand, model: MixtureModel, table: Path, how: TableColumns
    ) -> None:
        """Write the likeliest cluster of new rows, its probability, and their log densities."""
        with command.voice.telling(f"reading {table.name}"):
            found, side_N = read_new_rows(command.run, model, table, how)
            now("finding clusters of rows")
            chance = model.predict_proba(found.values, t=found.t, censored=side_N)
            log_density = model.score_samples(found.values, t=found.t, censored=side_N)
        values = (chance.argmax(1), chance.max(1), log_density)
        label, index = label_column(found, *_ASSIGNED)
        rows = pd.DataFrame({label: index} | dict(zip(_ASSIGNED, values, strict=True)))
        write_csv(rows, command.out, float_format="%.6g")
        shown = plain_table(*map(str, rows.columns))
        for values in rows.head(MOST_SHOWN).itertuples(index=False):
            shown.add_row(*map(value_text, values))
        how_said = f"of {chance.shape[1]} clusters"
        say_written(command.voice, shown, command.out, len(rows), how_said, found.skipped)

    def evaluate(
        self, command: RunCommand, model: MixtureModel, again: MixtureModel, share: float, seed: int
    ) -> dict[str, float]:
        """Return errors, coverage and log density at held-out cells of numbers."""
        known, values, side_N = model.covariates_, model.values_, model.censored_
        t = known.labels(known.observed())
        number = np.array([kind == "number" for kind in model.layout_.kinds])
        held = np.random.default_rng(seed).random(values.shape) < share
        hidden = ~np.isnan(without_limits(values, side_N)) & held & number
        if not hidden.any():
            raise InvalidInput("No cell of a number is held out: raise --heldout.")
        seen = np.where(hidden, np.nan, values)
        again.fit(model.as_given(seen), t=t, censored=side_N)
        filled = again.impute(again.as_given(seen), t=t, level=_LEVEL)
        mean, lower, upper = (np.asarray(part)[hidden].astype(float) for part in filled)
        centre, spread = np.nanmean(seen, axis=0), np.nanstd(seen, axis=0)
        column = np.nonzero(hidden)[1]
        truth, scale = values[hidden], np.where(spread > 0, spread, 1.0)[column]
        whole = again.score_samples(again.as_given(values), t=t, censored=side_N)
        part = again.score_samples(again.as_given(seen), t=t, censored=side_N)
        return {
            "error_in_standard_units": float(np.sqrt(np.mean(((mean - truth) / scale) ** 2))),
            "error_of_column_means": float(
                np.sqrt(np.mean(((centre[column] - truth) / scale) ** 2))
            ),
            f"share_in_intervals_of_{100 * _LEVEL:.0f}_percent": float(
                ((lower <= truth) & (truth <= upper)).mean()
            ),
            "log_density_of_a_cell": float((whole - part).sum() / hidden.sum()),
            "held_out_cells": int(hidden.sum()),
            "clusters": float(again.n_clusters_.mean()),
        }
