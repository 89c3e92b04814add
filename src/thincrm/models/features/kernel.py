"""Rows of a table as sums of features, holes left out.

    y_n = sum_k z_nk s_nk A_k + sum_l f_nl D_l + sum_b x_nb C_b + noise

with thinned features A, dense factors D that every row uses with weights f ~ N(0, 1), and a level
C of known usages x (a constant, functions of the covariate).

A *group* is a run of rows behind one gate: r ~ Bernoulli(p_k); shut, no row of the group uses
feature k; open, each does with probability pi_k. Given the features, groups are independent, and
gate and usages are drawn together, the usages summed out of the gate:

    odds(r = 1) = p_k / (1 - p_k)  prod_n [(1 - pi_k) + pi_k LR_n],   odds(z_n = 1 | r = 1) =
    pi_k LR_n / (1 - pi_k)

With w_p = 1 / sigma_p^2, e the row's residual without feature k, sums over its seen cells,
g = sum_p w_p A_kp e_p and a = sum_p w_p A_kp^2, the likelihood ratio of z = 1 to z = 0 is

    s = 1:          log LR = g - a / 2
    s ~ N(0, 1):    log LR = log(v) / 2 + v g^2 / 2,  v = 1 / (1 + a),  then s | z = 1 ~ N(v g, v)

Beside dense factors their weights are summed out of g and a, and drawn at last (`dense_kernel`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.models.features.dense_kernel import (
    Dense,
    dense_of,
    draw_dense,
    holes_of,
    overlap,
    sum_out,
)
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, uniform
from thincrm.numerics.variates import normal

__all__ = [
    "Features",
    "Sums",
    "Table",
    "add_rows",
    "as_table",
    "happens",
    "log_sum",
    "redraw_rows",
    "residual",
]

_TURN = 2.0 * math.pi
_NEVER = -37.0  # log odds below those of any uniform number


class Table(NamedTuple):
    """A table with holes, its rows in runs that share gates.

    value_NP is 0 and seen_NP is 0 at a hole (seen_NP is 1 elsewhere).
    """

    value_NP: np.ndarray
    seen_NP: np.ndarray
    start_G: np.ndarray  # G + 1: where the groups' rows begin
    row_G: np.ndarray  # G: covariate row of each group
    item_G: np.ndarray  # G: number of each group's random stream
    basis_NB: np.ndarray  # known usages of the level; the constant comes last


class Features(NamedTuple):
    """What rows are made of."""

    feature_FP: Float  # K thinned features, L dense factors, B of the level (F = K + L + B)
    precision_P: Float  # 1 / sigma_p^2
    log_open_TK: Float  # log p, at the covariate rows
    log_shut_TK: Float  # log (1 - p)
    log_mass_K: Float  # log pi
    log_rest_K: Float  # log (1 - pi)
    real: bool  # weights s ~ N(0, 1), not 1


class Sums(NamedTuple):
    """What rows say of the features: sums over the rows that see column p of u_f u_g and u_f y.

    u is a row's usage: z s, f, or x.
    """

    gram_FFP: np.ndarray  # where f <= g
    cross_FP: np.ndarray
    whole_FF: np.ndarray  # u_f u_g over all rows, where f <= g
    fit_1: np.ndarray  # log p(seen cells | z s), f summed out, of rows just redrawn

    @classmethod
    def zero(cls, n_features: int, n_columns: int) -> Sums:
        """Return the sums over no rows."""
        square = (n_features, n_features)
        return cls(
            np.zeros((*square, n_columns)), np.zeros((n_features, n_columns)), np.zeros(square),
            np.zeros(1),
        )  # fmt: skip


@compiled
def log_sum(a: float, b: float) -> float:
    """Return log(e^a + e^b)."""
    top = max(a, b)
    if top == -np.inf:
        return top
    return top + math.log1p(math.exp(min(a, b) - top))


@compiled
def happens(state: np.ndarray, log_odds: float) -> bool:
    """Return True with odds exp(log_odds)."""
    u = uniform(state)
    return math.log(u) - math.log1p(-u) < log_odds


@compiled
def residual(
    table: Table, features: Features, n: int, used_K: np.ndarray, weight_K: np.ndarray,
    dense_L: np.ndarray, out_P: np.ndarray,
) -> None:  # fmt: skip
    """Fill `out_P` with y_n minus its features, 0 at holes."""
    n_features, n_columns = features.feature_FP.shape
    n_free = used_K.size + dense_L.size
    for p in range(n_columns):
        out_P[p] = table.value_NP[n, p]
    for f in range(n_features):
        if f < used_K.size:
            if used_K[f] == 0:
                continue
            usage = weight_K[f] if features.real else 1.0
        elif f < n_free:
            usage = dense_L[f - used_K.size]
        else:
            usage = table.basis_NB[n, f - n_free]
        for p in range(n_columns):
            out_P[p] -= usage * features.feature_FP[f, p] * table.seen_NP[n, p]


@compiled
def _gain(
    scaled_P: np.ndarray, square_P: np.ndarray, seen_P: np.ndarray, left_P: np.ndarray
) -> tuple[float, float]:
    """Return (sum w A e, sum w A^2) over seen cells; `left_P` is 0 at holes.

    Four sums each: their additions do not wait for one another.
    """
    size = left_P.size
    g0 = g1 = g2 = g3 = 0.0
    a0 = a1 = a2 = a3 = 0.0
    whole = size - size % 4
    for p in range(0, whole, 4):
        g0 += scaled_P[p] * left_P[p]
        g1 += scaled_P[p + 1] * left_P[p + 1]
        g2 += scaled_P[p + 2] * left_P[p + 2]
        g3 += scaled_P[p + 3] * left_P[p + 3]
        a0 += square_P[p] * seen_P[p]
        a1 += square_P[p + 1] * seen_P[p + 1]
        a2 += square_P[p + 2] * seen_P[p + 2]
        a3 += square_P[p + 3] * seen_P[p + 3]
    for p in range(whole, size):
        g0 += scaled_P[p] * left_P[p]
        a0 += square_P[p] * seen_P[p]
    return (g0 + g1) + (g2 + g3), (a0 + a1) + (a2 + a3)


@compiled
def _often_seen(table: Table, first: int, stop: int) -> np.ndarray:
    """Return which columns are seen in at least half of rows [first, stop)."""
    n_columns = table.seen_NP.shape[1]
    often_P = np.zeros(n_columns, np.bool_)
    for p in range(n_columns):
        total = 0.0
        for n in range(first, stop):
            total += table.seen_NP[n, p]
        often_P[p] = 2.0 * total >= stop - first
    return often_P


@compiled
def _add_row(
    table: Table, n: int, used_K: np.ndarray, weight_K: np.ndarray, dense_L: np.ndarray,
    real: bool, often_P: np.ndarray, whole_FF: np.ndarray, sums: Sums,
) -> None:  # fmt: skip
    """Add row n to the sums: only pairs of features it uses cost anything.

    Products go to `whole_FF`, which all columns that are often seen share (`finish`): only holes
    there, and cells of other columns, are added one by one.
    """
    n_features, n_columns = sums.cross_FP.shape
    n_free = used_K.size + dense_L.size
    place, usage, size = np.empty(n_features, np.int64), np.empty(n_features), 0
    for f in range(n_features):
        if f >= n_free:
            place[size], usage[size] = f, table.basis_NB[n, f - n_free]
            size += 1
        elif f >= used_K.size:
            place[size], usage[size] = f, dense_L[f - used_K.size]
            size += 1
        elif used_K[f] != 0:
            place[size], usage[size] = f, (weight_K[f] if real else 1.0)
            size += 1
    odd, sign, n_odd = np.empty(n_columns, np.int64), np.empty(n_columns), 0
    for p in range(n_columns):
        seen = table.seen_NP[n, p] != 0.0
        if seen != often_P[p]:
            odd[n_odd], sign[n_odd] = p, (1.0 if seen else -1.0)
            n_odd += 1
    for i in range(size):
        f = place[i]
        for p in range(n_columns):
            sums.cross_FP[f, p] += usage[i] * table.value_NP[n, p]
        for j in range(i, size):
            product = usage[i] * usage[j]
            whole_FF[f, place[j]] += product
            for q in range(n_odd):
                sums.gram_FFP[f, place[j], odd[q]] += sign[q] * product


@compiled
def _finish(often_P: np.ndarray, whole_FF: np.ndarray, sums: Sums) -> None:
    """Add what the columns that are often seen share."""
    size = len(whole_FF)
    for f in range(size):
        for g in range(f, size):
            sums.whole_FF[f, g] += whole_FF[f, g]
            for p in range(often_P.size):
                if often_P[p]:
                    sums.gram_FFP[f, g, p] += whole_FF[f, g]


@compiled
def _energy(left_P: np.ndarray, precision_P: np.ndarray, pull_L: np.ndarray) -> float:
    """Return e' S^-1 e of a row's residual: no feature's log likelihood ratio is above its half."""
    total = 0.0
    for p in range(left_P.size):
        total += precision_P[p] * left_P[p] * left_P[p]
    for f in range(pull_L.size):
        total -= pull_L[f] * pull_L[f]
    return total


