"""Two features with their usages summed out: how good a candidate is, and where better ones lie.

With features k and j taken out of the rows, a candidate vector a in place of k, beside b for j,
has the marginal likelihood (relative to neither being used)

    prod_groups  sum_{r_k, r_j}  P(r_k) P(r_j)  prod_n  sum_{z_k <= r_k, z_j <= r_j}
                 P(z_k) P(z_j) LR_n(z_k, z_j),

and expectation-maximisation steps climb it. That the partner's usages are summed out lets it
take over rows, or leave some: feature k may be split from it, or merge with it. With b = 0 the
partner is of no effect.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.models.features.kernel import Features, Table, happens, log_sum, residual
from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream
from thincrm.numerics.variates import normal

__all__ = ["Pair", "look_at", "strip", "take_up"]


class Pair(NamedTuple):
    """How readily two features are used: first the candidate's k, then its partner j."""

    log_open_2T: Float
    log_shut_2T: Float
    log_mass_2: Float
    log_rest_2: Float
    precision_P: Float
    real: bool


@compiled
def strip(
    first: int, stop: int, k: int, j: int, table: Table, features: Features,
    used_NK: np.ndarray, weight_NK: np.ndarray, dense_NL: np.ndarray, out_NP: np.ndarray,
) -> None:  # fmt: skip
    """Fill `out_NP` with the residuals, without features k and j, of groups [first, stop)."""
    without_K = np.empty(used_NK.shape[1], used_NK.dtype)
    for n in range(table.start_G[first], table.start_G[stop]):
        without_K[:] = used_NK[n]
        without_K[k] = 0
        if j >= 0:
            without_K[j] = 0
        residual(table, features, n, without_K, weight_NK[n], dense_NL[n], out_NP[n])


