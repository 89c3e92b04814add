"""Bumps proposed near where an atom has been seen, some of them anywhere.

    q(x) = H(x) / 2 + Π_c N(m_c | mean of t_c, s_c²) N(log l | log s, 0.7²) / 2

with the mean and the deviation s of covariates at which it was seen: s² is the sum of (t - mean)²
and the prior's median length squared over n + 1, so that s is that length where it was seen never.
Draws from H alone seldom fit an atom that is seen often.
"""

from __future__ import annotations

import math

import numpy as np

from thincrm.numerics.arrays import Float, Int
from thincrm.thinning.bump import Bump, BumpState, Window

__all__ = ["NearBumps"]

_LOG_HALF, _LOG_ROOT_TAU = math.log(0.5), 0.5 * math.log(2.0 * math.pi)
_LENGTHS = 0.7  # spread of log l


class NearBumps:
    """The law q of an atom seen so many times at each covariate."""

    def __init__(self, thinning: Bump, prepared: Window, count_T: Int) -> None:
        self.thinning, self.prepared = thinning, prepared
        rows_TC, n_seen = prepared.covariates.rows, int(count_T.sum())
        least_C = (thinning._median * prepared.scale) ** 2
        self.mean_C = count_T @ rows_TC / max(n_seen, 1)
        square_C = count_T @ (rows_TC - self.mean_C) ** 2 if n_seen else 0.0 * least_C
        self.spread_C = np.sqrt((square_C + least_C) / (n_seen + 1))
        self.log_length = float(np.log(self.spread_C / prepared.scale).mean())

    def draw(self, rng: np.random.Generator, size: int) -> BumpState:
        """Draw from q."""
        x = self.thinning.draw(rng, size, self.prepared)
        near = rng.random(size) < 0.5
        location = self.mean_C + self.spread_C * rng.standard_normal(x.location.shape)
        log_length = self.log_length + _LENGTHS * rng.standard_normal(size)
        x.location[near] = location[near]
        if self.thinning._spread > 0:
            x.log_length[near] = log_length[near]
        return x

    def log_prior_over(self, x: BumpState) -> Float:
        """Return (K,) log H / q."""
        log_prior = self.thinning.log_prob(x, self.prepared)
        z = (x.location - self.mean_C) / self.spread_C
        log_near = -(0.5 * z * z + np.log(self.spread_C) + _LOG_ROOT_TAU).sum(1)
        if self.thinning._spread > 0:
            z_K = (x.log_length - self.log_length) / _LENGTHS
            log_near -= 0.5 * z_K * z_K + math.log(_LENGTHS) + _LOG_ROOT_TAU
        return np.asarray(log_prior - _LOG_HALF - np.logaddexp(log_prior, log_near))
