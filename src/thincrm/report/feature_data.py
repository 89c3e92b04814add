"""The numbers behind the report of a feature model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from thincrm.numerics.arrays import Float
from thincrm.report.curves import packed
from thincrm.report.diagnosis import diagnosis
from thincrm.report.plain_words import READING_FEATURES, feature_settings, learned
from thincrm.report.times import Times, chosen_times

__all__ = ["feature_data"]

_FEWEST_PIXELS = 16


def feature_data(model: Any) -> dict[str, Any]:
    """Return everything the page shows of a fitted feature model, ready for JSON."""
    n_features = len(model.shares_)
    times = chosen_times(model.covariates_, n_features)
    columns = [str(name) for name in model.columns_]
    rows = int(model.covariates_.trials.sum())
    return {
        "noun": "feature",
        "corpus": {"rows": f"{rows:,} rows", "columns": f"{len(columns):,} columns"},
        "time": times.data,
        "columns": columns,
        "side": _side(model.columns_),
        "features": _features(model, times) if n_features else [],
        "diagnosis": diagnosis(model, model.n_features_, "feature"),
        "settings": feature_settings(model),
        "learned": learned(model),
        "reading": READING_FEATURES,
    }


def _side(columns: pd.Index) -> int:
    """Return the side of the picture that numbered columns may be the pixels of, or 0."""
    side = round(len(columns) ** 0.5)
    numbered = list(columns) == list(range(len(columns)))
    return side if numbered and side**2 == len(columns) >= _FEWEST_PIXELS else 0


def _features(model: Any, times: Times) -> list[dict[str, Any]]:
    """Return entries (standard units, and the columns' own), shares and curves of every feature."""
    curves = _curves(model, times)
    spread_P = model.scale_.spread_P
    unit_P = np.where(spread_P > 0, spread_P, 1.0)
    out = []
    for k, share in enumerate(model.shares_.itertuples()):
        entry = model.features_.loc[k][["mean", "lower", "upper"]].to_numpy(float)
        out.append(
            {
                "share": [_short(x) for x in (share.mean, share.lower, share.upper)],
                "presence": _short(share.presence),
                "entries": [[_short(x) for x in row] for row in entry / unit_P[:, None]],
                "own": [_short(x) for x in entry[:, 0]],
                "used": curves["used"][k],
                "open": curves["open"][k],
            }
        )
    return out


def _curves(model: Any, times: Times) -> dict[str, list[dict[str, Any]]]:
    wide, narrow = model.activation(times.labels, 0.9), model.activation(times.labels, 0.5)

    def curve(mean: str, prefix: str) -> list[dict[str, Any]]:
        columns = {
            "mean": wide[mean],
            "lower": wide[prefix + "lower"],
            "upper": wide[prefix + "upper"],
            "low": narrow[prefix + "lower"],
            "high": narrow[prefix + "upper"],
        }
        table: dict[str, Float] = {
            name: np.reshape(x, (-1, len(times.labels))) for name, x in columns.items()
        }
        return packed(table)

    return {"used": curve("usage", "usage_"), "open": curve("mean", "")}


def _short(x: float) -> float:
    return float(f"{x:.4g}")
