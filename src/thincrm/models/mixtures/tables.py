"""Labelled tables of a mixture: the clusters of every draw are matched to one partition.

A draw's cluster belongs to the cluster of the partition that most of its rows are in; several may
belong to one. A cluster of the partition that no cluster of a draw belongs to is absent there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import expit

from thincrm.data.covariates import Covariates
from thincrm.models.atom_tables import through_time
from thincrm.models.bands import band
from thincrm.models.curve_shapes import first_last
from thincrm.models.mixtures.draw import MixtureDraw
from thincrm.models.mixtures.partition import Partition, contingency
from thincrm.numerics.arrays import Float, Int

__all__ = ["ClusterTables"]

OfDraw = Callable[[MixtureDraw], Float]
Moments = Callable[[MixtureDraw], tuple[Float, Float]]


class ClusterTables:
    """Tables of kept draws; clusters are those of the partition, the largest first."""

    def __init__(self, draws: Sequence[MixtureDraw]) -> None:
        self.draws = draws
        self.partition = Partition([draw.labels for draw in draws])
        self._chain_B = np.array([draw.chain for draw in draws])

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
        return [table.argmax(1) for table in self.overlaps]

    @cached_property
    def presence(self) -> Float:
        """Return the (L,) shares of draws that a cluster is in."""
        here_BL = [np.isin(np.arange(self.n_clusters), home) for home in self.homes]
        return np.asarray(np.mean(here_BL, axis=0))

    def _belongs(self, b: int) -> Float:
        """Return the (n_used, L) memberships of a draw's clusters."""
        return np.asarray(self.homes[b][:, None] == np.arange(self.n_clusters), float)

    def together(self, values: OfDraw, *, weighed: bool) -> Float:
        """Return (B, ..., L): values (..., A) of every draw, summed or averaged over those of one.

        NaN: absent. Averages are weighed by the clusters' rows. A cluster that is in no draw (rows
        of which it is not known where they belong) has a sum of 0, and the averages of the clusters
        that hold most of its rows.
        """
        out, lost_L = [], self.presence == 0.0
        for b, draw in enumerate(self.draws):
            belongs_UL = self._belongs(b)
            absent_L = ~belongs_UL.any(0) & ~lost_L
            if weighed:
                for lost in np.flatnonzero(lost_L):
                    belongs_UL[self.overlaps[b][:, lost].argmax(), lost] = 1.0
                belongs_UL *= draw.counts.sum(0)[:, None]
                belongs_UL /= np.maximum(belongs_UL.sum(0), 1.0)
            value = values(draw)[..., : draw.n_used] @ belongs_UL
            out.append(np.where(absent_L, np.nan, value))
        return np.stack(out)

    def mean_and_band(self, values_BQL: Float, level: float) -> Float:
        """Return (3, Q, L): means and ends of bands over the draws that have a cluster."""
        known_QL = ~np.isnan(values_BQL).all(axis=0)
        mean_QL = np.full(known_QL.shape, np.nan)
        mean_QL[known_QL] = np.nanmean(values_BQL[:, known_QL], axis=0)
        return np.stack([mean_QL, *band(values_BQL, self._chain_B, level)])

    def sizes(self, level: float) -> pd.DataFrame:
        """Return every cluster's rows, its share of all with bands, and its presence in draws."""
        share_BL = self.together(lambda draw: draw.counts.sum(0) / draw.counts.sum(), weighed=False)
        mean, lower, upper = self.mean_and_band(share_BL[:, None], level)[:, 0]
        index = pd.RangeIndex(self.n_clusters, name="cluster")
        columns = {
            "rows": np.bincount(self.partition.labels),
            "share": mean,
            "lower": lower,
            "upper": upper,
            "presence": self.presence,
        }
        return pd.DataFrame(columns, index=index)

    def moments(self, of: Moments) -> tuple[Float, Float]:
        """Return the (B, E, L) means and standard deviations of clusters' entries."""
        mean_BEL = self.together(lambda draw: of(draw)[0].T, weighed=True)
        square_BEL = self.together(lambda draw: _square(*of(draw)).T, weighed=True)
        return mean_BEL, np.sqrt(np.maximum(square_BEL - mean_BEL**2, 0.0))

    def activation(
        self, known: Covariates, rows: Float, level: float, log_odds: OfDraw, weights: OfDraw
    ) -> pd.DataFrame:
        """Return clusters' probabilities of being open, and their shares, at covariate rows."""
        opened = self.together(lambda draw: expit(log_odds(draw)), weighed=True)
        share = self.together(weights, weighed=False)
        columns: dict[str, Float] = {}
        for prefix, values in (("", opened), ("share_", share)):
            names = ("share" if prefix else "mean", prefix + "lower", prefix + "upper")
            columns |= dict(zip(names, self.mean_and_band(values, level), strict=True))
        return through_time({"cluster": np.arange(self.n_clusters)}, known, rows, columns)

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
