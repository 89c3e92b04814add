"""A first guess of usages: independent components that take two values.

Rows that are sums of features used independently of one another are a linear mixture of
independent binary sources plus noise. Principal components above the noise keep the mixture,
independent components (FastICA, Hyvärinen 1999) take it apart, and each is cut in two.
"""

from __future__ import annotations

import numpy as np

from thincrm.likelihood.linear_gaussian import Table
from thincrm.numerics.arrays import Bool, Float

__all__ = ["guess_usages"]

_MOST_ROWS = 10_000
_MOST_ITERATIONS = 200


def guess_usages(
    rng: np.random.Generator, table: Table, n_most: int, background: bool
) -> np.ndarray:
    """Return (N, D) guessed usages, D <= n_most; holes are taken for their column's mean."""
    seen_NP = table.seen_NP
    mean_P = table.value_NP.sum(0) / np.maximum(seen_NP.sum(0), 1.0)
    centred_NP = (table.value_NP - mean_P) * seen_NP
    white_DP = _whitener(centred_NP, n_most)
    if white_DP.shape[0] == 0:
        return np.zeros((len(centred_NP), 0), np.int8)
    source_ND = centred_NP @ white_DP.T
    some = source_ND
    if len(some) > _MOST_ROWS:
        some = some[rng.choice(len(some), _MOST_ROWS, replace=False)]
    source_ND = source_ND @ _unmix(rng, some).T
    used_ND = np.stack([_cut(source) for source in source_ND.T], axis=1)
    return _orient(used_ND, centred_NP, mean_P, background).astype(np.int8)


def _whitener(centred_NP: Float, n_most: int) -> Float:
    """Return the (D, P) scaled principal directions that rise above the noise.

    The noise's largest eigenvalue is that of unrelated columns of the same variance (Marchenko and
    Pastur 1967).
    """
    n_rows, n_columns = centred_NP.shape
    size_P, direction_PP = np.linalg.eigh(centred_NP.T @ centred_NP / n_rows)
    edge = max(size_P.mean(), 1e-12) * (1.0 + np.sqrt(n_columns / n_rows)) ** 2
    kept = np.flatnonzero(size_P > edge)[::-1][:n_most]
    return np.asarray(direction_PP[:, kept].T / np.sqrt(size_P[kept])[:, None])


def _unmix(rng: np.random.Generator, white_ND: Float) -> Float:
    """Return the (D, D) rotation to independent components: symmetric FastICA, log cosh."""
    n_rows, size = white_ND.shape
    rotation_DD = _nearest_rotation(rng.standard_normal((size, size)))
    for _ in range(_MOST_ITERATIONS):
        bent_ND = np.tanh(white_ND @ rotation_DD.T)
        slope_D = (1.0 - bent_ND**2).mean(0)
        new_DD = _nearest_rotation(bent_ND.T @ white_ND / n_rows - slope_D[:, None] * rotation_DD)
        turned = np.abs(np.einsum("ij,ij->i", new_DD, rotation_DD))
        rotation_DD = new_DD
        if np.all(turned > 1.0 - 1e-6):
            break
    return rotation_DD


def _nearest_rotation(matrix_DD: Float) -> Float:
    left, _, right = np.linalg.svd(matrix_DD)
    return np.asarray(left @ right)


def _cut(source_N: Float) -> Bool:
    """Return which rows are in the upper of two clusters (2-means on a line)."""
    low, high = np.quantile(source_N, [0.1, 0.9])
    upper_N = source_N > 0.5 * (low + high)
    for _ in range(50):
        if upper_N.all() or not upper_N.any():
            break
        middle = 0.5 * (source_N[upper_N].mean() + source_N[~upper_N].mean())
        new_N = source_N > middle
        if np.array_equal(new_N, upper_N):
            break
        upper_N = new_N
    return np.asarray(upper_N)


def _orient(used_ND: np.ndarray, centred_NP: Float, mean_P: Float, background: bool) -> np.ndarray:
    """Return usages, some turned into their complements: which is which the sources cannot tell.

    With a background the rarer value is the use of a feature; without one, that which leaves the
    least level where nothing is used (greedily).
    """
    if background:
        return np.asarray(used_ND ^ (used_ND.mean(0) > 0.5))
    share_D = used_ND.mean(0)
    effect_DP = np.linalg.lstsq(used_ND - share_D, centred_NP, rcond=None)[0]
    level_P, flipped_D = mean_P - share_D @ effect_DP, np.zeros(share_D.size, bool)
    for _ in range(2 * share_D.size):
        sign_D = np.where(flipped_D, -1.0, 1.0)
        tried_DP = level_P + sign_D[:, None] * effect_DP
        size_D = (tried_DP**2).sum(1)
        best = int(size_D.argmin())
        if size_D[best] >= (level_P**2).sum():
            break
        level_P, flipped_D[best] = tried_DP[best], ~flipped_D[best]
    return np.asarray(used_ND ^ flipped_D)
