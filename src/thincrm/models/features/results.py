"""What a fitted feature model tells: activations, usages, imputations, predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from thincrm.data.covariates import CovariateLike, Covariates, covariates
from thincrm.data.table_values import Scale, TableLike, like
from thincrm.errors import check_count
from thincrm.levy.special import log_rest
from thincrm.models.atom_tables import band
from thincrm.models.base import Model
from thincrm.models.features.draw import FeatureDraw
from thincrm.models.features.extent import Extent
from thincrm.models.features.kernel import Features, Table, as_table
from thincrm.models.features.rows import Rows, draw_rows, features_at, log_likelihood, row_items
from thincrm.models.features.tables import FeatureTables
from thincrm.models.given_rows import Imputation, times_of
from thincrm.numerics.arrays import Float
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import using_threads

__all__ = ["FeatureResults"]

_IMPUTE, _TRANSFORM, _PREDICT, _SCORE, _SAMPLE = 1, 2, 3, 4, 5  # addresses of random streams
_FIRST_SWEEPS, _SWEEPS = 20, 4  # of new rows under the first draw of a chain, and under others
_SWEEPS_AFRESH = 8  # of rows that start from nothing under every draw
_MOST_DRAWS = 100
_STEPS = 30


class FeatureResults(Extent, Model):
    """Results of a fitted `FeatureModel`."""

    covariates_: Covariates
    scale_: Scale
    shared_: bool
    draws_: list[FeatureDraw]
    columns_: pd.Index
    seed_: int
    weights: str
    n_threads: int | None
    _tables: FeatureTables

    def activation(self, t: CovariateLike | None = None, level: float = 0.9) -> pd.DataFrame:
        """Return each feature's probability of being open, and of being used, with bands.

        Columns: feature, t, mean, lower, upper (of p, the gate), usage, usage_lower, usage_upper
        (of pi p: the probability that a row at t uses the feature). With one gate per observation
        the data tell pi p; how it is split between pi and p is left to their priors. t: where;
        None: the distinct covariates of the fit.
        """
        check_is_fitted(self)
        rows = self.covariates_.rows if t is None else self.covariates_.encode(t)
        return self._tables.activation(self.covariates_, rows, level, self._log_odds)

    def transform(self, X: TableLike, t: CovariateLike | None = None) -> Float:
        """Return (N, K) how much each row uses each feature, given its seen cells.

        Binary weights: the probability; real weights: the expected weight. Rows may be old or
        new; features are matched across draws.
        """
        rows, order = self._rows(X, t)
        total = np.zeros((len(order), self._tables.n_features))
        with using_threads(self.n_threads):
            for i, _ in self._settled(rows, _TRANSFORM):
                found, sign = self._tables.matches[i]
                here = found >= 0
                total[:, here] += rows[0].usage[:, found[here]] * sign[here]
        return np.asarray(total[np.argsort(order)] / len(self._places()))

    def impute(
        self, X: TableLike, t: CovariateLike | None = None, level: float = 0.9
    ) -> Imputation:
        """Return X without holes: `.mean`, `.lower`, `.upper`, each shaped and labelled like X.

        A hole's law is that of a new value: usages given the row's seen cells and covariate, and
        noise; averaged over draws. Rows may be old or new; a row without any value has only its
        covariate to go by.
        """
        check_is_fitted(self)
        value = self._values(X, reset=False)
        times = self._times(X, t, len(value))
        open_rows = np.flatnonzero(np.isnan(value).any(axis=1))
        out = [value.copy() for _ in range(3)]
        if open_rows.size:
            parts = self._fill(value[open_rows], times[open_rows], level)
            for table, part in zip(out, parts, strict=True):
                hole = np.isnan(table)
                filled = np.full(value.shape, np.nan)
                filled[open_rows] = part
                table[hole] = filled[hole]
        else:
            band(np.zeros(1), level)
        return Imputation(*(like(X, table) for table in out))

    def _fill(self, value: Float, times: Float, level: float) -> tuple[Float, Float, Float]:
        """Return mean, lower and upper of every cell of some rows."""
        rows, order = self._sorted_rows(value, times)
        hole = rows[0].table.seen_NP == 0
        places = self._places()
        n_each = max(1, 400 // len(places)) if hole.sum() * 400 < 2e7 else 1
        samples = np.empty((len(places) * n_each, int(hole.sum())), np.float32)
        total, count = np.zeros(value.shape), 0
        with using_threads(self.n_threads):
            for b, (i, features) in enumerate(self._settled(rows, _IMPUTE)):
                rng = sweep_generator(self.seed_, _IMPUTE, i, 1)
                for each in range(n_each):
                    if each:
                        rows[0].redraw(rng, features, 1)
                    mean = rows[0].mean(features)
                    total += rows[0].expected(features)
                    count += 1
                    noise = rng.standard_normal(mean.shape) / np.sqrt(features.precision_P)
                    samples[b * n_each + each] = (mean + noise)[hole]
        lower, upper = np.full((2, *value.shape), np.nan)
        lower[hole], upper[hole] = band(samples, level)
        back = np.argsort(order)
        mean, low, high = (self.scale_.back(part[back]) for part in (total / count, lower, upper))
        return mean, low, high

    def sample_imputations(
        self, X: TableLike, t: CovariateLike | None = None, n_samples: int = 5
    ) -> list[Any]:
        """Return `n_samples` tables like X, the holes of each drawn anew: multiple imputation.

        Each comes from one of the kept draws, spread evenly over them; holes of a row are drawn
        together, noise and all. What is computed from each table then varies as it should.
        """
        n_samples = check_count("n_samples", n_samples)
        rows, order = self._rows(X, t)
        value, back = self._values(X, reset=False), np.argsort(order)
        hole, out = np.isnan(value), []
        with using_threads(self.n_threads):
            for s, i in enumerate(np.linspace(0, len(self.draws_) - 1, n_samples).round()):
                rng, draw = sweep_generator(self.seed_, _SAMPLE, s), self.draws_[int(i)]
                features = features_at(draw, self._gate_odds(draw, rows[1]), rows[0].real)
                rows[0].forget()
                rows[0].redraw(rng, features, _FIRST_SWEEPS)
                noise = rng.standard_normal(value.shape) / np.sqrt(draw.noise)
                drawn = self.scale_.back((rows[0].mean(features) + noise)[back])
                out.append(like(X, np.where(hole, drawn, value)))
        return out

    def sample_predictive(self, t: CovariateLike | None = None, n_samples: int = 1) -> Float:
        """Return (n_samples, N, P) new tables at covariates t, in the columns' units.

        Each comes from one of the kept draws. None: the covariates of the fit.
        """
        check_is_fitted(self)
        n_samples = check_count("n_samples", n_samples)
        known = self.covariates_
        times = known.observed() if t is None else known.encode(t)
        known, order = self._grouped(times)
        back = np.argsort(order)
        out = np.empty((n_samples, len(times), len(self.columns_)))
        nothing, curves = np.full(out.shape[1:], np.nan), self.curves_.at(times[order])
        real = self.weights == "real"
        for s in range(n_samples):
            rng = sweep_generator(self.seed_, _PREDICT, s)
            draw = self.draws_[int(rng.integers(len(self.draws_)))]
            features = features_at(draw, self._gate_odds(draw, known), real)
            table = as_table(nothing, known.trials, self.shared_, curves)
            rows = Rows(table, draw.n_features, real, self.n_dense_)
            rows.local = draw_rows(rng, features, table.start_G, table.row_G, self.n_dense_)
            noise = rng.standard_normal(out.shape[1:]) / np.sqrt(draw.noise)
            out[s] = self.scale_.back((rows.mean(features) + noise)[back])
        return out

    def score(self, X: TableLike, y: object = None, *, t: CovariateLike | None = None) -> float:
        """Return the mean over rows of log p(seen cells | t), of new rows, averaged over draws.

        In nats, of values in the columns' units. By annealed importance sampling: a few draws
        hold down its cost, and its error can be lowered by none but more of them.
        """
        rows, order = self._rows(X, t)
        table, real = rows[0].table, rows[0].real
        places = np.unique(np.linspace(0, len(self.draws_) - 1, 20).round().astype(int))
        found = []
        with using_threads(self.n_threads):
            for i in places:
                rng, draw = sweep_generator(self.seed_, _SCORE, int(i)), self.draws_[i]
                features = features_at(draw, self._gate_odds(draw, rows[1]), real)
                found.append(log_likelihood(rng, table, features, _STEPS, self.n_dense_))
        total = float((logsumexp(found, axis=0) - np.log(len(found))).sum())
        moving = self.scale_.spread_P > 0
        units = table.seen_NP[:, moving].sum(0) @ np.log(self.scale_.spread_P[moving])
        return (total - float(units)) / len(order)

    # -- rows, old or new -------------------------------------------------------------------------

    def _rows(self, X: TableLike, t: CovariateLike | None) -> tuple[tuple[Rows, Covariates], Float]:
        check_is_fitted(self)
        value = self._values(X, reset=False)
        return self._sorted_rows(value, self._times(X, t, len(value)))

    def _times(self, X: TableLike, t: CovariateLike | None, n_rows: int) -> Float:
        """Return the (N, C) encoded covariates of rows."""
        varies = self.thinning_.varies or self.curves_.n_slopes > 0
        return times_of(self.covariates_, varies, X, t, n_rows)

    def _grouped(self, times: Float) -> tuple[Covariates, Any]:
        known = covariates(times if self.thinning_.varies else np.zeros(len(times)))
        return known, np.argsort(known.row, kind="stable")

    def _sorted_rows(self, value: Float, times: Float) -> tuple[tuple[Rows, Covariates], Any]:
        """Return ((rows sorted by covariate, their covariates), the order)."""
        known, order = self._grouped(times)
        table = self._table(value, known, times, self.shared_)
        table = table._replace(item_G=row_items(table))
        rows = Rows(table, self.draws_[0].n_features, self.weights == "real", self.n_dense_)
        return (rows, known), order

    def _places(self) -> Any:
        """Return which draws to predict with: all, or `_MOST_DRAWS` spread evenly over them."""
        n_draws = len(self.draws_)
        return np.linspace(0, n_draws - 1, min(n_draws, _MOST_DRAWS)).round().astype(int)

    def _settled(
        self, rows: tuple[Rows, Covariates], address: int
    ) -> Iterator[tuple[int, Features]]:
        """Yield draw after draw, the rows' usages redrawn under it.

        Beside dense factors rows start afresh under every draw: features that no fitted row uses
        are others in each, and where noise is small a row that used one would not get rid of it.
        """
        chain = None
        for i in self._places().tolist():
            draw = self.draws_[i]
            features = features_at(draw, self._gate_odds(draw, rows[1]), rows[0].real)
            n_sweeps = _SWEEPS if draw.chain == chain else _FIRST_SWEEPS
            chain = draw.chain
            if self.n_dense_ > 0:
                n_sweeps = _SWEEPS_AFRESH
                rows[0].forget()
            rows[0].redraw(sweep_generator(self.seed_, address, i), features, n_sweeps)
            yield i, features

    def _gate_odds(self, draw: FeatureDraw, known: Covariates) -> Float:
        """Return the log odds of gates; a shared one has been heard of where rows were fitted.

        There it is open if a row used the feature, and else as likely as silence left it.
        """
        log_odds = self._log_odds(draw, known.rows)
        if not self.shared_:
            return log_odds
        at = self.covariates_
        fitted = {tuple(row): t for t, row in enumerate(at.rows)}
        if at.own is not None:
            fitted |= {tuple(own): t for own, t in zip(at.own, at.row, strict=True)}
        place = np.array([fitted.get(tuple(row), -1) for row in known.rows])
        hits = np.where(place[:, None] >= 0, draw.hits[place], 0)
        trials = np.where(place >= 0, self.covariates_.trials[place], 0)
        silent = log_odds + np.outer(trials, log_rest(draw.log_mass))
        return np.where(hits > 0, np.inf, silent)

    @abstractmethod
    def _values(self, X: TableLike, *, reset: bool) -> Float:
        """Return the checked cells of a table."""

    @abstractmethod
    def _table(self, value: Float, at: Covariates, times: Float, shared: bool) -> Table:
        """Return the table that the likelihood takes."""
