"""Rows given a draw of the globals: which features they use, what their holes hold, how likely.

Rows come sorted by covariate (`Table`). Nothing here is exact enumeration: rows are redrawn by the
sweep's own kernel, which knows no globals but those it is given.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from thincrm.levy.special import log_rest
from thincrm.models.features.dense_kernel import dense_of, expect_dense
from thincrm.models.features.draw import FeatureDraw
from thincrm.models.features.kernel import Features, Table
from thincrm.models.features.state import FeatureLocal, FeatureShard, log_chances
from thincrm.models.features.sweep import redraw_table
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key

__all__ = ["Rows", "draw_rows", "features_at", "log_likelihood", "row_items"]

_GOLDEN, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def features_at(draw: FeatureDraw, log_odds_TK: Float, real: bool) -> Features:
    """Return a draw's globals as the kernel takes them, gates at log odds `log_odds_TK`."""
    # copies: a loop would be compiled anew for read-only arrays
    feature, noise, log_mass = map(np.array, (draw.feature, draw.noise, draw.log_mass))
    return Features(feature, noise, *log_chances(log_odds_TK), log_mass, log_rest(log_mass), real)


def row_items(table: Table) -> Int:
    """Return the number of each group's random stream: a hash of its cells.

    So what is said of a row depends on it alone, not on its place or its company.
    """
    bits_NP = np.where(table.seen_NP > 0, table.value_NP, np.nan).view(np.uint64)
    place_P = np.arange(1, bits_NP.shape[1] + 1, dtype=np.uint64) * _GOLDEN
    mixed_NP = (bits_NP ^ (bits_NP >> np.uint64(29))) * (place_P | np.uint64(1))
    mixed_NP = (mixed_NP ^ (mixed_NP >> np.uint64(32))) * _MIX
    mixed_N = mixed_NP.sum(1, dtype=np.uint64)
    return np.asarray(np.add.reduceat(mixed_N, table.start_G[:-1]).view(np.int64))


class Rows:
    """Usages of some rows, redrawn under one draw of the globals after another.

    Consecutive draws of a chain have nearly the same features, so a few sweeps each are enough
    where rows need not `forget`.
    """

    def __init__(self, table: Table, n_features: int, real: bool, n_dense: int = 0) -> None:
        self.table, self.real = table, real
        self.shard = FeatureShard(table, np.zeros(0, np.int64))
        n_rows = len(table.value_NP)
        self.local = FeatureLocal(
            np.zeros((n_rows, n_features), np.int8),
            np.zeros((n_rows, n_features if real else 0)),
            np.zeros((n_rows, n_dense)),
        )

    def forget(self) -> None:
        """Let the rows use no feature."""
        self.local.used[:] = 0

    def redraw(self, rng: np.random.Generator, features: Features, n_sweeps: int) -> None:
        """Redraw the usages `n_sweeps` times."""
        for _ in range(n_sweeps):
            redraw_table(fresh_key(rng), self.shard, features, self.local)

    @property
    def usage(self) -> Float:
        """Return the (N, K) usages z s."""
        used, weight, _ = self.local
        return used * weight if self.real else used.astype(float)

    def mean(self, features: Features) -> Float:
        """Return the (N, P) sums of the rows' features, factors and level."""
        return self._rest(features) + self.local.dense @ self._loadings(features)

    def expected(self, features: Features) -> Float:
        """Return the (N, P) means of these sums given the features that rows use.

        Weights of factors are not drawn but summed out, so that fewer draws are as good.
        """
        rest_NP, dense_NL = self._rest(features), np.zeros_like(self.local.dense)
        if dense_NL.size == 0:
            return rest_NP
        n_used, n_dense = self.local.used.shape[1], dense_NL.shape[1]
        dense = dense_of(features.feature_FP, features.precision_P, n_used, n_dense)
        seen_NP = self.table.seen_NP
        left_NP = seen_NP * (self.table.value_NP - rest_NP)
        expect_dense(dense, seen_NP, left_NP, dense_NL)
        return rest_NP + dense_NL @ self._loadings(features)

    def _loadings(self, features: Features) -> Float:
        n_used, n_dense = self.local.used.shape[1], self.local.dense.shape[1]
        return features.feature_FP[n_used : n_used + n_dense]

    def _rest(self, features: Features) -> Float:
        """Return the (N, P) sums of the rows' features and level, without their factors."""
        n_used, feature_FP = self.local.used.shape[1], features.feature_FP
        n_free = n_used + self.local.dense.shape[1]
        level_NP = self.table.basis_NB[:, : len(feature_FP) - n_free] @ feature_FP[n_free:]
        return np.asarray(self.usage @ feature_FP[:n_used] + level_NP)


def draw_rows(
    rng: np.random.Generator, features: Features, start_G: Int, row_G: Int, n_dense: int = 0
) -> FeatureLocal:
    """Draw usages and weights from their prior: gates, then rows behind open ones."""
    n_rows, n_used = int(start_G[-1]), features.log_mass_K.size
    opened_GK = np.log(rng.random((row_G.size, n_used))) < features.log_open_TK[row_G]
    opened_NK = np.repeat(opened_GK, np.diff(start_G), axis=0)
    used = opened_NK & (np.log(rng.random((n_rows, n_used))) < features.log_mass_K)
    weight = rng.standard_normal((n_rows, n_used if features.real else 0))
    return FeatureLocal(used.astype(np.int8), weight, rng.standard_normal((n_rows, n_dense)))


def log_likelihood(
    rng: np.random.Generator, table: Table, features: Features, n_steps: int, n_dense: int = 0
) -> Float:
    """Return (G,) estimates of log p(seen cells of a group | globals).

    Annealed importance sampling (Neal 2001): usages start from their prior and take a sweep at
    each of `n_steps` powers of the likelihood, from 0 to 1. The exponentials of the estimates are
    unbiased.
    """
    rows = Rows(table, features.log_mass_K.size, features.real, n_dense)
    rows.local = draw_rows(rng, features, table.start_G, table.row_G, n_dense)
    power = np.linspace(0.0, 1.0, n_steps + 1) ** 3
    total_N = 0.5 * (table.seen_NP * np.log(features.precision_P / (2 * np.pi))).sum(1)
    for low, high in pairwise(power):
        if low > 0:
            rows.redraw(rng, features._replace(precision_P=low * features.precision_P), 1)
        left_NP = table.value_NP - table.seen_NP * rows.mean(features)
        total_N = total_N - 0.5 * (high - low) * (left_NP**2 @ features.precision_P)
    return np.asarray(np.add.reduceat(total_N, table.start_G[:-1]))
