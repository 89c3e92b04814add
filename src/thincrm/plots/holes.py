"""Imputed cells with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput
from thincrm.plots.canvas import (
    COLOURS,
    GREY,
    SMALL,
    Times,
    axes,
    columns_for,
    panels,
    pick,
    shown,
    time_axis,
    times,
)

if TYPE_CHECKING:
    from thincrm.models.given_rows import Imputation
    from thincrm.plots.canvas import Axes

__all__ = ["imputation"]


def imputation(
    imputed: Imputation,
    observed: np.ndarray | pd.DataFrame,
    t: Times | None = None,
    columns: Sequence[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what was seen, and what was imputed with its interval, column by column.

    Parameters
    ----------
    imputed : the result of `FeatureModel.impute`
        With `.mean`, `.lower` and `.upper`, each shaped like the table.
    observed : (N, P) array or DataFrame
        The table with its holes (NaN).
    t : (N,) numbers or dates, or None
        Where to draw each row; None: the table's index.
    columns : sequence or None
        Which columns; None: the first six that have holes.
    ax : matplotlib axes or None
    """
    table = pd.DataFrame(observed)
    mean, lower, upper = (np.asarray(part, float) for part in imputed[:3])
    if mean.shape != table.shape:
        raise InvalidInput(f"observed has shape {table.shape} but imputed {mean.shape}.")
    at = times(table.index if t is None else t)
    if at.shape != (len(table),):
        raise InvalidInput(f"t must have one value for each of {len(table)} rows.")
    holes = table.isna().to_numpy()
    with_holes = list(table.columns[table.isna().any()])
    if columns is None and not with_holes:
        raise InvalidInput("observed has no holes: nothing was imputed.")
    names = pick(columns, list(table.columns) if columns else with_holes, 6, "column")
    ax = axes(ax, 0.3 + 1.25 * -(-len(names) // 3))
    grid = panels(ax, len(names), columns_for(ax, 2, 3), (0.35, 0.1, 0.22, 0.17), (0.4, 0.4))
    for (panel, width, *_), name in zip(grid, names, strict=True):
        p = list(table.columns).index(name)
        hole, seen = holes[:, p], table[name].to_numpy(float)
        panel.plot(at[~hole], seen[~hole], ".", color=GREY, ms=2.5, mew=0, label="seen")
        ends = np.abs(np.stack([lower[hole, p], upper[hole, p]]) - mean[hole, p])
        panel.errorbar(
            at[hole], mean[hole, p], yerr=ends, fmt="o", ms=2.2, mew=0, lw=0.8, color=COLOURS[5],
            label="imputed",
        )  # fmt: skip
        panel.set_title(shown(str(name), width), fontsize=SMALL, loc="left", pad=2)
        panel.locator_params(axis="y", nbins=4)
        low, high = panel.get_xlim()
        time_axis(panel, np.sort(at), 4)
        panel.set_xlim(low, high)  # whole markers at both ends
        panel.xaxis.get_offset_text().set_visible(False)
    grid[0].ax.legend(fontsize=SMALL - 0.5, frameon=False, handletextpad=0.2, borderpad=0.1)
    return ax
