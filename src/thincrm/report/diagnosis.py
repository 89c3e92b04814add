"""What the header and the model page say about the draws, and a verdict that can say no."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from thincrm.inference.diagnostics import said
from thincrm.inference.truncation import truncation_binds
from thincrm.numerics.arrays import Float
from thincrm.report.fitted import Fitted

__all__ = ["diagnosis"]

_MOST_SWEEPS = 300  # drawn of a trace
_TRACED = ("log_joint", "log_likelihood")


def diagnosis(
    model: Fitted, noun: str, traced: Sequence[str] = (), limit: int | None = None
) -> dict[str, object]:
    """Return the verdict, cautions, the posterior of the number of atoms, and traces.

    noun: what an atom is; draws may tell how many are in use (`n_topics`). traced: quantities to
    draw besides that number and the log densities. limit: the truncation, if it is known.
    """
    table = model.diagnostics()
    verdict, full = model.verdict(), truncation_binds(model.draws_, f"{noun}s", limit)
    number = _number(model, f"n_{noun}s")
    names = dict.fromkeys((f"n_{noun}s", *_TRACED, *traced))
    return {
        "ok": bool(verdict.ok),
        "verdict": str(verdict),
        "cautions": [] if full is None else [str(full)],
        "table": _table(table),
        "draws": len(model.draws_),
        "chains": len({draw.chain for draw in model.draws_}),
        "number": None if number is None else _posterior(number),
        "traces": [_trace(model.trace_, name) for name in names if name in model.trace_],
    }


def _number(model: Fitted, name: str) -> Float | None:
    """Return how many atoms are in use in every draw, if the draws tell."""
    found = [draw.scalars[name] for draw in model.draws_ if name in draw.scalars]
    return np.array(found) if len(found) == len(model.draws_) else None


def _posterior(number: Float) -> dict[str, object]:
    value, count = np.unique(number, return_counts=True)
    return {
        "values": value.astype(int).tolist(),
        "counts": count.tolist(),
        "mean": round(float(number.mean()), 1),
        "band": np.quantile(number, [0.05, 0.95], method="nearest").astype(int).tolist(),
    }


def _table(table: pd.DataFrame) -> dict[str, object]:
    """Return diagnostics as columns and rows of short text."""
    return {
        "columns": [str(column) for column in table.columns],
        "rows": [
            [str(name), *(f"{x:.4g}" for x in row)]
            for name, row in zip(table.index, table.to_numpy(float), strict=True)
        ],
    }


def _trace(trace: pd.DataFrame, name: str) -> dict[str, object]:
    """Return a quantity after every sweep, thinned to what a screen can show."""
    chains = []
    seen = trace[name][np.isfinite(trace[name].to_numpy(float))]
    for _, values in seen.groupby(level="chain"):
        step = -(-len(values) // _MOST_SWEEPS)
        kept = values.iloc[::step]
        sweep = kept.index.get_level_values("sweep")
        chains.append(
            {"sweeps": sweep.astype(int).tolist(), "values": [float(f"{x:.7g}") for x in kept]}
        )
    title = said(name).removeprefix("the ").removeprefix("learned ")
    return {"name": name, "title": title[:1].upper() + title[1:], "chains": chains}
