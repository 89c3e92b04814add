"""Cells that are numbers, under `GaussianClusters`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from thincrm.models.mixtures.cells import ColumnLaw, log_spread, spreads
from thincrm.models.mixtures.clusters import Params, Rows
from thincrm.models.mixtures.columns import Layout
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.numerics.arrays import Float, Int

__all__ = ["NumberCells"]


@dataclass(frozen=True)
class NumberCells:
    """Tables of numbers under `GaussianClusters`."""

    likelihood: GaussianClusters
    layout: Layout
    moves: ClassVar[bool] = False

    @property
    def law(self) -> Any:
        """Return the law inside clusters."""
        return self.likelihood.law()

    @property
    def normal_places(self) -> Int:
        """Return the columns with a normal law: all that vary."""
        return self.layout.places("number")

    def rows(self, value_NP: Float, time_NC: Float) -> Rows:
        """Return the moving columns in standard units."""
        layout = self.layout
        return self.likelihood.rows(layout.scale.standard(value_NP)[:, layout.moving])

    def log_units(self, value_NP: Float) -> Float:
        """Return Σ log spread of seen cells."""
        return log_spread(self.layout, value_NP)

    def linear_in(self, value_NP: Float, time_NC: Float) -> Float:
        """Return no columns."""
        return np.zeros((len(value_NP), 0))

    def moments(self, params: Params, centre_KJ: Float) -> tuple[Float, Float]:
        """Return means and deviations; a Student's is that of its normal part if ν <= 2."""
        degrees = self.law.degrees
        wider = np.sqrt(degrees / (degrees - 2.0)) if degrees > 2.0 else 1.0
        scale, moving = self.layout.scale, self.layout.moving
        mean_KP = self._back(params.mean)
        sd_KP = np.zeros(mean_KP.shape)
        sd_KP[:, moving] = spreads(params.precision) * wider * scale.spread_P[moving]
        return mean_KP, sd_KP

    def entries(self, names: pd.Index) -> list[str]:
        """Return the columns."""
        return [str(name) for name in names]

    def _back(self, moving_NP: Float) -> Float:
        out = np.zeros((len(moving_NP), self.layout.moving.size))
        out[:, self.layout.moving] = moving_NP
        return self.layout.scale.back(out)

    def fill(
        self, key: np.uint64, rows: Rows, label_N: np.ndarray, params: Params, noise: bool
    ) -> Float:
        """Return cells given the seen ones and the cluster."""
        law = self.law
        return self._back(law.fill(key, rows, label_N, law.packed(params), noise))

    def sample(
        self, rng: np.random.Generator, params: Params, label_N: np.ndarray, time_NC: Float
    ) -> Float:
        """Draw new rows."""
        return self._back(self.law.sample(rng, params, label_N))

    def column(self, params: Params, place: int, time_C: Float) -> ColumnLaw:
        """Return the law of a column, the same at all covariates."""
        scale = self.layout.scale
        among = int(self.layout.moving[:place].sum())
        level, unit = float(scale.level_P[place]), float(scale.spread_P[place])
        return ColumnLaw(self.law, params, among, level, unit)
