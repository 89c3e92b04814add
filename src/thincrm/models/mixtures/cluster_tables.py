"""Labelled tables of a mixture: the clusters of every draw are matched to one partition.

A draw's cluster belongs to the cluster of the partition that most of its rows are in; several may
belong to one. A cluster of the partition that no cluster of a draw belongs to is absent there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit

from thincrm.data.covariates import Covariates
from thincrm.data.tables import Scale
from thincrm.models.curves import first_last
from thincrm.models.mixtures.draws import MixtureDraw
from thincrm.models.mixtures.partition import Partition, contingency
from thincrm.models.tables import band, time_columns
from thincrm.numerics.arrays import Float, Int

__all__ = ["ClusterTables"]

OfDraw = Callable[[MixtureDraw], Float]
Moments = Callable[[MixtureDraw], tuple[Float, Float]]


class ClusterTables:
    """Tables of kept draws; clusters are those of the partition, the largest first."""

    def __init__(self, draws: Sequence[MixtureDraw]) -> None:
        self.draws = draws
        self.partition = Partition([draw.labels for draw in draws])

    @cached_property
    def n_clusters(self) -> int:
        """Return the clusters of the partition."""
        return int(self.partition.labels.max()) + 1

    @cached_property
    def overlaps(self) -> list[Int]:
        """Return, for every draw, the (n_used, L) rows its clusters share with the partition's."""
        return [contingency(draw.labels, self.partition.labels) for draw in self.draws]

    @cached_property
    def homes(self) -> list[Int]:
        """Return, for every draw, the cluster that each of its clusters belongs to."""
        homes = [table.argmax(1) for table in self.overlaps]
        everywhere = np.unique(np.concatenate(homes))
        for lost in np.setdiff1d(np.arange(self.n_clusters), everywhere):
            best = max(range(len(homes)), key=lambda b: int(self.overlaps[b][:, lost].max()))
            homes[best][self.overlaps[best][:, lost].argmax()] = lost
        return homes

    def together(self, values: OfDraw, *, weighed: bool) -> Float:
        """Return (B, ..., L): values (..., A) of every draw, summed or averaged over those of one.

        NaN: absent. Averages are weighed by the clusters' rows.
        """
        out = []
        for draw, home in zip(self.draws, self.homes, strict=True):
            belongs_UL = (home[:, None] == np.arange(self.n_clusters)).astype(float)
            absent_L = ~belongs_UL.any(0)
            if weighed:
                belongs_UL *= draw.counts.sum(0)[:, None]
                belongs_UL /= np.maximum(belongs_UL.sum(0), 1.0)
            value = values(draw)[..., : draw.n_used] @ belongs_UL
            out.append(np.where(absent_L, np.nan, value))
        return np.stack(out)

    def sizes(self, level: float) -> pd.DataFrame:
        """Return every cluster's rows, its share of all with bands, and its presence in draws."""
        share_BL = self.together(lambda draw: draw.counts.sum(0) / draw.counts.sum(), weighed=False)
        lower, upper = band(share_BL, level)
        index = pd.RangeIndex(self.n_clusters, name="cluster")
        columns = {
            "rows": np.bincount(self.partition.labels),
            "share": np.nanmean(share_BL, axis=0),
            "lower": lower,
            "upper": upper,
            "presence": (~np.isnan(share_BL)).mean(axis=0),
        }
        return pd.DataFrame(columns, index=index)

    def moments(self, of: Moments, scale: Scale, moving: np.ndarray) -> tuple[Float, Float]:
        """Return the (B, P, L) means and standard deviations in the columns' units."""
        mean_BPL = self.together(lambda draw: of(draw)[0].T, weighed=True)
        square_BPL = self.together(lambda draw: _square(*of(draw)).T, weighed=True)
        spread_BPL = np.sqrt(np.maximum(square_BPL - mean_BPL**2, 0.0))
        unit_P1, level_P1 = scale.spread_P[moving, None], scale.level_P[moving, None]
        return mean_BPL * unit_P1 + level_P1, spread_BPL * unit_P1

    def activation(
        self, known: Covariates, rows: Float, level: float, log_odds: OfDraw, weights: OfDraw
    ) -> pd.DataFrame:
        """Return clusters' probabilities of being open, and their shares, at covariate rows."""
        opened = self.together(lambda draw: expit(log_odds(draw)), weighed=True)
        share = self.together(weights, weighed=False)
        columns: dict[str, Any] = {"cluster": np.repeat(np.arange(self.n_clusters), len(rows))}
        columns |= time_columns(known, rows, self.n_clusters)
        for prefix, values in (("", opened), ("share_", share)):
            lower, upper = band(values, level)
            columns["share" if prefix else "mean"] = np.nanmean(values, axis=0).T.ravel()
            columns[prefix + "lower"], columns[prefix + "upper"] = lower.T.ravel(), upper.T.ravel()
        return pd.DataFrame(columns)

    def lifetimes(
        self, labels: pd.Index, level: float, which: Literal["first", "last"], weights: OfDraw
    ) -> pd.DataFrame:
        """Return the first or last covariate where a cluster has half of its highest share."""
        place_BL = first_last(self.together(weights, weighed=False), which)
        tail = (1.0 - level) / 2.0
        columns = {}
        for name, share in (("median", 0.5), ("lower", tail), ("upper", 1.0 - tail)):
            place = np.nanquantile(place_BL, share, axis=0, method="nearest").astype(int)
            columns[name] = labels[place]
        return pd.DataFrame(columns, index=pd.RangeIndex(self.n_clusters, name="cluster"))


def _square(mean: Float, spread: Float) -> Float:
    """Return the mean of the square."""
    return np.asarray(mean**2 + spread**2)
