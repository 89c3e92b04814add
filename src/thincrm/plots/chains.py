"""Label-free quantities sweep by sweep, a line for each chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput
from thincrm.inference.convergence import shown_rhat
from thincrm.plots.canvas import COLOURS, SMALL, axes, columns_for, panels

if TYPE_CHECKING:
    from thincrm.models.base import Model
    from thincrm.plots.canvas import Axes

__all__ = ["trace"]

_FIRST = ("n_topics", "n_features", "log_joint", "log_likelihood")


def trace(model: Model, quantities: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw label-free quantities after every sweep; warm-up is shaded, R-hat in the title.

    quantities: names in `diagnostics()` or `trace_`; None: the number of atoms, the log joint,
    the total activation and the learned scalars. The panels are the `child_axes` of the axes.
    """
    found, judged = _histories(model), model.diagnostics()
    names = list(quantities) if quantities is not None else _default(found, judged)
    missing = [name for name in names if name not in found]
    if missing or not names:
        raise InvalidInput(f"there is no quantity {missing[:1]}: choose among {', '.join(found)}.")
    ax = axes(ax, 0.4 + 1.0 * -(-len(names) // 3))
    first_kept = min(draw.sweep for draw in model.draws_)
    grid = panels(ax, len(names), columns_for(ax, 2, 3), (0.4, 0.1, 0.35, 0.17), (0.52, 0.26))
    first = grid[0].ax
    for (panel, _, _, lowest, _), name in zip(grid, names, strict=True):
        for number, (chain, line) in enumerate(found[name].groupby(level="chain")):
            sweep = line.index.get_level_values("sweep")
            colour = COLOURS[number % len(COLOURS)]
            panel.plot(sweep, line.to_numpy(), color=colour, lw=0.6, label=f"chain {chain}")
        panel.axvspan(0, first_kept, color="black", alpha=0.06, lw=0)
        panel.set_xlim(0, max(draw.sweep for draw in model.draws_))
        rhat = judged["rhat"].get(name, np.nan)
        said = "" if np.isnan(rhat) else f"  (R-hat {shown_rhat(rhat)})"
        panel.set_title(name.replace("_", " ") + said, fontsize=SMALL, loc="left", pad=2)
        panel.locator_params(nbins=4)
        panel.ticklabel_format(axis="y", scilimits=(-3, 4), useOffset=False)
        panel.yaxis.get_offset_text().set_x(-0.25)
        panel.tick_params(labelbottom=lowest)
        if lowest:
            panel.set_xlabel("sweep", fontsize=SMALL, labelpad=1)
    if len(first.lines) > 1:
        first.legend(fontsize=SMALL - 1, frameon=False, handlelength=1.0, labelspacing=0.1)
    return ax


def _histories(model: Model) -> dict[str, pd.Series]:
    """Return every quantity's history: after each sweep, or where only draws have it, of these."""
    found = {str(name): model.trace_[name] for name in model.trace_.columns}
    for name, values in model._quantities().items():
        found.setdefault(str(name), values)
    return found


def _default(found: dict[str, pd.Series], judged: pd.DataFrame) -> list[str]:
    names = [name for name in judged.index if name in found and "[" not in name]
    return sorted(names, key=lambda name: (name not in _FIRST, names.index(name)))[:9]
