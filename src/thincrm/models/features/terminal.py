"""A feature model on the command line: its table, and `impute` and `evaluate` of its runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table

from thincrm.console.data_columns import TableColumns
from thincrm.console.filled_cells import write_cells
from thincrm.console.model_terminal import ModelTerminal, RunCommand
from thincrm.console.terminal_tables import MOST_ATOMS, CurveTable
from thincrm.errors import InvalidInput
from thincrm.models.features.model import FeatureModel
from thincrm.models.features.table_source import read_new_rows
from thincrm.numerics.arrays import Float
from thincrm.numerics.waiting import now

__all__ = ["FeatureTerminal"]

_ENTRIES = 4
_LEVEL = 0.9


class FeatureTerminal(ModelTerminal[FeatureModel]):
    """How a feature model is shown and used."""

    def table(self, model: FeatureModel) -> Table:
        """Return the features: share of rows, activation curve, largest entries."""
        known = model.covariates_
        curves = model.activation()
        n_features = int(curves["feature"].max()) + 1 if len(curves) else 0
        usage_KT = curves["usage"].to_numpy().reshape(n_features, len(known.rows))
        grid = CurveTable(known, "feature", "used", "largest entries")
        if n_features == 0:
            return grid.table
        entries = model.features_.reset_index()
        for feature in range(min(n_features, MOST_ATOMS)):
            part = entries[entries["feature"] == feature]
            size = part["mean"].abs() / (part["upper"] - part["lower"]).clip(lower=1e-12)
            top = part.loc[size.sort_values(ascending=False).index[:_ENTRIES]]
            said = " ".join(f"{r['column']} {r['mean']:+.3g}" for _, r in top.iterrows())
            usage_T = usage_KT[feature]
            grid.add(feature, f"{100 * usage_T @ grid.weight_T:.0f} %", usage_T, said)
        return grid.table

    def impute(
        self, command: RunCommand, model: FeatureModel, table: Path, how: TableColumns, level: float
    ) -> None:
        """Write each missing cell with its mean and interval."""
        with command.voice.telling(f"reading {table.name}"):
            found = read_new_rows(command.run, model, table, how)
            now("filling in missing cells")
            filled = model.impute(found.values, t=found.t, level=level)
        write_cells(command, found, found.values.isna().to_numpy(), tuple(filled), level)

    def evaluate(
        self, command: RunCommand, model: FeatureModel, again: FeatureModel, share: float, seed: int
    ) -> dict[str, float]:
        """Return errors and coverage at held-out cells, and the error of column means."""
        known, values = model.covariates_, model.values_
        t = known.labels(known.observed())
        hidden = ~np.isnan(values) & (np.random.default_rng(seed).random(values.shape) < share)
        if not hidden.any():
            raise InvalidInput("No cell is held out: raise --heldout.")
        seen = np.where(hidden, np.nan, values)
        filled = again.fit(seen, t=t).impute(seen, t=t, level=_LEVEL)
        centre, spread = np.nanmean(seen, axis=0), np.nanstd(seen, axis=0)
        column = np.nonzero(hidden)[1]
        truth, scale = values[hidden], np.where(spread > 0, spread, 1.0)[column]
        inside = (filled.lower[hidden] <= truth) & (truth <= filled.upper[hidden])

        def error(guess: Float) -> float:
            return float(np.sqrt(np.mean(((guess - truth) / scale) ** 2)))

        return {
            "error_in_standard_units": error(filled.mean[hidden]),
            "error_of_column_means": error(centre[column]),
            f"share_in_intervals_of_{100 * _LEVEL:.0f}_percent": float(inside.mean()),
            "held_out_cells": int(hidden.sum()),
            "features": float(again.n_features_.mean()),
        }
