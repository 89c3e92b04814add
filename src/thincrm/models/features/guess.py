"""A first guess of usages: sources that take two values, independent where the covariate is alike.

Given the covariate, rows that are sums of features use them independently of one another. So, for
rows of alike covariates and centred there, with A the features and noise on the diagonal,

    covariance = A' diag(variances of the usages) A + noise,    higher cumulants: A, and no noise

The variances differ from covariate to covariate. Factors above the noise, scaled to unit variance,
are a rotation of the usages; that which makes the covariances of all covariates, the third and
some of the fourth cumulants as diagonal as can be takes them apart (joint diagonalisation, as in
JADE: Cardoso and Souloumiac 1993). Each source is then cut in two.
"""

from __future__ import annotations

import numpy as np

from thincrm.models.features.kernel import Table
from thincrm.numerics.arrays import Bool, Float, Int
from thincrm.numerics.joint_diagonal import joint_rotation

__all__ = ["guess_usages", "guess_weights", "runs_of"]

_MOST_ROWS = 10_000
_FEWEST_ROWS, _MOST_RUNS = 30, 30
_STEPS = 15
_LEAST_NOISE = 0.02  # of a column's variance


def runs_of(trials_T: Int) -> Int:
    """Return, for rows sorted by covariate, numbers of runs of alike covariates, about equal."""
    size = max(_FEWEST_ROWS, trials_T.sum() / _MOST_RUNS)
    middle_T = np.cumsum(trials_T) - 0.5 * trials_T
    last = max(int(trials_T.sum() // size) - 1, 0)
    run_T = np.minimum(middle_T // size, last).astype(np.int64)
    return np.repeat(np.unique(run_T, return_inverse=True)[1], trials_T)


def guess_usages(table: Table, run_N: Int, n_most: int, background: bool) -> np.ndarray:
    """Return (N, D) guessed usages, D <= n_most; holes are taken for their column's mean.

    run_N: usages are taken to be independent of one another within runs of rows.
    """
    seen_NP = table.seen_NP
    mean_P = table.value_NP.sum(0) / np.maximum(seen_NP.sum(0), 1.0)
    centred_NP = (table.value_NP - mean_P) * seen_NP
    some = slice(None, None, -(-len(centred_NP) // _MOST_ROWS))
    inside_NP = _within(centred_NP[some], seen_NP[some], run_N[some])
    white_DP = _whitener(inside_NP, n_most)
    if white_DP.shape[0] == 0:
        return np.zeros((len(centred_NP), 0), np.int8)
    rotation_DD = joint_rotation(_cumulants(inside_NP @ white_DP.T, run_N[some]))
    source_ND = centred_NP @ (rotation_DD @ white_DP).T
    used_ND = np.stack([_cut(source) for source in source_ND.T], axis=1)
    return _orient(used_ND, centred_NP, mean_P, background).astype(np.int8)


def guess_weights(table: Table, n_factors: int) -> Float:
    """Return (N, n_factors) weights of unit size: principal components, holes refilled by them.

    Only components above what unrelated columns give (Marchenko and Pastur 1967); 0 for the others,
    which would take single columns' noise for factors and let go of it slowly.
    """
    seen_NP = table.seen_NP
    mean_P = table.value_NP.sum(0) / np.maximum(seen_NP.sum(0), 1.0)
    centred_NP = (table.value_NP - mean_P) * seen_NP
    spread_P = np.sqrt((centred_NP**2).sum(0) / np.maximum(seen_NP.sum(0), 1.0))
    centred_NP /= np.where(spread_P > 0, spread_P, 1.0)
    filled_NP, n_rows = centred_NP, len(centred_NP)
    edge = (1.0 + np.sqrt(len(mean_P) / n_rows)) ** 2
    for _ in range(_STEPS):
        size_M, direction_PM, noise = _principal(filled_NP)
        kept = np.flatnonzero(size_M > max(edge * noise, 1e-12))[::-1][:n_factors]
        direction_PD, size_D = direction_PM[:, kept], size_M[kept]
        guess_NP = (filled_NP @ direction_PD * (1.0 - noise / size_D)) @ direction_PD.T
        filled_NP = np.where(seen_NP > 0, centred_NP, guess_NP)
    weight_NL = np.zeros((n_rows, n_factors))
    weight_NL[:, : kept.size] = filled_NP @ direction_PD / np.sqrt(size_D)
    return weight_NL


def _within(value_NP: Float, seen_NP: Float, run_N: Int) -> Float:
    """Return the values less their runs' means, 0 at holes."""
    shape = (int(run_N.max()) + 1, value_NP.shape[1])
    total_GP, cells_GP = np.zeros(shape), np.zeros(shape)
    np.add.at(total_GP, run_N, value_NP)
    np.add.at(cells_GP, run_N, seen_NP)
    return np.asarray((value_NP - (total_GP / np.maximum(cells_GP, 1.0))[run_N]) * seen_NP)


def _whitener(centred_NP: Float, n_most: int) -> Float:
    """Return (D, P) factors of unit variance, those that rise above the noise.

    Principal factors, each column's noise estimated in turn with them. Unrelated columns of unit
    noise have a largest eigenvalue (Marchenko and Pastur 1967): factors are above it.
    """
    n_rows, n_columns = centred_NP.shape
    # of a wide table the products of all columns would take their square in memory
    both_PP = None if n_rows < n_columns else centred_NP.T @ centred_NP / n_rows
    own_P = (centred_NP**2).sum(0) / n_rows if both_PP is None else np.diag(both_PP)
    variance_P = np.maximum(own_P, 1e-12)
    noise_P = variance_P
    for _ in range(_STEPS):
        spread_P = np.sqrt(noise_P)
        size_M, direction_PM, middle = (
            _of_rows(centred_NP / spread_P)
            if both_PP is None
            else _of_columns(both_PP / spread_P / spread_P[:, None])
        )
        edge = max(1.0, middle) * (1.0 + np.sqrt(n_columns / n_rows)) ** 2
        kept = np.flatnonzero(size_M > edge)[::-1][:n_most]
        size_D, direction_PD = size_M[kept] - 1.0, direction_PM[:, kept]
        common_P = noise_P * (direction_PD**2 @ size_D)
        noise_P = np.maximum(variance_P - common_P, _LEAST_NOISE * variance_P)
    return np.asarray((direction_PD / np.sqrt(size_D)).T / spread_P)


def _principal(value_NP: Float) -> tuple[Float, Float, float]:
    """Return eigenvalues (M,) and -vectors (P, M) of the covariance, and the median of all P."""
    n_rows, n_columns = value_NP.shape
    if n_rows < n_columns:
        return _of_rows(value_NP)
    return _of_columns(value_NP.T @ value_NP / n_rows)


def _of_columns(covariance_PP: Float) -> tuple[Float, Float, float]:
    size_P, direction_PP = np.linalg.eigh(covariance_PP)
    return size_P, direction_PP, float(np.median(size_P))


def _of_rows(value_NP: Float) -> tuple[Float, Float, float]:
    """Return what `_principal` does from the products of rows: the cost is N^2 P, not P^3.

    There are M = N eigenvalues; the other P - N are 0.
    """
    n_rows, n_columns = value_NP.shape
    size_N, left_NN = np.linalg.eigh(value_NP @ value_NP.T / n_rows)
    length_N = np.sqrt(n_rows * np.maximum(size_N, np.finfo(float).tiny))
    median = float(np.median(np.concatenate([np.zeros(n_columns - n_rows), size_N])))
    return size_N, value_NP.T @ left_NN / length_N, median


def _cumulants(white_ND: Float, run_N: Int) -> Float:
    """Return (M, D, D) matrices that are diagonal for sources independent within runs.

    The runs' covariances less their mean; third cumulants by D directions, and fourth by D pairs of
    like directions; all in units of about their own errors.
    """
    n_rows, size = white_ND.shape
    rows_G = np.bincount(run_N)
    covariance_GDD = np.stack(
        [white_ND[run_N == g].T @ white_ND[run_N == g] for g in range(rows_G.size)]
    )
    covariance_GDD /= np.maximum(rows_G, 1)[:, None, None]
    share_G = rows_G / n_rows
    mean_DD = np.tensordot(share_G, covariance_GDD, 1)
    found = list((covariance_GDD - mean_DD) * np.sqrt(share_G)[:, None, None])
    for d in range(size):
        once_N = white_ND[:, d]
        found.append((white_ND * once_N[:, None]).T @ white_ND / n_rows)
        fourth_DD = (white_ND * (once_N**2)[:, None]).T @ white_ND / n_rows
        across_GD = covariance_GDD[:, d]
        fourth_DD -= np.tensordot(share_G * across_GD[:, d], covariance_GDD, 1)
        found.append(fourth_DD - 2.0 * (across_GD * share_G[:, None]).T @ across_GD)
    return np.stack(found)


def _cut(source_N: Float) -> Bool:
    """Return which rows are in the upper of two clusters: the best 2-means on a line."""
    sorted_N = np.sort(source_N)
    below = np.arange(1, sorted_N.size)
    total = np.cumsum(sorted_N)
    apart = total[:-1] / below - (total[-1] - total[:-1]) / below[::-1]
    best = int(np.argmax(apart**2 * below * below[::-1]))
    return np.asarray(source_N > 0.5 * (sorted_N[best] + sorted_N[best + 1]))


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
