"""A response and what it is linear in, under `RegressionClusters`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_ndtr

from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput
from thincrm.models.mixtures.cells import ColumnLaw
from thincrm.models.mixtures.clusters import Params, Rows
from thincrm.models.mixtures.columns import Layout
from thincrm.models.mixtures.regression import RegressionClusters
from thincrm.numerics.arrays import Float, Int

__all__ = ["LineCells"]

_FAR = 1e4  # beyond it E[x | x > z] is z


@dataclass(frozen=True)
class LineCells:
    """A response under `RegressionClusters`: Y's first column, a line in the others or in t."""

    likelihood: RegressionClusters
    layout: Layout
    known: Covariates

    @property
    def moves(self) -> bool:
        """Tell whether lines are in the covariate itself."""
        return len(self.layout.kinds) == 1

    @property
    def law(self) -> Any:
        """Return the law inside clusters."""
        return self.likelihood.law()

    def _design(self, value_NP: Float, time_NC: Float) -> Float:
        """Return the (N, J) columns of the lines: 1, and what they are linear in."""
        if self.moves:
            level, spread = self._time_scale()
            part = (time_NC - level) / spread
        else:
            part = self.layout.scale.standard(value_NP)[:, 1:][:, self.layout.moving[1:]]
            if np.isnan(part).any():
                raise InvalidInput(
                    "Y's first column is the response; the others, which it is linear in, must "
                    "have no holes: impute them or drop their rows."
                )
        return np.column_stack([np.ones(len(part)), part])

    def _time_scale(self) -> tuple[Float, Float]:
        rows = self.known.observed()
        spread = rows.std(axis=0)
        return rows.mean(axis=0), np.where(spread > 0, spread, 1.0)

    @property
    def normal_places(self) -> Int:
        """Return the columns with a normal law: the response."""
        return np.zeros(1, np.int64)

    def rows(self, value_NP: Float, time_NC: Float) -> Rows:
        """Return responses in standard units, and the columns of the lines."""
        response = self.layout.scale.standard(value_NP)[:, 0]
        return self.likelihood.rows(response, self._design(value_NP, time_NC))

    def log_units(self, value_NP: Float) -> Float:
        """Return the log spread of seen responses."""
        return np.asarray(~np.isnan(value_NP[:, 0]) * np.log(self.layout.scale.spread_P[0]))

    def linear_in(self, value_NP: Float, time_NC: Float) -> Float:
        """Return what lines are in, in standard units, and 1."""
        return self._design(value_NP, time_NC)

    def moments(self, params: Params, centre_KJ: Float) -> tuple[Float, Float]:
        """Return the response at the centre of a cluster's rows, its deviation, and the slopes."""
        scale, unit = self.layout.scale, self.layout.scale.spread_P[0]
        units = self._time_scale()[1] if self.moves else scale.spread_P[1:][self.layout.moving[1:]]
        mean = np.column_stack(
            [
                (params.slope * centre_KJ).sum(1) * unit + scale.level_P[0],
                params.slope[:, 1:] * unit / units,
            ]
        )
        sd = np.full(mean.shape, np.nan)
        sd[:, 0] = unit / np.sqrt(params.precision)
        return mean, sd

    def entries(self, names: pd.Index) -> list[str]:
        """Return the response, and its slopes."""
        inner = self.known.names if self.moves else names[1:][self.layout.moving[1:]]
        return [str(names[0]), *(f"{names[0]} per {name}" for name in inner)]

    def fill(
        self, key: np.uint64, rows: Rows, label_N: np.ndarray, params: Params, noise: bool
    ) -> Float:
        """Return responses around the lines, the censored ones where they lie.

        Other columns have no holes.
        """
        mean_N = (params.slope[label_N] * rows.column).sum(1)
        spread_N = 1.0 / np.sqrt(params.precision[label_N])
        out = np.zeros((mean_N.size, len(self.layout.kinds)))
        if noise:
            rng = np.random.Generator(np.random.Philox(int(key)))
            out[:, 0] = mean_N + rng.standard_normal(mean_N.size) * spread_N
            drawn_N = self.law.complete(key, rows, label_N, self.law.packed(params)).low
            known = np.isfinite(drawn_N)
            out[known, 0] = drawn_N[known]
        else:
            low_N, high_N = (rows.low - mean_N) / spread_N, (rows.high - mean_N) / spread_N
            out[:, 0] = mean_N + spread_N * (_beyond(low_N) - _beyond(-high_N))
        return self.layout.scale.back(out)

    def sample(
        self, rng: np.random.Generator, params: Params, label_N: np.ndarray, time_NC: Float
    ) -> Float:
        """Draw responses at covariates."""
        self._need_moves("sample_predictive")
        nothing = np.full((label_N.size, 1), np.nan)
        drawn = self.law.sample(rng, params, label_N, self._design(nothing, time_NC))
        return self.layout.scale.back(drawn[:, None])

    def column(self, params: Params, place: int, time_C: Float) -> ColumnLaw:
        """Return the law of the response at a covariate."""
        self._need_moves("A density given t")
        z_J = self._design(np.full((1, 1), np.nan), time_C[None])[0]
        scale = self.layout.scale
        level, unit = float(scale.level_P[0]), float(scale.spread_P[0])
        law, there = self.law.at(params, z_J)
        return ColumnLaw(law, there, 0, level, unit)

    def _need_moves(self, what: str) -> None:
        if not self.moves:
            raise InvalidInput(
                f"{what} needs the columns that lines are in: use score_samples or impute."
            )


def _beyond(z_N: Float) -> Float:
    """Return E[x | x > z] of a standard normal, φ(z) / P(x > z): 0 where z is -inf."""
    near_N = np.clip(z_N, -_FAR, _FAR)
    log_density = -0.5 * near_N**2 - 0.5 * np.log(2.0 * np.pi)
    return np.asarray(np.exp(log_density - log_ndtr(-near_N)) + np.maximum(z_N - _FAR, 0.0))
