"""What a fitted mixture tells of rows, old or new: clusters, densities, holes, new tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logsumexp
from sklearn.utils.validation import check_is_fitted

from thincrm.data.covariates import CovariateLike, covariates
from thincrm.errors import InvalidInput, check_count
from thincrm.models.atom_tables import band
from thincrm.models.given_rows import Imputation, times_of
from thincrm.models.mixtures.clusters import Rows, take_rows
from thincrm.models.mixtures.columns import MixedTable
from thincrm.models.mixtures.draw import MixtureDraw
from thincrm.models.mixtures.predict import log_joint_density
from thincrm.models.mixtures.regression import RegressionClusters
from thincrm.models.mixtures.results import MixtureResults
from thincrm.models.mixtures.sides import SidesLike, censor, sides_of, without_limits
from thincrm.models.mixtures.weights import draw_gates
from thincrm.numerics.arrays import Bool, Float, Int
from thincrm.numerics.streams import fresh_key, sweep_generator
from thincrm.numerics.threads import using_threads

__all__ = ["MixtureRows"]

_IMPUTE, _PREDICT = 1, 2  # addresses of random streams
_MOST_DRAWS = 100
_SAMPLES = 400  # of every hole, if there are not too many
_MOST_TRIES = 10_000  # to open a gate where there is no background


class MixtureRows(MixtureResults):
    """Rows under a fitted `MixtureModel`."""

    seed_: int
    n_threads: int | None

    def predict(
        self, X: MixedTable, t: CovariateLike | None = None, censored: SidesLike | None = None
    ) -> Int:
        """Return the likeliest cluster of every row, of those in `labels_`."""
        return np.asarray(self.predict_proba(X, t, censored).argmax(1))

    def predict_proba(
        self, X: MixedTable, t: CovariateLike | None = None, censored: SidesLike | None = None
    ) -> Float:
        """Return (N, L) probabilities that each row is of each cluster in `labels_`.

        In every draw a row's chances are shared out as the rows of that draw's clusters are among
        those of `labels_`; chances of clusters without rows go by the sizes of all.
        """
        rows, times, _ = self._given(X, t, censored)
        tables = self._tables
        overall_L = np.bincount(tables.partition.labels) / tables.partition.labels.size
        total = np.zeros((len(times), tables.n_clusters))
        with using_threads(self.n_threads):
            for b, draw, log_NA in self._joint(rows, times):
                chance_NA = np.exp(log_NA - logsumexp(log_NA, axis=1, keepdims=True))
                overlap_UL = tables.overlaps[b]
                share_UL = overlap_UL / overlap_UL.sum(1, keepdims=True)
                total += chance_NA[:, : draw.n_used] @ share_UL
                total += chance_NA[:, draw.n_used :].sum(1, keepdims=True) * overall_L
        return np.asarray(total / total.sum(1, keepdims=True))

    def score_samples(
        self, X: MixedTable, t: CovariateLike | None = None, censored: SidesLike | None = None
    ) -> Float:
        """Return the (N,) logs of the posterior mean density of each row's seen cells, given t.

        In nats, of values in the columns' units; constant columns are left out. A censored response
        (see `fit`) has the log of the probability that it lies where it does.
        """
        rows, times, exact = self._given(X, t, censored)
        with using_threads(self.n_threads):
            found = [logsumexp(log_NA, axis=1) for _, _, log_NA in self._joint(rows, times)]
        log_N = logsumexp(found, axis=0) - np.log(len(found))
        return np.asarray(log_N - self._cells().log_units(exact))

    def score(
        self,
        X: MixedTable,
        y: object = None,
        *,
        t: CovariateLike | None = None,
        censored: SidesLike | None = None,
    ) -> float:
        """Return the mean over rows of `score_samples`."""
        return float(self.score_samples(X, t, censored).mean())

    def impute(
        self,
        X: MixedTable,
        t: CovariateLike | None = None,
        level: float = 0.9,
        censored: SidesLike | None = None,
    ) -> Imputation:
        """Return X without holes: `.mean`, `.lower`, `.upper`, each shaped and labelled like X.

        A hole's law is that of a new value: the row's cluster given its seen cells and t, then the
        cell given the others, averaged over draws. A category has its likeliest value in all
        three. A censored response (see `fit`) is a hole of which one end is known.
        """
        rows, times, exact = self._given(X, t, censored)
        band(np.zeros(1), level)
        out = [exact.copy() for _ in range(3)]
        holed = np.flatnonzero(np.isnan(exact).any(axis=1))
        if holed.size:
            hole, some = np.isnan(exact[holed]), take_rows(rows, holed)
            for table, part in zip(out, self._fill(some, hole, times[holed], level), strict=True):
                table[holed] = np.where(hole, part, table[holed])
        return Imputation(*(self._like(X, table) for table in out))

    def _fill(
        self, rows: Rows, hole: Bool, times: Float, level: float
    ) -> tuple[Float, Float, Float]:
        """Return mean, lower and upper of every cell of some rows; a category's likeliest value."""
        cells, draws = self._cells(), self._places()
        n_each = max(1, _SAMPLES // draws.size) if hole.sum() * _SAMPLES < 2e7 else 1
        samples = np.empty((draws.size * n_each, int(hole.sum())), np.float32)
        total, place = np.zeros(hole.shape), 0
        with using_threads(self.n_threads):
            for b, draw, log_NA in self._joint(rows, times):
                chance_NA = np.exp(log_NA - logsumexp(log_NA, axis=1, keepdims=True))
                rng = sweep_generator(self.seed_, _IMPUTE, b)
                total += self._means(rows, chance_NA, draw)
                for _ in range(n_each):
                    label_N = _pick(rng, chance_NA)
                    filled = cells.fill(fresh_key(rng), rows, label_N, draw.params, True)
                    samples[place] = filled[hole]
                    place += 1
        mean, lower, upper = total / draws.size, *np.full((2, *hole.shape), np.nan)
        lower[hole], upper[hole] = band(samples, level)
        of_category = np.array([kind == "category" for kind in self.layout_.kinds])
        likeliest = np.full(hole.shape, np.nan)
        likeliest[hole] = [_mode(part) for part in samples.T] if of_category.any() else np.nan
        moving = self.layout_.moving
        for part in (mean, lower, upper):
            part[:, of_category] = likeliest[:, of_category]
            part[:, ~moving] = self.layout_.scale.level_P[~moving]
        return mean, lower, upper

    def _means(self, rows: Rows, chance_NA: Float, draw: MixtureDraw) -> Float:
        """Return cells, holes at their means over the clusters a row may be of."""
        total = np.zeros((len(chance_NA), len(self.columns_)))
        for a in range(chance_NA.shape[1]):
            here = np.flatnonzero(chance_NA[:, a] > 1e-12)
            if here.size:
                label, some = np.full(here.size, a, np.int32), take_rows(rows, here)
                part = self._cells().fill(np.uint64(0), some, label, draw.params, False)
                total[here] += part * chance_NA[here, a, None]
        return total

    def sample_predictive(self, t: CovariateLike | None = None, n_samples: int = 1) -> Float:
        """Return (n_samples, N, P) new tables at covariates t, in the columns' units.

        A category is its place among the column's values in order.
        Each comes from one of the kept draws; with shared gates the rows of a table that have the
        same t share theirs. None: the covariates of the fit.
        """
        check_is_fitted(self)
        n_samples = check_count("n_samples", n_samples)
        known = self.covariates_
        times = known.observed() if t is None else known.encode(t)
        at = covariates(times if self.thinning_.varies else np.zeros(len(times)))
        rows = at.rows if self.thinning_.varies else times[:1]
        out = np.empty((n_samples, len(times), len(self.columns_)))
        for s in range(n_samples):
            rng = sweep_generator(self.seed_, _PREDICT, s)
            draw = self.draws_[int(rng.integers(len(self.draws_)))]
            label_N = _pick(rng, self._shares(rng, draw, rows)[at.row])
            out[s] = self._cells().sample(rng, draw.params, label_N, times)
        return out

    def _shares(self, rng: np.random.Generator, draw: MixtureDraw, rows: Float) -> Float:
        """Return (T, A) weights at distinct covariates, shared gates drawn."""
        if self.gates != "shared" or not self.thinning_.varies:
            return self._weights(draw, rows)
        log_odds = self._atom_log_odds(draw, rows)
        fitted, used, n_rows = self._heard(draw, rows)
        gates = np.empty(log_odds.shape, bool)
        for place, t in enumerate(np.flatnonzero(fitted)):
            gates[t] = draw_gates(rng, draw.log_mass, log_odds[t], used[place], int(n_rows[place]))
        new = np.flatnonzero(~fitted)
        gates[new] = _open_some(rng, log_odds[new])
        mass = gates * np.exp(draw.log_mass - draw.log_mass.max())
        return np.asarray(mass / mass.sum(1, keepdims=True))

    # -- rows, old or new --------------------------------------------------------------------------

    def _given(self, X: MixedTable, t: Any, censored: Any) -> tuple[Rows, Float, Float]:
        """Return rows as the law wants them, their encoded covariates, and exact cells."""
        check_is_fitted(self)
        value = self._values(X, reset=False)
        times = times_of(self.covariates_, self.thinning_.varies, X, t, len(value))
        side_N = sides_of(X, censored)
        if side_N is not None:
            self._need_response()
        rows = censor(self._cells().rows(value, times), side_N)
        return rows, times, without_limits(value, side_N)

    def _need_response(self) -> None:
        """Refuse censored responses where the law inside clusters has no response."""
        if not isinstance(self.likelihood_, RegressionClusters):
            name = type(self.likelihood_).__name__
            raise InvalidInput(
                f"censored is of responses, and {name} has none: use RegressionClusters()."
            )

    def _places(self) -> Int:
        """Return which draws to predict with: all, or some spread evenly over them."""
        n_draws = len(self.draws_)
        return np.linspace(0, n_draws - 1, min(n_draws, _MOST_DRAWS)).round().astype(np.int64)

    def _joint(self, rows: Rows, times: Float) -> Iterator[tuple[int, MixtureDraw, Float]]:
        """Yield (place of the draw, draw, (N, A) logs of weight times density), draw by draw."""
        law = self._cells().law
        distinct, place_N = np.unique(times, axis=0, return_inverse=True)
        for b in self._places().tolist():
            draw = self.draws_[b]
            with np.errstate(divide="ignore"):
                log_weight = np.log(self._weights(draw, distinct))
            yield (
                b,
                draw,
                log_joint_density(law, rows, draw.params, log_weight[place_N.reshape(-1)]),
            )

    def as_given(self, value: Float) -> pd.DataFrame:
        """Return cells as a data frame with the fit's columns, categories as their values."""
        table = {}
        for place, levels in enumerate(self.layout_.levels):
            column = value[:, place]
            if levels:
                known = np.array([*levels, None], object)
                column = known[np.where(np.isnan(column), len(levels), column).astype(int)]
            table[place] = column
        frame = pd.DataFrame(table)
        frame.columns = self.columns_
        return frame

    def _like(self, X: MixedTable, value: Float) -> Any:
        """Return cells as X came, categories as their values."""
        if isinstance(X, pd.Series):
            return pd.Series(value[:, 0], index=X.index, name=X.name)
        if isinstance(X, pd.DataFrame):
            return self.as_given(value).set_axis(X.index, axis=0).set_axis(X.columns, axis=1)
        return value

    @property
    @abstractmethod
    def likelihood_(self) -> object:
        """Return the law inside clusters."""

    @abstractmethod
    def _values(self, X: MixedTable, *, reset: bool) -> Float:
        """Return the checked cells of a table, categories as codes."""


def _mode(values: np.ndarray) -> float:
    found, count = np.unique(values, return_counts=True)
    return float(found[count.argmax()])


def _pick(rng: np.random.Generator, chance_NA: Float) -> np.ndarray:
    """Draw a cluster for every row."""
    edge_NA = np.cumsum(chance_NA, axis=1)
    found = (rng.random((len(chance_NA), 1)) * edge_NA[:, -1:] >= edge_NA).sum(1)
    return np.asarray(np.minimum(found, chance_NA.shape[1] - 1), np.int32)


def _open_some(rng: np.random.Generator, log_odds_TA: Float) -> Bool:
    """Draw gates until one is open at every covariate."""
    chance = expit(log_odds_TA)
    gates = rng.random(chance.shape) < chance
    for _ in range(_MOST_TRIES):
        shut = np.flatnonzero(~gates.any(1))
        if not shut.size:
            return gates
        gates[shut] = rng.random((shut.size, chance.shape[1])) < chance[shut]
    shut = np.flatnonzero(~gates.any(1))
    gates[shut, log_odds_TA[shut].argmax(1)] = True  # nothing opens in any time: the likeliest
    return gates
