"""The loops of `free_curves`: quadratics added to the log weights of some clusters.

Weights are kept as numbers, over the largest of a row or a covariate, and written anew when log
weights may have moved by 100. A step adds at most 500 to one, so what a double cannot hold (less
than e^-700) is nothing to what is there after it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, uniform
from thincrm.numerics.variates import normal
from thincrm.thinning.bump_moves import BumpPrior

__all__ = ["Rules", "Used", "add_to", "move_used"]

_LOG_TEN = math.log(10.0)
_ONE, _SIDE = 0.5, 0.9  # rounds in which one cluster moves; one, or those on one side
_MOST, _FAR = 500.0, 100.0  # added to a log weight by a step; since weights were written
_SMALL, _LARGE = 1e-50, 1e50  # numbers whose products are no trouble


class Rules(NamedTuple):
    """How many steps, and what ratios have in them: a proof may leave out a part."""

    n_rounds: int = 24
    n_steps: int = 4  # in a round: steps of the same clusters
    prior: float = 1.0
    masses: float = 1.0
    volume: float = 1.0


class Used(NamedTuple):
    """The clusters that move, and the weight of all others."""

    x_UE: Float  # location, log length, log mass
    place_UC: Float  # where they are: fixed
    log_f_UN: Float
    log_w_UT: Float
    rest_N: Float  # log Σ w f of the others
    rest_T: Float  # log Σ w
    row_N: Int
    trials_T: Int
    shape: float  # of the masses' law
    rate: float


class _Sums(NamedTuple):
    """Weights of clusters as numbers, and sums over those that move in a round and the rest."""

    wf_UN: np.ndarray
    w_UT: np.ndarray
    other_N: np.ndarray  # of all others
    other_T: np.ndarray
    mine_N: np.ndarray
    mine_T: np.ndarray
    rest_N: np.ndarray
    rest_T: np.ndarray
    moved: np.ndarray  # 1: by how much weights may have moved, in logs, since they were written


@compiled
def _scale(mine: Used, sums: _Sums) -> None:
    """Write weights as numbers, over the largest."""
    sums.moved[0] = 0.0
    for t in range(mine.rest_T.size):
        top = mine.rest_T[t]
        for k in range(mine.x_UE.shape[0]):
            top = max(top, mine.log_w_UT[k, t])
        sums.other_T[t] = math.exp(mine.rest_T[t] - top)
        for k in range(mine.x_UE.shape[0]):
            sums.w_UT[k, t] = math.exp(mine.log_w_UT[k, t] - top)
    for n in range(mine.row_N.size):
        t, top = mine.row_N[n], mine.rest_N[n]
        for k in range(mine.x_UE.shape[0]):
            top = max(top, mine.log_w_UT[k, t] + mine.log_f_UN[k, n])
        sums.other_N[n] = math.exp(mine.rest_N[n] - top)
        for k in range(mine.x_UE.shape[0]):
            sums.wf_UN[k, n] = math.exp(mine.log_w_UT[k, t] + mine.log_f_UN[k, n] - top)


@compiled
def _gather(mine: Used, sums: _Sums, chosen_U: np.ndarray) -> None:
    """Add up the weights of the chosen clusters, and of the rest."""
    sums.mine_N[:], sums.mine_T[:] = 0.0, 0.0
    sums.rest_N[:], sums.rest_T[:] = sums.other_N, sums.other_T
    for k in range(chosen_U.size):
        if chosen_U[k]:
            sums.mine_N[:] += sums.wf_UN[k]
            sums.mine_T[:] += sums.w_UT[k]
        else:
            sums.rest_N[:] += sums.wf_UN[k]
            sums.rest_T[:] += sums.w_UT[k]


@compiled
def _fit(mine: Used, sums: _Sums, times_T: np.ndarray) -> float:
    """Return log p(y | x, π, θ), weights of the chosen clusters so many times theirs."""
    value, product = 0.0, 1.0
    for t in range(times_T.size):
        value -= mine.trials_T[t] * math.log(sums.mine_T[t] * times_T[t] + sums.rest_T[t])
    for n in range(mine.row_N.size):
        total = sums.mine_N[n] * times_T[mine.row_N[n]] + sums.rest_N[n]
        if _SMALL < total < _LARGE:
            product *= total
            if not _SMALL < product < _LARGE:
                value += math.log(product)
                product = 1.0
        else:
            value += math.log(total)
    return value + math.log(product)


@compiled
def _choose(
    state: np.ndarray, prior: BumpPrior, mine: Used, here: int, chosen_U: np.ndarray
) -> None:
    """Choose one cluster, those that lie on one side of t = here, or all.

    What clusters that move together weigh against each other stays, and so of those that do not.
    """
    kind, side_U = uniform(state), np.zeros(chosen_U.size)
    chosen_U[:] = kind > _SIDE
    if kind < _ONE:
        chosen_U[int(uniform(state) * chosen_U.size)] = True
    elif kind < _SIDE:
        for c in range(mine.place_UC.shape[1]):
            along = normal(state) / prior.scale_C[c]
            side_U += along * (mine.place_UC[:, c] - prior.rows_TC[here, c])
        chosen_U[:] = side_U > 0.0


@compiled
def _quadratic(
    state: np.ndarray, prior: BumpPrior, mine: Used, here: int, q_J: np.ndarray, add_T: np.ndarray
) -> float:
    """Draw q = α + β'u + η |u|², u from t = here on, fill in its values; return the largest."""
    size = q_J.size - 2
    there = int(mine.row_N[int(uniform(state) * mine.row_N.size)])
    steep = math.exp(_LOG_TEN * (2.5 * uniform(state) - 0.5)) * (uniform(state) < 0.5)
    bend = math.exp(_LOG_TEN * 3.0 * uniform(state)) * (uniform(state) < 0.5)
    level = math.exp(_LOG_TEN * (2.0 * uniform(state) - 1.0)) * (uniform(state) < 0.5)
    q_J[0] = level * normal(state)
    q_J[size + 1] = bend * normal(state) * (prior.spread > 0.0)
    for c in range(size):
        u = (prior.rows_TC[there, c] - prior.rows_TC[here, c]) / prior.scale_C[c]
        q_J[c + 1] = steep * normal(state) - q_J[size + 1] * u  # bends that are 0 here and there
    largest = 0.0
    for t in range(add_T.size):
        add_T[t] = q_J[0]
        for c in range(size):
            u = (prior.rows_TC[t, c] - prior.rows_TC[here, c]) / prior.scale_C[c]
            add_T[t] += (q_J[c + 1] + q_J[size + 1] * u) * u
        largest = max(largest, abs(add_T[t]))
    return largest