@compiled
def _weigh(
    n: int, table: Table, pair: Pair, left_NP: np.ndarray, a_P: np.ndarray, b_P: np.ndarray,
    law_9: np.ndarray,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the log ratios to (0, 0) of row n using (k), (j) and (both).

    Fills `law_9` with the weights' laws: mean and variance of k alone, of j alone, then with both
    the two means, the two variances and the covariance.
    """
    gain_a, gain_b, size_a, size_b, cross = 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(a_P.size):
        scaled_a, scaled_b = pair.precision_P[p] * a_P[p], pair.precision_P[p] * b_P[p]
        seen = table.seen_NP[n, p]
        gain_a += scaled_a * left_NP[n, p]
        gain_b += scaled_b * left_NP[n, p]
        size_a += scaled_a * a_P[p] * seen
        size_b += scaled_b * b_P[p] * seen
        cross += scaled_a * b_P[p] * seen
    if not pair.real:
        alone_a, alone_b = gain_a - 0.5 * size_a, gain_b - 0.5 * size_b
        law_9[:] = 0.0
        law_9[0] = law_9[2] = law_9[4] = law_9[5] = 1.0
        return alone_a, alone_b, alone_a + alone_b - cross
    spread_a, spread_b = 1.0 / (1.0 + size_a), 1.0 / (1.0 + size_b)
    law_9[0], law_9[1] = spread_a * gain_a, spread_a
    law_9[2], law_9[3] = spread_b * gain_b, spread_b
    det = (1.0 + size_a) * (1.0 + size_b) - cross * cross
    law_9[6], law_9[7], law_9[8] = (1.0 + size_b) / det, (1.0 + size_a) / det, -cross / det
    law_9[4] = law_9[6] * gain_a + law_9[8] * gain_b
    law_9[5] = law_9[8] * gain_a + law_9[7] * gain_b
    return (
        0.5 * (math.log(spread_a) + law_9[0] * gain_a),
        0.5 * (math.log(spread_b) + law_9[2] * gain_b),
        0.5 * (-math.log(det) + law_9[4] * gain_a + law_9[5] * gain_b),
    )


@compiled
def _row_terms(
    pair: Pair, ratio_a: float, ratio_b: float, ratio_ab: float
) -> tuple[float, float, float]:
    """Return the log sums over a row's usages where k, j, or both are open."""
    mass_a, mass_b = pair.log_mass_2[0], pair.log_mass_2[1]
    rest_a, rest_b = pair.log_rest_2[0], pair.log_rest_2[1]
    open_a = log_sum(rest_a, mass_a + ratio_a)
    open_b = log_sum(rest_b, mass_b + ratio_b)
    without_b = rest_b + open_a
    with_b = mass_b + log_sum(rest_a + ratio_b, mass_a + ratio_ab)
    return open_a, open_b, log_sum(without_b, with_b)


@compiled
def _gate_terms(t: int, pair: Pair, sum_3: np.ndarray, out_4: np.ndarray) -> float:
    """Fill the log weights of the gates (neither, k, j, both); return their log sum."""
    open_a, open_b = pair.log_open_2T[0, t], pair.log_open_2T[1, t]
    shut_a, shut_b = pair.log_shut_2T[0, t], pair.log_shut_2T[1, t]
    out_4[0] = shut_a + shut_b
    out_4[1] = open_a + shut_b + sum_3[0]
    out_4[2] = shut_a + open_b + sum_3[1]
    out_4[3] = open_a + open_b + sum_3[2]
    return log_sum(log_sum(out_4[0], out_4[1]), log_sum(out_4[2], out_4[3]))


@compiled
def look_at(
    first: int, stop: int, table: Table, pair: Pair, left_NP: np.ndarray,
    a_P: np.ndarray, b_P: np.ndarray, pull_2P: np.ndarray,
) -> float:  # fmt: skip
    """Return the log marginal likelihood of groups [first, stop).

    Adds to `pull_2P` the expectations of sum u (e - v b) and of sum u^2 over seen cells, u and v
    a row's usages of k and j.
    """
    total, law_9 = 0.0, np.empty(9)
    sum_3, gate_4 = np.empty(3), np.empty(4)
    mass_a, mass_b, rest_b = pair.log_mass_2[0], pair.log_mass_2[1], pair.log_rest_2[1]
    for g in range(first, stop):
        t, begin, end = table.row_G[g], table.start_G[g], table.start_G[g + 1]
        sum_3[:] = 0.0
        for n in range(begin, end):
            ratio_a, ratio_b, ratio_ab = _weigh(n, table, pair, left_NP, a_P, b_P, law_9)
            open_a, open_b, open_ab = _row_terms(pair, ratio_a, ratio_b, ratio_ab)
            sum_3[0] += open_a
            sum_3[1] += open_b
            sum_3[2] += open_ab
        whole = _gate_terms(t, pair, sum_3, gate_4)
        total += whole
        only_a, both = math.exp(gate_4[1] - whole), math.exp(gate_4[3] - whole)
        if only_a + both < 1e-12:
            continue
        for n in range(begin, end):
            if end - begin > 1:
                ratio_a, ratio_b, ratio_ab = _weigh(n, table, pair, left_NP, a_P, b_P, law_9)
                open_a, open_b, open_ab = _row_terms(pair, ratio_a, ratio_b, ratio_ab)
            alone = only_a * math.exp(mass_a + ratio_a - open_a)
            alone += both * math.exp(mass_a + rest_b + ratio_a - open_ab)
            joint = both * math.exp(mass_a + mass_b + ratio_ab - open_ab)
            once = alone * law_9[0] + joint * law_9[4]
            twice = alone * (law_9[1] + law_9[0] ** 2) + joint * (law_9[6] + law_9[4] ** 2)
            shared = joint * (law_9[8] + law_9[4] * law_9[5])
            if twice < 1e-12:
                continue
            for p in range(a_P.size):
                seen = table.seen_NP[n, p]
                pull_2P[0, p] += once * left_NP[n, p] - shared * b_P[p] * seen
                pull_2P[1, p] += twice * seen
    return total


@compiled
def take_up(
    first: int, stop: int, key: np.uint64, k: int, j: int, table: Table, pair: Pair,
    left_NP: np.ndarray, a_P: np.ndarray, b_P: np.ndarray,
    used_NK: np.ndarray, weight_NK: np.ndarray,
) -> None:  # fmt: skip
    """Draw, in place, gates, usages and weights of features k and j (j < 0: there is none)."""
    law_9, sum_3, gate_4 = np.empty(9), np.empty(3), np.empty(4)
    mass_a, mass_b = pair.log_mass_2[0], pair.log_mass_2[1]
    rest_a, rest_b = pair.log_rest_2[0], pair.log_rest_2[1]
    for g in range(first, stop):
        state, t = new_stream(key, table.item_G[g]), table.row_G[g]
        begin, end = table.start_G[g], table.start_G[g + 1]
        sum_3[:] = 0.0
        for n in range(begin, end):
            ratio_a, ratio_b, ratio_ab = _weigh(n, table, pair, left_NP, a_P, b_P, law_9)
            open_a, open_b, open_ab = _row_terms(pair, ratio_a, ratio_b, ratio_ab)
            sum_3[0] += open_a
            sum_3[1] += open_b
            sum_3[2] += open_ab
        _gate_terms(t, pair, sum_3, gate_4)
        shut_b, opened_b = log_sum(gate_4[0], gate_4[1]), log_sum(gate_4[2], gate_4[3])
        gate_b = shut_b == -np.inf or happens(state, opened_b - shut_b)
        shut_a, opened_a = (gate_4[2], gate_4[3]) if gate_b else (gate_4[0], gate_4[1])
        gate_a = shut_a == -np.inf or happens(state, opened_a - shut_a)
        for n in range(begin, end):
            ratio_a, ratio_b, ratio_ab = _weigh(n, table, pair, left_NP, a_P, b_P, law_9)
            without_b, with_b = 0.0, ratio_b
            if gate_a:
                without_b = log_sum(rest_a, mass_a + ratio_a)
                with_b = log_sum(rest_a + ratio_b, mass_a + ratio_ab)
            use_b = gate_b and happens(state, mass_b + with_b - rest_b - without_b)
            gain_a = ratio_ab - ratio_b if use_b else ratio_a
            use_a = gate_a and happens(state, mass_a - rest_a + gain_a)
            used_NK[n, k] = 1 if use_a else 0
            if j >= 0:
                used_NK[n, j] = 1 if use_b else 0
            if pair.real:
                _draw_weights(state, law_9, use_a, use_b, k, j, weight_NK[n])


@compiled
def _draw_weights(
    state: np.ndarray, law_9: np.ndarray, use_a: bool, use_b: bool, k: int, j: int,
    weight_K: np.ndarray,
) -> None:  # fmt: skip
    if use_a and use_b and j >= 0:
        step = normal(state)
        weight_K[k] = law_9[4] + math.sqrt(law_9[6]) * step
        slope = law_9[8] / math.sqrt(law_9[6])
        left = math.sqrt(max(law_9[7] - slope * slope, 0.0))
        weight_K[j] = law_9[5] + slope * step + left * normal(state)
    elif use_a:
        weight_K[k] = law_9[0] + math.sqrt(law_9[1]) * normal(state)
    elif use_b and j >= 0:
        weight_K[j] = law_9[2] + math.sqrt(law_9[3]) * normal(state)
