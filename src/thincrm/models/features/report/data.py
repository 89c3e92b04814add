"""The numbers behind the report of a feature model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from thincrm.models.features.report.settings import LEARNED, READING, feature_settings
from thincrm.report.diagnosis import diagnosis
from thincrm.report.packed_curves import curves_of
from thincrm.report.plain_words import learned
from thincrm.report.times import Times, chosen_times

if TYPE_CHECKING:
    from thincrm.models.features.model import FeatureModel

__all__ = ["feature_data"]

_FEWEST_PIXELS = 16


def feature_data(model: FeatureModel) -> dict[str, object]:
    """Return everything the page shows of a fitted feature model, ready for JSON."""
    n_features = len(model.shares_)
    times = chosen_times(model.covariates_, n_features)
    columns = [str(name) for name in model.columns_]
    rows = int(model.covariates_.trials.sum())
    line, settings = feature_settings(model)
    return {
        "noun": "feature",
        "corpus": {"rows": f"{rows:,} rows", "columns": f"{len(columns):,} columns"},
        "time": times.data,
        "columns": columns,
        "side": _side(model.columns_),
        "features": _features(model, times) if n_features else [],
        "nothing": model.nothing_found(),
        "diagnosis": diagnosis(model, "feature", limit=model.max_features),
        "summary": line,
        "settings": settings,
        "learned": learned(model.draws_, LEARNED),
        "reading": READING,
    }


def _side(columns: pd.Index) -> int:
    """Return the side of the picture that numbered columns may be the pixels of, or 0."""
    side = round(len(columns) ** 0.5)
    numbered = list(columns) == list(range(len(columns)))
    return side if numbered and side**2 == len(columns) >= _FEWEST_PIXELS else 0


def _features(model: FeatureModel, times: Times) -> list[dict[str, object]]:
    """Return entries (standard units, and the columns' own), shares and curves of every feature."""
    wide, narrow = model.activation(times.labels, 0.9), model.activation(times.labels, 0.5)
    n_times = len(times.labels)
    used = curves_of(wide, narrow, n_times, "usage", "usage_")
    opened = curves_of(wide, narrow, n_times)
    spread_P = model.scale_.spread_P
    unit_P = np.where(spread_P > 0, spread_P, 1.0)
    out: list[dict[str, object]] = []
    shares_KX = model.shares_[["mean", "lower", "upper", "presence"]].to_numpy(float)
    for k, share_X in enumerate(shares_KX):
        entry = model.features_.loc[k][["mean", "lower", "upper"]].to_numpy(float)
        out.append(
            {
                "share": [_short(x) for x in share_X[:3]],
                "presence": _short(share_X[3]),
                "entries": [[_short(x) for x in row] for row in entry / unit_P[:, None]],
                "own": [_short(x) for x in entry[:, 0]],
                "used": used[k],
                "open": opened[k],
            }
        )
    return out


def _short(x: float) -> float:
    return float(f"{x:.4g}")
