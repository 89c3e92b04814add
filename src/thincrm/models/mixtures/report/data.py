"""The numbers behind the report of a mixture: the plain page's, and what is its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput
from thincrm.models.mixtures.partition import spread
from thincrm.models.mixtures.typical import typical_entries
from thincrm.report.packed_curves import PackedCurve, curves_of
from thincrm.report.plain_data import plain_data
from thincrm.report.times import chosen_times, shown

if TYPE_CHECKING:
    from thincrm.models.mixtures.model import MixtureModel

__all__ = ["mixture_data"]

_READING = [
    "Every row is of one cluster. At any value of the covariate a cluster is open with some "
    "probability, and then has a share of the rows; shut, it has none.",
    "Bands hold the true value with 50 % (dark) and 90 % (light) probability if the model is "
    "right. In the view of values they are where 50 and 90 % of new values fall.",
    "Clusters are those of the partition of least expected variation of information, the largest "
    "first; the presence of one is the share of draws that have it.",
]
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_NAMES = ("lower", "low", "mean", "high", "upper")
_MOST_TIMES, _MOST_COLUMNS, _MOST_PLACES, _MOST_SIMILAR, _EXAMPLES = 60, 8, 1000, 60, 3


def mixture_data(model: MixtureModel) -> dict[str, object]:
    """Return everything the page shows of a fitted mixture, ready for JSON."""
    return {
        **plain_data(model),
        "reading": _READING,
        "clusters": _clusters(model),
        "columns": [str(name) for name in model.columns_],
        "values": _values(model),
        "places": _places(model),
        "partition": _partition(model),
    }


def _clusters(model: MixtureModel) -> list[dict[str, object]]:
    """Return what is typical of every cluster, its share, its rows and its curve."""
    sizes, typical = model.sizes(), typical_entries(model)
    curves, examples = _curves(model), _examples(model)
    out: list[dict[str, object]] = []
    names = ["rows", "share", "lower", "upper", "presence"]
    for k, (rows, *share, presence) in enumerate(sizes[names].to_numpy(float)):
        out.append(
            {
                "rows": int(rows),
                "share": [_short(x) for x in share],
                "presence": _short(presence),
                "entries": [[e.name, *map(_short, e[1:5]), e.is_probability] for e in typical[k]],
                "examples": examples[k],
                **(curves[k] if curves else {}),
            }
        )
    return out


def _curves(model: MixtureModel) -> list[dict[str, PackedCurve]]:
    """Return shares and probabilities of being open at the page's times; empty: no one axis."""
    if model.covariates_.rows.shape[1] > 1:
        return []
    labels = chosen_times(model.covariates_, len(model.sizes())).labels
    wide, narrow = model.activation(labels, 0.9), model.activation(labels, 0.5)
    share = curves_of(wide, narrow, len(labels), "share", "share_")
    opened = curves_of(wide, narrow, len(labels))
    return [{"share_at": a, "open_at": b} for a, b in zip(share, opened, strict=True)]


def _examples(model: MixtureModel) -> list[list[list[str]]]:
    """Return some rows of every cluster, those nearest to its middle in standard units."""
    scale, labels = model.layout_.scale, model.labels_
    number = np.array([kind == "number" for kind in model.layout_.kinds]) & model.layout_.moving
    standard = np.nan_to_num(scale.standard(model.values_)[:, number])
    known = model.covariates_
    times = known.labels(known.observed())
    found = []
    for k in range(int(labels.max()) + 1):
        mine = np.flatnonzero(labels == k)
        middle = np.median(standard[mine], axis=0)
        order = mine[np.argsort(((standard[mine] - middle) ** 2).sum(1), kind="stable")]
        cells = model.as_given(model.values_[order[:_EXAMPLES]])
        found.append(
            [
                [f"row {row}", shown(times[row]), *("" if pd.isna(x) else shown(x) for x in values)]
                for row, values in zip(order, cells.itertuples(index=False), strict=False)
            ]
        )
    return found


def _values(model: MixtureModel) -> list[dict[str, object]]:
    """Return quantiles of new values through the covariate, a column each."""
    known = model.covariates_
    if known.rows.shape[1] > 1:
        return []
    times = chosen_times(known, len(model.sizes()))
    some = spread(len(times.labels), _MOST_TIMES)
    kept = [p for p in range(len(model.columns_)) if model.layout_.kinds[p] != "category"]
    out: list[dict[str, object]] = []
    for place in [p for p in kept if model.layout_.moving[p]][:_MOST_COLUMNS]:
        name = model.columns_[place]
        try:
            table = model.quantiles(_QUANTILES, times.labels[some], column=name)
        except InvalidInput:  # lines in columns that a covariate does not tell
            return []
        value_QT = table["predictive"].to_numpy().reshape(len(_QUANTILES), -1)
        at = times.numbers(list(times.labels))
        full_QT = [np.interp(at, at[some], value_T) for value_T in value_QT]
        bands = {n: [_short(x) for x in v] for n, v in zip(_NAMES, full_QT, strict=True)}
        out.append({"name": str(name), **bands})
    return out


def _places(model: MixtureModel) -> list[list[float | None]]:
    """Return [x, y, likeliest cluster, its share] where covariates are two numbers."""
    rows = model.covariates_.rows
    if rows.shape[1] != 2:
        return []
    rows = rows[spread(len(rows), _MOST_PLACES)]
    share_LT = model.activation(rows)["share"].to_numpy().reshape(-1, len(rows))
    best_T = share_LT.argmax(0)
    return [
        [_short(x), _short(y), int(k), _short(share_LT[k, t])]
        for t, ((x, y), k) in enumerate(zip(rows, best_T, strict=True))
    ]


def _partition(model: MixtureModel) -> dict[str, object]:
    """Return the credible ball, and which of some rows are together."""
    ball = model.credible_ball()
    rows = spread(len(model.labels_), _MOST_SIMILAR)
    rows = rows[np.argsort(model.labels_[rows], kind="stable")]
    similar = model.similarity(rows).to_numpy()
    return {
        "radius": _short(ball.radius),
        "clusters": [int(part.max()) + 1 for part in (model.labels_, ball.upper, ball.lower)],
        "rows": rows.tolist(),
        "labels": model.labels_[rows].tolist(),
        "similar": [[_short(x) for x in row] for row in similar],
    }


def _short(x: float) -> float | None:
    return float(f"{x:.4g}") if np.isfinite(x) else None
