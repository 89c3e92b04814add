"""Compiled loops over rows: which cluster each row is of, under the three ways to gate.

Clusters race: atom k rings at rate r_k π_k, the first to ring is the row's cluster, u is when,
p(c = k, u) = r_k π_k e^{-uB}, B = Σ_k r_k π_k. Rows that share gates share one clock,
B^{-n} = ∫ V^{n-1} e^{-VB} dV / Γ(n).

Every row, or covariate row, has its own stream.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.numerics.arrays import Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, open_stream, uniform
from thincrm.numerics.variates import gamma, poisson

__all__ = [
    "Groups",
    "count_rows",
    "draw_clocks",
    "draw_rejected",
    "pick",
    "pick_observation",
    "pick_shared",
    "pick_weighted",
]

_NEGLIGIBLE = -50.0
_LARGE, _SMALL = 1e200, 1e-200
_NEAR, _MOST_TRIES = -12.0, 30
_LEAST_WEIGHT = math.exp(_NEAR)


class Groups(NamedTuple):
    """The covariate rows of a shard: group g is covariate row first_t + g."""

    start_G: Int  # G + 1: where its rows begin
    group_N: Int  # the group of every row
    first_t: int
    first_row: int  # number of the shard's first row among all rows


@compiled
def pick(state: np.ndarray, log_K: np.ndarray, weight_K: np.ndarray) -> int:
    """Return an index drawn with probabilities proportional to weight_K exp(log_K).

    Weights are from 1e-3 to 1, so that a log 50 below the largest is of no account.
    """
    top, total = -np.inf, 0.0
    for k in range(log_K.size):
        top = max(top, log_K[k])
    for k in range(log_K.size):
        weight = 0.0
        if log_K[k] - top > _NEGLIGIBLE:
            weight = weight_K[k] * math.exp(log_K[k] - top)
        weight_K[k] = weight
        total += weight
    left = uniform(state) * total
    choice = 0
    for k in range(log_K.size):
        if weight_K[k] > 0.0:
            choice = k
            left -= weight_K[k]
            if left <= 0.0:
                break
    return choice


@compiled
def pick_weighted(
    first: int, stop: int, key: np.uint64, groups: Groups, log_weight_GK: np.ndarray,
    log_RK: np.ndarray, label_N: np.ndarray,
) -> None:  # fmt: skip
    """Draw c_n ∝ w_tk f_nk for rows [first, stop); log_RK holds log f."""
    n_atoms = log_RK.shape[1]
    weight_K, state = np.empty(n_atoms), np.empty(4, np.uint64)
    for n in range(first, stop):
        row_K, prior_K = log_RK[n - first], log_weight_GK[groups.group_N[n]]
        for k in range(n_atoms):
            row_K[k] += prior_K[k]
        open_stream(state, key, groups.first_row + n)
        weight_K[:] = 1.0
        label_N[n] = pick(state, row_K, weight_K)


@compiled
def _scale_rows(
    begin: int, size: int, log_RK: np.ndarray, mass_K: np.ndarray, weight_RK: np.ndarray
) -> None:
    """Fill weight_RK with π_k f_nk, each row divided by its largest f."""
    for i in range(size):
        row_K, top = log_RK[begin + i], -np.inf
        for k in range(mass_K.size):
            top = max(top, row_K[k])
        for k in range(mass_K.size):
            weight_RK[i, k] = 0.0
            if row_K[k] - top > -700.0:
                weight_RK[i, k] = mass_K[k] * math.exp(row_K[k] - top)


@compiled
def _sum_of_others(open_K: np.ndarray, weight_K: np.ndarray, k: int) -> float:
    total = 0.0
    for j in range(open_K.size):
        if j != k and open_K[j]:
            total += weight_K[j]
    return total


@compiled
def _pick_open(state: np.ndarray, open_K: np.ndarray, weight_K: np.ndarray) -> int:
    """Return an open index drawn with probabilities proportional to weight_K."""
    left, choice = uniform(state) * _sum_of_others(open_K, weight_K, -1), 0
    for k in range(open_K.size):
        if open_K[k] and weight_K[k] > 0.0:
            choice = k
            left -= weight_K[k]
            if left <= 0.0:
                break
    return choice


@compiled
def _gate_odds(
    k: int, odds: float, others: float, mass: float, size: int, open_K: np.ndarray,
    weight_RK: np.ndarray, total_R: np.ndarray, rest_R: np.ndarray,
) -> float:  # fmt: skip
    """Return the odds that gate k is open, c and V summed out, as odds / (1 + odds).

    odds = p/(1-p) Π_n (1 + π f_n / S_n) / (1 + π / B),   S, B without k (in rest_R, `others`)
    """
    shrink = others / (others + mass)
    product, log_product = 1.0, 0.0
    for i in range(size):
        weight = weight_RK[i, k]
        rest = total_R[i]
        if open_K[k]:
            rest = total_R[i] - weight
            if rest < 1e-6 * total_R[i]:  # the difference has lost its digits
                rest = _sum_of_others(open_K, weight_RK[i], k)
        rest_R[i] = rest
        if rest > 0.0:
            product *= (rest + weight) / rest * shrink
        elif weight > 0.0:
            product = np.inf
        if not _SMALL < product < _LARGE:
            log_product += math.log(product)
            product = 1.0
    if log_product == 0.0:
        product *= odds
        return product / (1.0 + product) if product < np.inf else 1.0
    log_odds = math.log(odds) + log_product + math.log(product)
    return 1.0 / (1.0 + math.exp(-log_odds)) if log_odds > -700.0 else 0.0


@compiled
def pick_shared(
    first_g: int, stop_g: int, key: np.uint64, groups: Groups, odds_GK: np.ndarray,
    log_mass_K: np.ndarray, clock_G: np.ndarray, log_RK: np.ndarray, label_N: np.ndarray,
    open_GK: np.ndarray,
) -> None:  # fmt: skip
    """Redraw gates and clusters of groups [first_g, stop_g), whose rows log_RK holds.

    The silent gates given the clock, then every gate with c and V summed out, then c. Fills
    `open_GK` with the gates. odds_GK are p / (1 - p), which may be 0 or infinite.
    """
    n_atoms = log_mass_K.size
    base, most = groups.start_G[first_g], 0
    for g in range(first_g, stop_g):
        most = max(most, groups.start_G[g + 1] - groups.start_G[g])
    mass_K, weight_RK = np.exp(log_mass_K), np.empty((most, n_atoms))
    total_R, rest_R, log_K = np.empty(most), np.empty(most), np.empty(n_atoms)
    scratch_K = np.empty(n_atoms)
    for g in range(first_g, stop_g):
        state, begin = new_stream(key, groups.first_t + g), groups.start_G[g]
        size, open_K, odds_K = groups.start_G[g + 1] - begin, open_GK[g], odds_GK[g]
        _silent_gates(state, odds_K, clock_G[g], mass_K, label_N[begin : begin + size], open_K)
        _scale_rows(begin - base, size, log_RK, mass_K, weight_RK)
        opened = 0.0
        total_R[:size] = 0.0
        for k in range(n_atoms):
            if open_K[k]:
                opened += mass_K[k]
                for i in range(size):
                    total_R[i] += weight_RK[i, k]
        for k in range(n_atoms):
            odds = odds_K[k]
            if not 0.0 < odds < np.inf:
                continue
            others = opened
            if open_K[k]:
                others = opened - mass_K[k]
                if others < 1e-6 * opened:
                    others = _sum_of_others(open_K, mass_K, k)
            chance = 1.0
            if others > 0.0:
                chance = _gate_odds(
                    k, odds, others, mass_K[k], size, open_K, weight_RK, total_R, rest_R
                )
            is_open = uniform(state) < chance
            if others > 0.0 and is_open != (open_K[k] != 0):
                for i in range(size):
                    total_R[i] = rest_R[i] + (weight_RK[i, k] if is_open else 0.0)
                opened = others + (mass_K[k] if is_open else 0.0)
            open_K[k] = is_open
        for i in range(size):
            if total_R[i] > _SMALL:  # f has not underflowed in the open clusters
                label_N[begin + i] = _pick_open(state, open_K, weight_RK[i])
                continue
            for k in range(n_atoms):
                log_K[k] = -np.inf
                if open_K[k]:
                    log_K[k] = log_RK[begin - base + i, k] + log_mass_K[k]
            scratch_K[:] = 1.0
            label_N[begin + i] = pick(state, log_K, scratch_K)


@compiled
def _silent_gates(
    state: np.ndarray, odds_K: np.ndarray, clock: float, mass_K: np.ndarray, label_R: np.ndarray,
    open_K: np.ndarray,
) -> None:  # fmt: skip
    """Open the gates of used atoms, the others with odds p/(1-p) e^{-Vπ}."""
    open_K[:] = 0
    for i in range(label_R.size):
        open_K[label_R[i]] = 1
    for k in range(odds_K.size):
        if open_K[k] or odds_K[k] == 0.0:
            continue
        odds = odds_K[k] * math.exp(-clock * mass_K[k]) if odds_K[k] < np.inf else np.inf
        open_K[k] = odds == np.inf or uniform(state) * (1.0 + odds) < odds


@compiled
def pick_observation(
    first: int, stop: int, key: np.uint64, groups: Groups, odds_GK: np.ndarray,
    log_weight_GK: np.ndarray, mass_K: np.ndarray, pace: float, log_RK: np.ndarray,
    label_N: np.ndarray, clock_N: np.ndarray, open_HK: np.ndarray, exposure_K: np.ndarray,
) -> None:  # fmt: skip
    """Redraw cluster, gates and clock of rows [first, stop), which have a gate each.

    c ∝ f π s(u), gates summed out, then r | c, u, then u ~ Exp(B). log_weight_GK holds log p π.
    Adds the open gates to `open_HK` (H groups from that of row `first` on) and Σ u r to
    `exposure_K`.
    """
    n_atoms, base = mass_K.size, groups.group_N[first]
    weight_K, opened_K = np.empty(n_atoms), np.empty(n_atoms, np.int64)
    state = np.empty(4, np.uint64)
    for n in range(first, stop):
        open_stream(state, key, groups.first_row + n)
        g, clock, log_K = groups.group_N[n], pace * clock_N[n], log_RK[n - first]
        odds_K, prior_K, count_K = odds_GK[g], log_weight_GK[g], open_HK[g - base]
        for k in range(n_atoms):
            log_K[k] += prior_K[k]
        label = _pick_silent(state, log_K, odds_K, clock, mass_K, weight_K)
        total, n_open = 0.0, 0
        for k in range(n_atoms):
            if k == label or _opens(state, odds_K[k], clock * mass_K[k]):
                total += mass_K[k]
                count_K[k] += 1
                opened_K[n_open] = k
                n_open += 1
        clock = -math.log(uniform(state)) / total
        for i in range(n_open):
            exposure_K[opened_K[i]] += clock
        label_N[n], clock_N[n] = label, clock


@compiled
def _pick_silent(
    state: np.ndarray, log_K: np.ndarray, odds_K: np.ndarray, clock: float, mass_K: np.ndarray,
    weight_K: np.ndarray,
) -> int:  # fmt: skip
    """Return k drawn with probability proportional to f π s(u); log_K holds log f π p.

    By rejection: k is proposed with weight f π p, or e^-12 of the largest if that is more (so that
    few exponentials are taken), and s <= p. After some tries all chances are computed.
    """
    top, total = -np.inf, 0.0
    for k in range(log_K.size):
        top = max(top, log_K[k])
    for k in range(log_K.size):
        weight = _LEAST_WEIGHT
        if log_K[k] - top > _NEAR:
            weight = math.exp(log_K[k] - top)
        weight_K[k] = weight
        total += weight
    for _ in range(_MOST_TRIES):
        left, k = uniform(state) * total - weight_K[0], 0
        while left > 0.0 and k < log_K.size - 1:
            k += 1
            left -= weight_K[k]
        level = uniform(state)
        if log_K[k] - top <= _NEAR:
            level *= weight_K[k] / max(math.exp(log_K[k] - top), _SMALL)
        missed = clock * mass_K[k]
        if level < 1.0 - missed or level < math.exp(_log_silent(odds_K[k], missed)):
            return k
    for k in range(log_K.size):
        log_K[k] += _log_silent(odds_K[k], clock * mass_K[k])
    weight_K[:] = 1.0
    return pick(state, log_K, weight_K)


@compiled
def _log_silent(odds: float, missed: float) -> float:
    """Return log s(u) / p = log q (1 + o) / (1 + o q), o = p / (1 - p), q = e^{-uπ}."""
    if odds == np.inf:
        return 0.0
    return math.log1p(odds) - math.log1p(odds * math.exp(-missed)) - missed


@compiled
def _opens(state: np.ndarray, odds: float, missed: float) -> bool:
    """Draw a silent gate, open with odds p/(1-p) q, 1 - uπ < q = e^{-uπ} < 1 / (1 + uπ)."""
    if not 0.0 < odds < np.inf:
        return odds > 0.0
    level = uniform(state)
    most = odds * (1.0 - level)
    if level * (1.0 + missed) >= most:
        return False
    return level < most * (1.0 - missed) or level < most * math.exp(-missed)


@compiled
def draw_clocks(
    key: np.uint64, first_t: int, trials_G: np.ndarray, opened_G: np.ndarray, out_G: np.ndarray
) -> None:
    """Draw V_t ~ Gamma(n_t, B_t)."""
    for g in range(trials_G.size):
        out_G[g] = gamma(new_stream(key, first_t + g), trials_G[g]) / opened_G[g]


@compiled
def draw_rejected(
    key: np.uint64, first_t: int, clock_G: np.ndarray, mass_K: np.ndarray, odds_GK: np.ndarray,
    out_GK: np.ndarray,
) -> None:  # fmt: skip
    """Draw the rings that were rejected, m_tk ~ Poisson(V_t π_k (1 - p_tk))."""
    for g in range(clock_G.size):
        state = new_stream(key, first_t + g)
        for k in range(mass_K.size):
            shut = 1.0 / (1.0 + odds_GK[g, k])
            # more than an integer holds: every curve is shut there, as far as numbers can tell
            out_GK[g, k] = poisson(state, min(clock_G[g] * mass_K[k] * shut, 1e18))


@compiled
def count_rows(group_N: np.ndarray, label_N: np.ndarray, out_GK: np.ndarray) -> None:
    """Add every row to the count of its group and cluster."""
    for n in range(label_N.size):
        out_GK[group_N[n], label_N[n]] += 1
