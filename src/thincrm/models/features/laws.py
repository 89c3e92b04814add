"""Features and variances given usages: normal and gamma laws, column by column."""

from __future__ import annotations

import numpy as np

from thincrm.models.features.kernel import Sums
from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import fresh_key, new_stream
from thincrm.numerics.threads import map_blocks
from thincrm.numerics.variates import gaussian_from_precision

__all__ = [
    "DENSE_PRIOR",
    "FEATURE_PRIOR",
    "LEVEL_PRIOR",
    "NOISE_PRIOR",
    "RATES",
    "Prior",
    "draw_features",
    "draw_noise",
    "draw_precision",
    "draw_rate",
]

Prior = tuple[float, float]  # Gamma(shape, rate)
NOISE_PRIOR: Prior = (1.0, 0.1)  # of 1 / sigma_p^2, in units of a column's variance
FEATURE_PRIOR: Prior = (1.0, 1.0)  # of 1 / sigma_A^2
DENSE_PRIOR: Prior = (0.5, 0.01)  # of the precision of a dense factor's entries: 0 if not needed
LEVEL_PRIOR: Prior = (0.5, 0.01)  # of the precisions of a column's slopes and curves
# the noise's rate beside dense factors: any of these; columns that determine each other exactly
# would make it vanish if there were no least one
RATES: Float = 10.0 ** -np.linspace(1.0, 7.0, 25)


def draw_features(
    rng: np.random.Generator, sums: Sums, precision_P: Float, prior_FP: Float
) -> Float:
    """Draw A_.p ~ N(V U'y w_p, V), V = (U'U w_p + diag(prior_p))^-1, over rows that see p.

    Features that no row uses have their prior.
    """
    out_FP: Float = rng.standard_normal(prior_FP.shape) / np.sqrt(prior_FP)
    place_U, key = np.flatnonzero(sums.whole_FF.diagonal()), fresh_key(rng)

    def work(first: int, stop: int) -> None:
        _draw_columns(
            first, stop, key, place_U, sums.gram_FFP, sums.cross_FP, precision_P, prior_FP, out_FP
        )

    map_blocks(work, precision_P.size, 16)
    return out_FP


@compiled
def _draw_columns(
    first: int, stop: int, key: np.uint64, place_U: np.ndarray, gram_FFP: np.ndarray,
    cross_FP: np.ndarray, precision_P: np.ndarray, prior_FP: np.ndarray, out_FP: np.ndarray,
) -> None:  # fmt: skip
    """Fill the entries of the features at `place_U`, which rows use, for columns [first, stop)."""
    size = place_U.size
    matrix_UU, shift_U, draw_U = np.empty((size, size)), np.empty(size), np.empty(size)
    for p in range(first, stop):
        for u in range(size):
            shift_U[u] = precision_P[p] * cross_FP[place_U[u], p]
            for v in range(u, size):
                matrix_UU[u, v] = precision_P[p] * gram_FFP[place_U[u], place_U[v], p]
            matrix_UU[u, u] += prior_FP[place_U[u], p]
        gaussian_from_precision(new_stream(key, p), matrix_UU, shift_U, draw_U)
        for u in range(size):
            out_FP[place_U[u], p] = draw_U[u]


def squared_error(sums: Sums, square_P: Float, feature_FP: Float) -> Float:
    """Return the (P,) sums of squared residuals over seen cells: y'y - 2 A'U'y + A'U'U A."""
    error_P = square_P - 2.0 * (feature_FP * sums.cross_FP).sum(0)
    return np.asarray(np.maximum(error_P + _explained(sums.gram_FFP, feature_FP), 0.0))


@compiled
def _explained(gram_FFP: np.ndarray, feature_FP: np.ndarray) -> np.ndarray:
    """Return the (P,) A'U'U A, of which the sums hold the upper half."""
    size, n_columns = feature_FP.shape
    total_P = np.zeros(n_columns)
    for f in range(size):
        for g in range(f, size):
            twice = 1.0 if f == g else 2.0
            for p in range(n_columns):
                total_P[p] += twice * gram_FFP[f, g, p] * feature_FP[f, p] * feature_FP[g, p]
    return total_P


def draw_noise(
    rng: np.random.Generator, cells_P: Float, error_P: Float, prior: Prior = NOISE_PRIOR
) -> Float:
    """Draw 1 / sigma_p^2 ~ Gamma(a + cells / 2, b + squared error / 2)."""
    shape, rate = prior
    return np.asarray(rng.gamma(shape + 0.5 * cells_P) / (rate + 0.5 * error_P))


def draw_rate(rng: np.random.Generator, noise_P: Float) -> float:
    """Draw the rate b of 1 / sigma_p^2 ~ Gamma(a, b): any of `RATES`, as likely beforehand."""
    log_weight = NOISE_PRIOR[0] * noise_P.size * np.log(RATES) - RATES * noise_P.sum()
    weight = np.exp(log_weight - log_weight.max())
    return float(rng.choice(RATES, p=weight / weight.sum()))


def draw_precision(
    rng: np.random.Generator, entries: Float, prior: Prior, axis: int | None = None
) -> Float:
    """Draw precisions of normals along an axis: Gamma(a + n / 2, b + sum of squares / 2)."""
    shape, rate = prior
    square: Float = np.asarray((entries**2).sum(axis))
    n_each = entries.size if axis is None else entries.shape[axis]
    size = None if axis is None else square.shape
    return np.asarray(rng.gamma(shape + 0.5 * n_each, size=size) / (rate + 0.5 * square))