@compiled
def _log_fit(seen_P: np.ndarray, log_P: np.ndarray, energy: float, root_LL: np.ndarray) -> float:
    """Return the log density of a row's seen cells around its features: N(0, S), S as above."""
    total = -0.5 * energy
    for p in range(seen_P.size):
        total += seen_P[p] * log_P[p]
    for f in range(len(root_LL)):
        total -= math.log(root_LL[f, f])
    return total


@compiled
def redraw_rows(
    first: int, stop: int, key: np.uint64, table: Table, features: Features,
    used_NK: np.ndarray, weight_NK: np.ndarray, dense_NL: np.ndarray, sums: Sums,
) -> None:  # fmt: skip
    """Redraw, in place, gates, usages and weights of groups [first, stop); add them to `sums`.

    Features come in order, each given the others, the dense weights summed out: else rows that
    start from nothing would take features for what the factors explain, and keep them. Then the
    dense weights, all at once. Every group has its own stream. A row alone behind its gate has one
    uniform number a feature, which mostly tells before any likelihood that it does not use it.
    """
    n_used, n_columns = used_NK.shape[1], table.value_NP.shape[1]
    real = features.real
    scaled_FP = features.feature_FP * features.precision_P
    square_FP = scaled_FP * features.feature_FP
    n_dense = dense_NL.shape[1]
    dense: Dense = dense_of(features.feature_FP, features.precision_P, n_used, n_dense)
    none_L = np.zeros(n_dense)
    often_P = _often_seen(table, table.start_G[first], table.start_G[stop])
    whole_FF, log_P = np.zeros(sums.gram_FFP.shape[:2]), 0.5 * np.log(features.precision_P / _TURN)
    most = 0
    for g in range(first, stop):
        most = max(most, table.start_G[g + 1] - table.start_G[g])
    left_RP, ratio_R = np.empty((most, n_columns)), np.empty(most)
    mean_R, spread_R, energy_R = np.empty(most), np.empty(most), np.empty(most)
    root_RLL, pull_RL = np.empty((most, n_dense, n_dense)), np.empty((most, n_dense))
    along_RL = np.empty((most, n_dense))
    hole_RP, n_holes_R = np.empty((most, n_columns), np.int64), np.zeros(most, np.int64)
    for g in range(first, stop):
        state, t = new_stream(key, table.item_G[g]), table.row_G[g]
        begin, end = table.start_G[g], table.start_G[g + 1]
        for n in range(begin, end):
            i = n - begin
            residual(table, features, n, used_NK[n], weight_NK[n], none_L, left_RP[i])
            if n_dense > 0:
                n_holes_R[i] = holes_of(table.seen_NP[n], hole_RP[i])
                hole_H = hole_RP[i, : n_holes_R[i]]
                sum_out(dense, hole_H, left_RP[i], root_RLL[i], pull_RL[i])
            energy_R[i] = _energy(left_RP[i], features.precision_P, pull_RL[i])
        for k in range(n_used):
            log_open, log_shut = features.log_open_TK[t, k], features.log_shut_TK[t, k]
            log_mass, log_rest = features.log_mass_K[k], features.log_rest_K[k]
            wanted, most_odds = False, -np.inf
            for n in range(begin, end):
                most_odds = log_mass - log_rest + 0.5 * energy_R[n - begin]
                wanted = wanted or used_NK[n, k] != 0 or not most_odds < _NEVER
            if not wanted:
                continue
            alone = end - begin == 1
            chance = uniform(state) if alone else 1.0
            if alone and used_NK[begin, k] == 0 and most_odds < math.log(chance):
                continue
            total = 0.0
            for n in range(begin, end if log_open > -np.inf else begin):
                i = n - begin
                gain, size = _gain(scaled_FP[k], square_FP[k], table.seen_NP[n], left_RP[i])
                if n_dense > 0:
                    hole_H = hole_RP[i, : n_holes_R[i]]
                    overlap(dense, k, scaled_FP[k], hole_H, root_RLL[i], along_RL[i])
                    for f in range(n_dense):
                        gain -= along_RL[i, f] * pull_RL[i, f]
                        size -= along_RL[i, f] ** 2
                    size = max(size, 0.0)
                if used_NK[n, k] != 0:
                    gain += (weight_NK[n, k] if real else 1.0) * size
                if real:
                    spread_R[i] = 1.0 / (1.0 + size)
                    mean_R[i] = spread_R[i] * gain
                    ratio_R[i] = 0.5 * (math.log(spread_R[i]) + mean_R[i] * gain)
                else:
                    ratio_R[i] = gain - 0.5 * size
                total += log_sum(log_rest, log_mass + ratio_R[i])
            if alone:  # gate summed out
                odds = log_open + log_mass - log_sum(log_shut, log_open + log_rest) + ratio_R[0]
                opened = math.log(chance) - math.log1p(-chance) < odds
            else:
                opened = log_shut == -np.inf or happens(state, log_open - log_shut + total)
            for n in range(begin, end):
                i = n - begin
                old = 0.0
                if used_NK[n, k] != 0:
                    old = weight_NK[n, k] if real else 1.0
                new = 0.0
                used_NK[n, k] = 0
                if opened and (alone or happens(state, log_mass - log_rest + ratio_R[i])):
                    used_NK[n, k] = 1
                    new = 1.0
                    if real:
                        new = mean_R[i] + math.sqrt(spread_R[i]) * normal(state)
                        weight_NK[n, k] = new
                if new != old:
                    for p in range(n_columns):
                        change = (old - new) * features.feature_FP[k, p]
                        left_RP[i, p] += change * table.seen_NP[n, p]
                    if n_dense > 0 and log_open == -np.inf:
                        hole_H = hole_RP[i, : n_holes_R[i]]
                        overlap(dense, k, scaled_FP[k], hole_H, root_RLL[i], along_RL[i])
                    for f in range(n_dense):
                        pull_RL[i, f] += (old - new) * along_RL[i, f]
                    energy_R[i] = _energy(left_RP[i], features.precision_P, pull_RL[i])
        for n in range(begin, end):
            sums.fit_1[0] += _log_fit(
                table.seen_NP[n], log_P, energy_R[n - begin], root_RLL[n - begin]
            )
            draw_dense(state, root_RLL[n - begin], pull_RL[n - begin], dense_NL[n])
            _add_row(table, n, used_NK[n], weight_NK[n], dense_NL[n], real, often_P, whole_FF, sums)
    _finish(often_P, whole_FF, sums)