@compiled
def _log_prior(prior: BumpPrior, mine: Used, rules: Rules, x_E: np.ndarray) -> float:
    """Return the log density of (m, log l, log π) and the volume, (2C + 2) log l."""
    last = x_E.size - 2
    for c in range(last):
        if not prior.low_C[c] <= x_E[c] <= prior.high_C[c]:
            return -np.inf
    value = rules.volume * (2.0 * last + 2.0) * x_E[last]
    value += rules.masses * (mine.shape * x_E[last + 1] - mine.rate * math.exp(x_E[last + 1]))
    if prior.spread > 0.0:
        z = (x_E[last] - prior.log_median) / prior.spread
        value -= rules.prior * 0.5 * z * z
    return float(value)


@compiled
def add_to(
    prior: BumpPrior, here: int, q_J: np.ndarray, x_E: np.ndarray, new_E: np.ndarray
) -> bool:
    """Fill in (m, log l, log π) of a bump that has q added; tell whether it still is one."""
    last = q_J.size - 2
    tight = math.exp(-2.0 * x_E[last])
    new_tight = tight - 2.0 * q_J[last + 1]
    if new_tight <= 0.0:
        return False
    new_E[last], new_E[last + 1] = -0.5 * math.log(new_tight), x_E[last + 1] + q_J[0]
    for c in range(last):
        place = (x_E[c] - prior.rows_TC[here, c]) / prior.scale_C[c]
        moved = (tight * place + q_J[c + 1]) / new_tight
        new_E[c] = prior.rows_TC[here, c] + moved * prior.scale_C[c]
        new_E[last + 1] += 0.5 * (new_tight * moved * moved - tight * place * place)
    return True


@compiled
def _step(
    state: np.ndarray, prior: BumpPrior, mine: Used, rules: Rules, here: int,
    chosen_U: np.ndarray, sums: _Sums, new_UE: np.ndarray, add_T: np.ndarray, fit: float,
) -> float:  # fmt: skip
    """Add a quadratic to the chosen clusters, or do not; return log p(y | x, π, θ) after it."""
    q_J = np.empty(new_UE.shape[1])
    largest = _quadratic(state, prior, mine, here, q_J, add_T)
    value, limit = 0.0, fit + math.log(uniform(state))
    if largest > _MOST:
        return fit
    for k in np.flatnonzero(chosen_U):
        if not add_to(prior, here, q_J, mine.x_UE[k], new_UE[k]):
            return fit
        value += _log_prior(prior, mine, rules, new_UE[k])
        value -= _log_prior(prior, mine, rules, mine.x_UE[k])
    if value == -np.inf:
        return fit
    times_T = np.exp(add_T)
    new_fit: float = _fit(mine, sums, times_T)
    if not limit < value + new_fit:
        return fit
    for k in np.flatnonzero(chosen_U):
        mine.x_UE[k], mine.log_w_UT[k] = new_UE[k], mine.log_w_UT[k] + add_T
    sums.mine_T[:] *= times_T
    for k in np.flatnonzero(chosen_U):
        sums.w_UT[k] *= times_T
    for n in range(mine.row_N.size):
        sums.mine_N[n] *= times_T[mine.row_N[n]]
        for j in range(chosen_U.size):
            if chosen_U[j]:
                sums.wf_UN[j, n] *= times_T[mine.row_N[n]]
    sums.moved[0] += largest
    return new_fit


@compiled
def move_used(key: np.uint64, prior: BumpPrior, mine: Used, rules: Rules) -> None:
    """Make rounds of steps: in each, some clusters move together."""
    (n_used, n_times), n_rows = mine.log_w_UT.shape, mine.row_N.size
    state, new_UE, add_T = new_stream(key, 0), np.empty(mine.x_UE.shape), np.zeros(n_times)
    chosen_U, fit = np.zeros(n_used, np.bool_), 0.0
    sums = _Sums(
        np.zeros((n_used, n_rows)), np.zeros((n_used, n_times)), np.empty(n_rows),
        np.empty(n_times), np.empty(n_rows), np.empty(n_times), np.empty(n_rows),
        np.empty(n_times), np.full(1, np.inf),
    )  # fmt: skip
    for _ in range(rules.n_rounds):
        here = int(mine.row_N[int(uniform(state) * n_rows)])
        _choose(state, prior, mine, here, chosen_U)
        _gather(mine, sums, chosen_U)
        for _ in range(rules.n_steps):
            if not sums.moved[0] < _FAR:
                _scale(mine, sums)
                _gather(mine, sums, chosen_U)
                fit = _fit(mine, sums, np.ones(n_times))
            fit = _step(state, prior, mine, rules, here, chosen_U, sums, new_UE, add_T, fit)
