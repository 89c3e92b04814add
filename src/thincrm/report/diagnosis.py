"""What the header and the model page say about the draws, and a verdict that can say no."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

__all__ = ["diagnosis"]

_NEARLY_ALL = 0.95
_MOST_SWEEPS = 300  # drawn of a trace
_TRACED = ("n_topics", "log_joint", "log_likelihood")


def diagnosis(model: Any) -> dict[str, Any]:
    """Return the verdict, cautions, and the posterior of the number of topics with its trace."""
    n_topics = model.n_topics_
    value, count = np.unique(n_topics.to_numpy(), return_counts=True)
    verdict = _verdict(model)
    return {
        "ok": bool(getattr(verdict, "ok", False)),
        "verdict": str(verdict),
        "cautions": _cautions(model),
        "table": _table(model),
        "draws": len(model.draws_),
        "chains": int(n_topics.index.get_level_values("chain").nunique()),
        "topics": {
            "values": value.astype(int).tolist(),
            "counts": count.tolist(),
            "mean": round(float(n_topics.mean()), 1),
            "band": np.quantile(n_topics, [0.05, 0.95], method="nearest").astype(int).tolist(),
        },
        "traces": [_trace(model.trace_, name) for name in _TRACED if name in model.trace_],
    }


def _verdict(model: Any) -> str:
    """Return the model's own verdict on its chains."""
    judge = getattr(model, "verdict", None)
    if judge is not None:
        return judge()  # type: ignore[no-any-return]
    chains = model.n_topics_.index.get_level_values("chain").nunique()
    if chains == 1:
        return "One chain, compared with no other: n_chains=4 would show whether chains agree."
    return f"{chains} chains; whether they agree has not been judged."


def _cautions(model: Any) -> list[str]:
    most, limit = int(model.n_topics_.max()), int(model.draws_[-1].scalars["max_topics"])
    if most < _NEARLY_ALL * limit:
        return []
    return [
        f"Up to {most} of at most {limit} topics were in use: raise max_topics, or the number of "
        "topics is that of the settings and not of the data."
    ]


def _table(model: Any) -> dict[str, Any] | None:
    """Return the model's diagnostics as columns and rows of short text."""
    if not hasattr(model, "diagnostics"):
        return None
    table: pd.DataFrame = model.diagnostics()
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
