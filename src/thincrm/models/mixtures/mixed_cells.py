"""Cells that are numbers, counts and categories, under `MixedClusters`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import gammaln

from thincrm.errors import InvalidInput
from thincrm.models.mixtures.cells import ColumnLaw, log_spread, spreads
from thincrm.models.mixtures.clusters import Params, Rows
from thincrm.models.mixtures.columns import Layout
from thincrm.models.mixtures.mixed import MixedClusters
from thincrm.numerics.arrays import Float, Int

__all__ = ["MixedCells"]


@dataclass(frozen=True)
class MixedCells:
    """Tables of numbers, counts and categories under `MixedClusters`."""

    likelihood: MixedClusters
    layout: Layout
    moves: ClassVar[bool] = False

    @property
    def _places(self) -> tuple[Int, Int, Int]:
        number, count, category = (
            self.layout.places(kind) for kind in ("number", "count", "category")
        )
        return number, count, category

    @property
    def _n_levels(self) -> tuple[int, ...]:
        return tuple(len(self.layout.levels[place]) for place in self._places[2])

    @property
    def law(self) -> Any:
        """Return the law inside clusters."""
        return self.likelihood.law(self._n_levels)

    @property
    def normal_places(self) -> Int:
        """Return the columns with a normal law: the numbers."""
        return self._places[0]

    def rows(self, value_NP: Float, time_NC: Float) -> Rows:
        """Return numbers in standard units, counts and categories."""
        standard = self.layout.scale.standard(value_NP)
        count = standard[:, self._places[1]]
        if np.any((count < 0) | (count != np.round(count)) & ~np.isnan(count)):
            raise InvalidInput("Y's columns of counts must hold whole numbers from 0 on.")
        number, _, category = self._places
        return self.likelihood.rows(
            standard[:, number], count, standard[:, category], self._n_levels
        )

    def log_units(self, value_NP: Float) -> Float:
        """Return Σ log spread of seen numbers and Σ log y! of seen counts."""
        count = value_NP[:, self._places[1]]
        known = np.where(np.isnan(count), 0.0, gammaln(np.maximum(count, 0.0) + 1.0))
        return np.asarray(log_spread(self.layout, value_NP) + known.sum(1))

    def linear_in(self, value_NP: Float, time_NC: Float) -> Float:
        """Return no columns."""
        return np.zeros((len(value_NP), 0))

    def moments(self, params: Params, centre_KJ: Float) -> tuple[Float, Float]:
        """Return means and deviations of numbers and counts, probabilities of categories."""
        number, count, category = self._places
        scale, n_clusters = self.layout.scale, len(params.mean)
        mean: list[Float] = [np.repeat(part, n_clusters)[:, None] for part in scale.level_P]
        sd: list[Float] = [np.zeros((n_clusters, 1)) for _ in mean]
        spread = spreads(params.precision)
        for p, place in enumerate(number):
            unit = scale.spread_P[place]
            mean[place] = params.mean[:, [p]] * unit + scale.level_P[place]
            sd[place] = unit * spread[:, [p]]
        for q, place in enumerate(count):
            rate = np.exp(params.log_rate[:, [q]])
            mean[place], sd[place] = rate, np.sqrt(rate)
        start = 0
        for place, kind in enumerate(self.layout.kinds):
            if kind == "category":
                size = len(self.layout.levels[place])
                chance = np.ones((n_clusters, size))
                if place in category:
                    chance = np.exp(params.log_level[:, start : start + size])
                    start += size
                mean[place], sd[place] = chance, np.full(chance.shape, np.nan)
        return np.hstack(mean), np.hstack(sd)

    def entries(self, names: pd.Index) -> list[str]:
        """Return columns, and levels of categories."""
        return self.layout.entries(names)

    def _back(self, part_NP: Float) -> Float:
        out = np.zeros((len(part_NP), len(self.layout.kinds)))
        out[:, np.concatenate(self._places)] = part_NP
        return self.layout.scale.back(out)

    def fill(
        self, key: np.uint64, rows: Rows, label_N: np.ndarray, params: Params, noise: bool
    ) -> Float:
        """Return cells given the cluster."""
        law = self.law
        return self._back(law.fill(key, rows, label_N, law.packed(params), noise))

    def sample(
        self, rng: np.random.Generator, params: Params, label_N: np.ndarray, time_NC: Float
    ) -> Float:
        """Draw new rows."""
        return self._back(self.law.sample(rng, params, label_N))

    def column(self, params: Params, place: int, time_C: Float) -> ColumnLaw:
        """Return the law of a column of numbers or counts."""
        scale = self.layout.scale
        among = int(np.flatnonzero(np.concatenate(self._places) == place)[0])
        level, unit = float(scale.level_P[place]), float(scale.spread_P[place])
        return ColumnLaw(self.law, params, among, level, unit)
