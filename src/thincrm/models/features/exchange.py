"""Dense factors and the level exchange what they explain: exact draws, the rows' sums stay.

Given the rows' weights f, entries D and C hardly move where the level explains what factors could,
and a factor what others could; so chains crawl. Along

    f_l - x c,    C + c D_l          a factor gives up a function of the covariate to the level
    f_l - a f_m,  D_m + a D_l        a factor gives up another one
    g f_l,        D_l / g            a factor's weights grow, its entries shrink

every row's sum f D + x C is the same, so that only the priors say how far to go: c and a are
normal; log g, with the precision tau_l integrated out, has the log-concave density

    (N - P) log g - g^2 |f_l|^2 / 2 - (shape + P / 2) log(rate + sum_p D_lp^2 / (2 g^2 sigma_p^2)).

(Liu and Sabatti 2000: a draw over the orbit of a group, by its Haar measure.)
"""

from __future__ import annotations

import math

import numpy as np

from thincrm.models.features.laws import DENSE_PRIOR, draw_precision
from thincrm.models.features.state import FeatureProblem, FeatureState, prior_of
from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.slice import slice_move
from thincrm.numerics.streams import fresh_key, new_stream
from thincrm.numerics.variates import gaussian_from_precision, normal

__all__ = ["exchange"]

_WIDTH = 0.2  # of a slice of log g


def exchange(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Move the factors' entries and the level along the directions that leave rows' sums alone.

    The weights themselves are not moved, nor is the evidence: this must be followed by a redraw of
    the usages, which draws the weights anew, whatever they are. Without factors nothing moves.
    """
    own, n_atoms, n_dense = state.own, problem.n_atoms, problem.likelihood.n_dense
    if n_dense == 0:
        return state
    feature = own.feature.copy()
    dense_LP, level_BP = feature[n_atoms:][:n_dense], feature[n_atoms + n_dense :]
    whole = state.evidence.whole[n_atoms:, n_atoms:]
    gram = whole + np.triu(whole, 1).T
    prior_BP = prior_of(problem, own)[n_atoms + n_dense :]
    trade(new_stream(fresh_key(rng), 0), gram, dense_LP, level_BP, prior_BP, own.dense, own.noise)
    dense_LP /= np.exp(log_growth(rng, problem.facts.n_rows, gram, dense_LP, own.noise))[:, None]
    dense = draw_precision(rng, dense_LP * np.sqrt(own.noise), DENSE_PRIOR, 1)
    return state.with_own(feature=feature, dense=dense)


def log_growth(
    rng: np.random.Generator, n_rows: int, gram: Float, dense_LP: Float, noise_P: Float
) -> Float:
    """Draw log g of every factor by a slice move from 0."""
    (shape, rate), (n_dense, n_columns) = DENSE_PRIOR, dense_LP.shape
    weight_L, entry_L = gram.diagonal()[:n_dense], (dense_LP**2 * noise_P).sum(1)

    def log_density(log_g: Float) -> Float:
        square = np.exp(2.0 * log_g)
        size = np.log(rate + 0.5 * entry_L / square)
        return np.asarray(
            (n_rows - n_columns) * log_g
            - 0.5 * square * weight_L
            - (shape + 0.5 * n_columns) * size
        )

    return slice_move(rng, np.zeros(n_dense), log_density, width=_WIDTH)


@compiled
def trade(
    stream: np.ndarray, gram: np.ndarray, dense_LP: np.ndarray, level_BP: np.ndarray,
    prior_BP: np.ndarray, tau_L: np.ndarray, noise_P: np.ndarray,
) -> None:  # fmt: skip
    """Move entries in place: factor after factor gives up to the level, then to other factors.

    gram: sums over the rows of products of weights and of the level's functions, kept up to date.
    """
    n_dense, n_level = len(dense_LP), len(level_BP)
    matrix, shift, step = np.empty((n_level, n_level)), np.empty(n_level), np.empty(n_level)
    for f in range(n_dense if n_level > 0 else 0):
        for b in range(n_level):
            shift[b] = gram[n_dense + b, f]
            for c in range(n_level):
                matrix[b, c] = gram[n_dense + b, n_dense + c]
            for p in range(noise_P.size):
                shift[b] -= prior_BP[b, p] * level_BP[b, p] * dense_LP[f, p]
                matrix[b, b] += prior_BP[b, p] * dense_LP[f, p] ** 2
        gaussian_from_precision(stream, matrix, shift, step)
        for b in range(n_level):
            for p in range(noise_P.size):
                level_BP[b, p] += step[b] * dense_LP[f, p]
            _subtract(gram, f, n_dense + b, step[b])
    for f in range(n_dense):
        for g in range(n_dense):
            if f == g:
                continue
            size, overlap = 0.0, 0.0
            for p in range(noise_P.size):
                size += noise_P[p] * dense_LP[f, p] ** 2
                overlap += noise_P[p] * dense_LP[f, p] * dense_LP[g, p]
            precision = gram[g, g] + tau_L[g] * size
            mean = (gram[f, g] - tau_L[g] * overlap) / precision
            share = mean + normal(stream) / math.sqrt(precision)
            for p in range(noise_P.size):
                dense_LP[g, p] += share * dense_LP[f, p]
            _subtract(gram, f, g, share)


@compiled
def _subtract(gram: np.ndarray, f: int, g: int, share: float) -> None:
    """Let usage f be u_f - share u_g."""
    for h in range(len(gram)):
        gram[f, h] -= share * gram[g, h]
    for h in range(len(gram)):
        gram[h, f] -= share * gram[h, g]