@compiled
def add_rows(
    first: int, stop: int, table: Table, used_NK: np.ndarray, weight_NK: np.ndarray,
    dense_NL: np.ndarray, real: bool, sums: Sums,
) -> None:  # fmt: skip
    """Add rows [first, stop) to `sums`."""
    often_P, whole_FF = _often_seen(table, first, stop), np.zeros(sums.gram_FFP.shape[:2])
    for n in range(first, stop):
        _add_row(table, n, used_NK[n], weight_NK[n], dense_NL[n], real, often_P, whole_FF, sums)
    _finish(often_P, whole_FF, sums)


def as_table(value_NP: Float, trials_T: Int, shared: bool, curves_NC: Float | None = None) -> Table:
    """Return the table of rows sorted by covariate, NaN at holes.

    One group a covariate if gates are shared, else one a row. curves_NC: what the level depends on
    beside its constant; None: on nothing.
    """
    one_N1 = np.ones((len(value_NP), 1))
    basis_NB = one_N1 if curves_NC is None else np.hstack([curves_NC, one_N1])
    start_G, row_G = np.arange(len(value_NP) + 1), np.repeat(np.arange(trials_T.size), trials_T)
    if shared:
        start_G, row_G = np.concatenate([[0], np.cumsum(trials_T)]), np.arange(trials_T.size)
    hole_NP, item_G = np.isnan(value_NP), np.arange(row_G.size)
    seen_NP = 1.0 - hole_NP
    return Table(np.where(hole_NP, 0.0, value_NP), seen_NP, start_G, row_G, item_G, basis_NB)
