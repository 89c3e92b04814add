"""What a fitted mixture tells of its clusters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from thincrm.data.covariates import CovariateLike, Covariates
from thincrm.errors import InvalidInput, check_between
from thincrm.models.atom_tables import through_time
from thincrm.models.base import Model
from thincrm.models.mixtures.cells import Cells
from thincrm.models.mixtures.columns import Layout
from thincrm.models.mixtures.draw import MixtureDraw, predictive_weights
from thincrm.models.mixtures.evidence import Gating
from thincrm.models.mixtures.partition import CredibleBall, spread
from thincrm.models.mixtures.tables import ClusterTables
from thincrm.models.mixtures.weights import seen_weights
from thincrm.numerics.arrays import Bool, Float, Int

__all__ = ["MixtureResults"]

_MOST_SIMILAR = 1000  # rows of the similarity matrix
_BANDS = (("mean", "lower", "upper"), ("sd", "sd_lower", "sd_upper"))


class MixtureResults(Model):
    """Clusters of a fitted `MixtureModel`: the partition, parameters, shares through t."""

    covariates_: Covariates
    layout_: Layout
    columns_: pd.Index
    draws_: list[MixtureDraw]
    values_: Float
    gates: Gating
    _tables: ClusterTables

    # -- the partition -----------------------------------------------------------------------------

    @property
    def labels_(self) -> Int:
        """Return every row's cluster: the partition of least expected variation of information."""
        check_is_fitted(self)
        return self._tables.partition.labels

    def credible_ball(self, level: float = 0.95) -> CredibleBall:
        """Return how far from `labels_` partitions are that the data do not rule out.

        `.radius` in nats, and the partitions `.horizontal`, `.upper`, `.lower` at the edge of the
        ball that holds `level` of the draws.
        """
        check_is_fitted(self)
        return self._tables.partition.ball(level)

    def similarity(self, rows: Any = None) -> pd.DataFrame:
        """Return the probabilities that two rows are in one cluster.

        rows: places of the rows to compare; None: all, or 1,000 of them spread evenly.
        """
        check_is_fitted(self)
        n_rows = len(self.values_)
        places = spread(n_rows, _MOST_SIMILAR) if rows is None else np.asarray(rows)
        if places.ndim != 1 or places.dtype.kind not in "iu":
            raise InvalidInput("rows must be whole numbers: places of rows of the fit.")
        if np.any((places < 0) | (places >= n_rows)):
            raise InvalidInput(f"rows must be places from 0 to {n_rows - 1}.")
        index = pd.Index(places, name="row")
        return pd.DataFrame(self._tables.partition.similarity(places), index=index, columns=index)

    # -- clusters ----------------------------------------------------------------------------------

    def clusters(self, level: float = 0.9) -> pd.DataFrame:
        """Return every cluster's mean and standard deviation of every column, in its units.

        Indexed by cluster and column; columns mean, lower, upper, sd, sd_lower, sd_upper. A
        category has a row for each of its values: its probability. Of lines there are the
        response in the middle of the cluster's rows, the deviation around the line, and the slopes.
        """
        check_is_fitted(self)
        cells, tables = self._cells(), self._tables
        columns: dict[str, Float] = {}
        for names, value_BEL in zip(_BANDS, tables.moments(self._moments()), strict=True):
            found = tables.mean_and_band(value_BEL, level)
            columns |= {name: part.T.ravel() for name, part in zip(names, found, strict=True)}
        index = pd.MultiIndex.from_product(
            [range(tables.n_clusters), cells.entries(self.columns_)], names=["cluster", "column"]
        )
        return pd.DataFrame(columns, index=index)

    def profiles(self, level: float = 0.9) -> pd.DataFrame:
        """Return what each cluster looks like (see `clusters`)."""
        return self.clusters(level)

    def sizes(self, level: float = 0.9) -> pd.DataFrame:
        """Return every cluster's rows in `labels_`, its share of rows, and the draws it is in.

        Columns: rows, share, lower, upper, presence (the share of draws that have the cluster).
        """
        check_is_fitted(self)
        return self._tables.sizes(level)

    def activation(self, t: CovariateLike | None = None, level: float = 0.9) -> pd.DataFrame:
        """Return each cluster's probability of being open, and its share, with bands.

        Columns: cluster, t, mean, lower, upper (of p, the gate), share, share_lower, share_upper
        (the probability that a new row at t is of the cluster). What shares lack to 1 is that of
        clusters without rows. t: where; None: the distinct covariates of the fit.
        """
        check_is_fitted(self)
        rows = self._at(t)
        return self._tables.activation(
            self.covariates_,
            rows,
            level,
            lambda draw: self._atom_log_odds(draw, rows),
            lambda draw: self._weights(draw, rows),
        )

    def n_clusters_at(self, t: CovariateLike | None = None, level: float = 0.9) -> pd.DataFrame:
        """Return how many clusters are open at t, with bands: t, mean, lower, upper.

        A draw's number is the sum of the probabilities of being open, of clusters that have rows.
        """
        check_is_fitted(self)
        rows = self._at(t)
        number_BT = np.stack(
            [
                expit(self._atom_log_odds(draw, rows)[:, : draw.n_used]).sum(1)
                for draw in self.draws_
            ]
        )
        found = self._tables.mean_and_band(number_BT[..., None], level)
        columns = dict(zip(_BANDS[0], found[..., 0], strict=True))
        return through_time({}, self.covariates_, rows, columns)

    def first_active(self, level: float = 0.9) -> pd.DataFrame:
        """Return, per cluster, the first t at which it is active: median, lower, upper.

        Active: its share is at least half of its highest.
        """
        return self._lifetimes(level, "first")

    def last_active(self, level: float = 0.9) -> pd.DataFrame:
        """Return, per cluster, the last t at which it is active (see `first_active`)."""
        return self._lifetimes(level, "last")

    def _lifetimes(self, level: float, which: Literal["first", "last"]) -> pd.DataFrame:
        check_is_fitted(self)
        check_between("level", level, 0.0, 1.0)
        known = self.covariates_
        if known.rows.shape[1] > 1:
            raise InvalidInput(
                f"t has {known.rows.shape[1]} columns: first and last need a covariate with an "
                "order; see activation()."
            )
        return self._tables.lifetimes(
            known.labels(), level, which, lambda draw: self._weights(draw, known.rows)
        )

    # -- weights at covariates ---------------------------------------------------------------------

    def _at(self, t: Any) -> Float:
        """Return encoded covariates: those of the fit, or t."""
        return self.covariates_.rows if t is None else self.covariates_.encode(t)

    def _atom_log_odds(self, draw: MixtureDraw, rows: Float) -> Float:
        """Return the (T, A) log odds of being open at encoded covariate rows."""
        out = np.full((len(rows), draw.log_mass.size), np.inf)
        out[:, ~draw.background] = self._log_odds(draw, rows)
        return out

    def _weights(self, draw: MixtureDraw, rows: Float) -> Float:
        """Return the (T, A) probabilities that a new row at encoded covariates is of each cluster.

        Shared gates have been heard of where rows were fitted.
        """
        log_odds = self._atom_log_odds(draw, rows)
        fitted, used, n_rows = self._heard(draw, rows)
        out = np.empty(log_odds.shape)
        if not fitted.all():
            out[~fitted] = predictive_weights(self.gates, draw.log_mass, log_odds[~fitted])
        if fitted.any():
            out[fitted] = seen_weights(draw.log_mass, log_odds[fitted], used, n_rows)
        return out

    def _heard(self, draw: MixtureDraw, rows: Float) -> tuple[Bool, Bool, Int]:
        """Return (which of T rows have shared gates of the fit, their used clusters, rows)."""
        none = np.zeros(len(rows), bool)
        if self.gates != "shared" or not self.thinning_.varies:
            return none, np.zeros((0, draw.log_mass.size), bool), np.zeros(0, np.int64)
        known = self.covariates_
        place = _places(known.rows, rows)
        fitted = place >= 0
        used = np.zeros((int(fitted.sum()), draw.log_mass.size), bool)
        used[:, : draw.n_used] = draw.counts[place[fitted]] > 0
        return fitted, used, known.trials[place[fitted]]

    def _moments(self) -> Callable[[MixtureDraw], tuple[Float, Float]]:
        cells = self._cells()
        column_NJ = cells.linear_in(self.values_, self.covariates_.observed())

        def moments(draw: MixtureDraw) -> tuple[Float, Float]:
            sum_KJ = np.zeros((draw.log_mass.size, column_NJ.shape[1]))
            np.add.at(sum_KJ, draw.labels, column_NJ)
            n_rows_K = np.bincount(draw.labels, minlength=len(sum_KJ))
            return cells.moments(draw.params, sum_KJ / np.maximum(n_rows_K, 1)[:, None])

        return moments

    @abstractmethod
    def _cells(self) -> Cells:
        """Return the cells' distribution given a cluster."""


def _places(known: Float, rows: Float) -> Int:
    """Return where rows are among the known ones, -1 elsewhere."""
    of = {tuple(row): place for place, row in enumerate(known.tolist())}
    return np.array([of.get(tuple(row), -1) for row in rows.tolist()], np.int64)
