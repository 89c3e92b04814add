"""What the header and the model page say about the draws, and a verdict that can say no."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from thincrm.models.diagnostics import judge, label_free, summarise

__all__ = ["diagnosis"]

_NEARLY_ALL = 0.95
_MOST_SWEEPS = 300  # drawn of a trace
_TRACED = ("log_joint", "log_likelihood")


def diagnosis(model: Any, number: pd.Series[Any], noun: str) -> dict[str, Any]:
    """Return the verdict, cautions, and the posterior of the number of atoms with traces.

    number: draws of how many atoms, each a `noun`, are in use.
    """
    value, count = np.unique(number.to_numpy(), return_counts=True)
    table = summarise(label_free(model.draws_, model.covariates_))
    verdict = judge(table)
    traced = [name for name in (f"n_{noun}s", *_TRACED) if name in model.trace_]
    return {
        "ok": bool(verdict.ok),
        "verdict": str(verdict),
        "cautions": _cautions(model, int(number.max()), noun),
        "table": _table(table),
        "draws": len(model.draws_),
        "chains": int(number.index.get_level_values("chain").nunique()),
        "number": {
            "values": value.astype(int).tolist(),
            "counts": count.tolist(),
            "mean": round(float(number.mean()), 1),
            "band": np.quantile(number, [0.05, 0.95], method="nearest").astype(int).tolist(),
        },
        "traces": [_trace(model.trace_, name) for name in traced],
    }


def _cautions(model: Any, most: int, noun: str) -> list[str]:
    setting = f"max_{noun}s"
    limit = int(model.draws_[-1].scalars.get(setting, getattr(model, setting)))
    if most < _NEARLY_ALL * limit:
        return []
    return [
        f"Up to {most} of at most {limit} {noun}s were in use: raise {setting}, or their number "
        "is that of the settings and not of the data."
    ]


def _table(table: pd.DataFrame) -> dict[str, Any]:
    """Return diagnostics as columns and rows of short text."""
    return {
        "columns": [str(column) for column in table.columns],
        "rows": [
            [str(name), *(f"{x:.4g}" for x in row)]
            for name, row in zip(table.index, table.to_numpy(float), strict=True)
        ],
    }


def _trace(trace: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return a quantity after every sweep, thinned to what a screen can show."""
    chains = []
    for _, values in trace[name].groupby(level="chain"):
        step = -(-len(values) // _MOST_SWEEPS)
        kept = values.iloc[::step]
        sweep = kept.index.get_level_values("sweep")
        chains.append(
            {"sweeps": sweep.astype(int).tolist(), "values": [float(f"{x:.7g}") for x in kept]}
        )
    return {"name": name, "chains": chains}
