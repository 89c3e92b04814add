"""Densities, quantiles and probabilities of one column of a fitted mixture, at any covariate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from thincrm.data.covariates import CovariateLike
from thincrm.errors import InvalidInput
from thincrm.models.atom_tables import through_time
from thincrm.models.bands import band
from thincrm.models.mixtures.cells import ColumnLaw
from thincrm.models.mixtures.clusters import Params
from thincrm.models.mixtures.draw import MixtureDraw
from thincrm.models.mixtures.new_rows import MixtureRows
from thincrm.models.mixtures.partition import spread
from thincrm.models.mixtures.predict import mixture_cdf, mixture_quantile
from thincrm.numerics.arrays import Float

__all__ = ["MixtureDensities"]

_MOST_TIMES, _GRID = 25, 100


class MixtureDensities(MixtureRows):
    """Laws of a new value of one column, given t."""

    def density(
        self,
        y: Any = None,
        t: CovariateLike | None = None,
        level: float = 0.9,
        column: object = None,
    ) -> pd.DataFrame:
        """Return the density of a new value of a column at y, given t, with bands.

        Columns: y, t, mean (over draws), lower, upper. y: values; None: 100 over the column's
        range. t: where; None: at most 25 of the fit's covariates. column: its name; it may be
        left out where there is one.
        """
        place, rows = self._asked(column, t)
        seen = self.values_[:, place]
        grid = np.linspace(np.nanmin(seen), np.nanmax(seen), _GRID)
        y_G = grid if y is None else _numbers("y", y)
        if y is None and self.layout_.kinds[place] == "count":
            y_G = np.unique(np.round(grid))
        table = np.full((y_G.size, len(self.columns_)), np.nan)
        table[:, place] = y_G
        cells = self._cells()
        unit_G = cells.log_units(table)
        parts = [cells.rows(table, np.tile(row, (y_G.size, 1))) for row in self._some(rows)]

        def of(draw: MixtureDraw) -> Float:
            weight_TA, packed = self._weights(draw, rows), cells.law.packed(draw.params)
            log_GA = np.empty((y_G.size, draw.log_mass.size))
            out_TG = np.empty((len(rows), y_G.size))
            for here, part in zip(
                np.array_split(np.arange(len(rows)), len(parts)), parts, strict=True
            ):
                cells.law.log_density(0, y_G.size, part, packed, log_GA)
                out_TG[here] = weight_TA[here] @ np.exp(log_GA - unit_G[:, None]).T
            return out_TG

        return self._table("y", y_G, rows, of, level)

    def probability_below(
        self, y: Any, t: CovariateLike | None = None, level: float = 0.9, column: object = None
    ) -> pd.DataFrame:
        """Return the probability that a new value of a column is at most y, given t, with bands.

        Columns: y, t, mean, lower, upper (see `density`).
        """
        place, rows = self._asked(column, t)
        y_G = _numbers("y", y)

        def of(draw: MixtureDraw) -> Float:
            weight_TA = self._weights(draw, rows)
            parts = []
            for found, weight in self._laws(draw.params, place, rows, weight_TA):
                standard = (y_G - found.level) / found.unit
                parts.append(mixture_cdf(found.law, found.params, found.column, standard, weight))
            return np.concatenate(parts)

        return self._table("y", y_G, rows, of, level)

    def quantiles(
        self,
        q: Any = (0.05, 0.5, 0.95),
        t: CovariateLike | None = None,
        level: float = 0.9,
        column: object = None,
    ) -> pd.DataFrame:
        """Return quantiles of a new value of a column, given t, with bands.

        Columns: q, t, mean, lower, upper (over draws, of each draw's quantile), predictive (the
        quantile of the mean of the draws' distributions: what a new value is below with
        probability q). See `density`.
        """
        place, rows = self._asked(column, t)
        q_Q = _numbers("q", q)
        if np.any((q_Q <= 0) | (q_Q >= 1)):
            raise InvalidInput("q must lie strictly between 0 and 1.")

        def of(params: Params, weight_TA: Float) -> Float:
            parts = []
            for found, weight in self._laws(params, place, rows, weight_TA):
                part = mixture_quantile(found.law, found.params, found.column, q_Q, weight)
                parts.append(part * found.unit + found.level)
            return np.concatenate(parts)

        table = self._table(
            "q", q_Q, rows, lambda draw: of(draw.params, self._weights(draw, rows)), level
        )
        table["predictive"] = of(self._pooled(), self._pooled_weights(rows)).T.ravel()
        return table

    def _some(self, rows: Float) -> Float:
        """Return the covariates at which laws differ: all, or any one."""
        return rows if self._cells().moves else rows[:1]

    def _laws(
        self, params: Params, place: int, rows: Float, weight_TA: Float
    ) -> Iterator[tuple[ColumnLaw, Float]]:
        """Yield laws of a column with the weights of the covariates they hold at."""
        cells, some = self._cells(), self._some(rows)
        for row, weight in zip(some, np.array_split(weight_TA, len(some)), strict=True):
            yield cells.column(params, place, row), weight

    def _table(
        self, name: str, value_G: Float, rows: Float, of: Callable[[MixtureDraw], Float],
        level: float,
    ) -> pd.DataFrame:  # fmt: skip
        """Return a (T, G) number of every draw as a table with bands, t running fastest."""
        draws = [self.draws_[b] for b in self._places()]
        value_BTG = np.stack([of(draw) for draw in draws])
        lower, upper = band(value_BTG, np.array([draw.chain for draw in draws]), level)
        columns = {"mean": value_BTG.mean(axis=0), "lower": lower, "upper": upper}
        return through_time({name: value_G}, self.covariates_, rows, columns)

    def _pooled(self) -> Params:
        """Return the clusters of all draws as one mixture's."""
        kept = [self.draws_[b].params for b in self._places()]
        return type(kept[0])(*(np.concatenate(parts) for parts in zip(*kept, strict=True)))

    def _pooled_weights(self, rows: Float) -> Float:
        parts = [self._weights(self.draws_[b], rows) for b in self._places()]
        return np.concatenate(parts, axis=1) / len(parts)

    def _asked(self, column: object, t: Any) -> tuple[int, Float]:
        """Return (place of a column that varies, encoded covariates)."""
        check_is_fitted(self)
        known = self.covariates_
        rows = known.rows[spread(len(known.rows), _MOST_TIMES)] if t is None else known.encode(t)
        names = [str(name) for name in self.columns_]
        if column is None and len(names) > 1:
            raise InvalidInput(f"Y has {len(names)} columns: say which, column={names[0]!r}.")
        if column is not None and str(column) not in names:
            raise InvalidInput(f"Y has no column {column!r}: its columns are {', '.join(names)}.")
        place = 0 if column is None else names.index(str(column))
        if not self.layout_.moving[place]:
            raise InvalidInput(f"Y's column {names[place]!r} is constant: it has no density.")
        if self.layout_.kinds[place] == "category":
            raise InvalidInput(f"Y's column {names[place]!r} has categories: see clusters().")
        self._cells().column(self.draws_[0].params, place, rows[0])  # or a sentence
        return place, rows


def _numbers(name: str, values: Any) -> Float:
    """Return a list of finite numbers, or say what is wrong."""
    try:
        found = np.atleast_1d(np.asarray(values, float))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be a number or a list of numbers.") from error
    if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all():
        raise InvalidInput(f"{name} must be a list of finite numbers.")
    return found
