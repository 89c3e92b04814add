"""Compiled: the rate of every held-out word in its document, summed over kept draws."""

from __future__ import annotations

import numpy as np

from thincrm.models.topics.kernel import Rates
from thincrm.numerics.compiled import compiled

__all__ = ["add_rates"]


@compiled
def add_rates(
    first: int,
    stop: int,
    row_D: np.ndarray,
    start_D: np.ndarray,
    word_N: np.ndarray,
    label_N: np.ndarray,
    held_start_D: np.ndarray,
    held_word_C: np.ndarray,
    rates: Rates,
    spread_TP: np.ndarray,
    scale_D: np.ndarray,
    cell_C: np.ndarray,
    total_D: np.ndarray,
) -> None:
    """Add lambda_dp to `cell_C` at held-out cells and lambda_d. to `total_D`.

    lambda_dp = sum_k R_dk P(p | k), R_dk = q_k (shape_k + n_dk) and P(p | k) as in `documents` for
    the document's topics; R_dk = u_tk, P(p | k) = theta_kp for the others, whose sum over all
    topics is spread_TP; all times scale_D. Words are sorted in documents and held-out cells.
    """
    theta_PK, u_TK = rates.theta_PK, rates.unused_TK
    count_K, used = np.zeros(u_TK.shape[1], np.int32), np.empty(u_TK.shape[1], np.int32)
    for d in range(first, stop):
        row, n_used, total = row_D[d], 0, 0.0
        for k in range(u_TK.shape[1]):
            total += u_TK[row, k]
        for n in range(start_D[d], start_D[d + 1]):
            k = label_N[n]
            if count_K[k] == 0:
                used[n_used] = k
                n_used += 1
            count_K[k] += 1
        for j in range(n_used):
            k = used[j]
            total += rates.gain_K[k] * (rates.shape_K[k] + count_K[k]) - u_TK[row, k]
        total_D[d] += total * scale_D[d]
        n = start_D[d]
        for cell in range(held_start_D[d], held_start_D[d + 1]):
            p = held_word_C[cell]
            rate = spread_TP[row, p]
            for j in range(n_used):
                k, c = used[j], count_K[used[j]]
                full = rates.gain_K[k] * (rates.shape_K[k] + c)
                rate += theta_PK[p, k] * (full * rates.fade_J[c] - u_TK[row, k])
            while n < start_D[d + 1] and word_N[n] < p:
                n += 1
            while n < start_D[d + 1] and word_N[n] == p:
                k, c = label_N[n], count_K[label_N[n]]
                rate += rates.gain_K[k] * (rates.shape_K[k] + c) * rates.echo_J[c]
                n += 1
            cell_C[cell] += rate * scale_D[d]
        for j in range(n_used):
            count_K[used[j]] = 0
