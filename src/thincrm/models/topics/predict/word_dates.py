"""What a document's words say about its time: multinomial regression with smooth coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from thincrm.data.counts import CountMatrix
from thincrm.models.topics.predict.time_curves import TimeCurves
from thincrm.numerics.arrays import Float, Int

__all__ = ["WordDates", "fit_word_dates", "log_frequency", "word_rarity"]

_MOST_STEPS, _TOLERANCE = 100, 1e-5


@dataclass(frozen=True, slots=True)
class WordDates:
    """Words' log multipliers through time, beta_w(t) = B(t) v_w, and what they say of documents.

    Attributes
    ----------
    curves : TimeCurves
        B(t).
    rarity_P : (P,) float
        How much a word counts: log((1 + D) / (1 + documents with it)) + 1.
    weight_PR : (P, R) float
        v_w.
    """

    curves: TimeCurves
    rarity_P: Float
    weight_PR: Float

    def features(self, counts: CountMatrix) -> sparse.csr_array:
        """Return x_dw ~ (1 + log n_dw) rarity_w, of length one in every document."""
        return word_features(counts, self.rarity_P)

    def log_evidence(self, counts: CountMatrix, rows_NC: Float) -> Float:
        """Return the (D, N) sums over words of x_dw beta_w(t): 0 for a document without words."""
        return np.asarray((self.features(counts) @ self.weight_PR) @ self.curves.at(rows_NC).T)


def word_rarity(counts: CountMatrix) -> Float:
    """Return log((1 + D) / (1 + documents with the word)) + 1 of each word."""
    seen_P = np.bincount(counts.indices[counts.data > 0], minlength=counts.shape[1])
    return np.asarray(np.log((1.0 + counts.shape[0]) / (1.0 + seen_P)) + 1.0)


def word_features(counts: CountMatrix, rarity_P: Float) -> sparse.csr_array:
    """Return the (D, P) features of documents (see `WordDates.features`)."""
    data = (1.0 + np.log(np.maximum(counts.data, 1))) * rarity_P[counts.indices] * (counts.data > 0)
    owner = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    length_D = np.sqrt(np.bincount(owner, data**2, minlength=counts.shape[0]))
    return sparse.csr_array(
        (data / np.maximum(length_D, 1e-300)[owner], counts.indices, counts.indptr),
        shape=counts.shape,
    )


def log_frequency(row_D: Int, n_rows: int) -> Float:
    """Return log of the share of documents in each row, half a document added to each."""
    seen_T = np.bincount(row_D, minlength=n_rows) + 0.5
    return np.asarray(np.log(seen_T / seen_T.sum()))


def fit_word_dates(
    counts: CountMatrix,
    row_D: Int,
    curves: TimeCurves,
    variance: float,
    first_PR: Float | None = None,
) -> WordDates:
    """Fit P(row t | words of d) ~ frequency_t exp(sum_w x_dw beta_w(t)) to dated documents.

    The most probable v under v_w ~ N(0, variance I): beta_w is a priori a Gaussian process of this
    variance, so that neighbouring times learn from each other and rare words say little.

    Parameters
    ----------
    counts : (D, P) sparse int
        Documents.
    row_D : (D,) int
        Place of `curves` that each document is from; places without documents are allowed.
    curves : TimeCurves
        The basis.
    variance : float
        Of beta_w(t) before data.
    first_PR : (P, R) float or None
        Where the search starts.
    """
    rarity_P = word_rarity(counts)
    x_DP, basis_TR = word_features(counts, rarity_P), curves.at(curves.rows)
    x_PD = x_DP.T.tocsr()
    shape = (counts.shape[1], basis_TR.shape[1])
    offset_T, every = log_frequency(row_D, len(basis_TR)), np.arange(row_D.size)

    def loss(flat: Float) -> tuple[float, Float]:
        weight_PR = flat.reshape(shape)
        score_DT = (x_DP @ weight_PR) @ basis_TR.T + offset_T
        score_DT -= score_DT.max(axis=1, keepdims=True)
        hit_D = score_DT[every, row_D]
        np.exp(score_DT, out=score_DT)
        total_D = score_DT.sum(axis=1)
        value = float(np.log(total_D).sum() - hit_D.sum() + 0.5 * (flat @ flat) / variance)
        score_DT /= total_D[:, None]
        score_DT[every, row_D] -= 1.0
        slope_PR = x_PD @ (score_DT @ basis_TR) + weight_PR / variance
        return value, np.asarray(slope_PR).reshape(-1)

    start = np.zeros(shape) if first_PR is None else first_PR
    found = minimize(
        loss,
        start.reshape(-1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MOST_STEPS, "ftol": _TOLERANCE},
    )
    return WordDates(curves, rarity_P, np.asarray(found.x).reshape(shape))
