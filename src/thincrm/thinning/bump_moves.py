"""The moves of a bump's location and length, compiled: atoms are independent, a stream each.

A fresh draw from the prior is proposed (Metropolis: an atom with nothing seen nearly always
accepts), then each coordinate takes a slice step (Neal 2003: stepping out, then shrinking), and
the same again in reverse order, which makes the whole move reversible. An atom whose state has no
likelihood at all waits for the first proposal that has some.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.slice import MOST_SHRINKS, MOST_STEPS
from thincrm.numerics.streams import new_stream, uniform
from thincrm.numerics.variates import normal

__all__ = ["KERNEL_CODES", "BumpPrior", "Gates", "log_kernel", "move_bumps"]

KERNEL_CODES = {"gaussian": 0, "box": 1, "exponential": 2, "one-sided": 3}


class BumpPrior(NamedTuple):
    """m ~ Uniform(low, high), log l ~ N(log_median, spread^2), and the kernel."""

    code: int
    log_height: float
    rows_TC: Float
    scale_C: Float
    low_C: Float
    high_C: Float
    log_median: float
    spread: float


class Gates(NamedTuple):
    """Gates of atoms: seen open, and silent with q = P(nothing seen | open)."""

    open_KT: Int
    silent_KT: Int
    q_KT: Float


@compiled
def log_kernel(code: int, d: float) -> float:
    """Return the log of the kernel at a distance d, in lengths."""
    if code == 0:
        return -0.5 * d * d
    if code == 1:
        return 0.0 if abs(d) <= 1.0 else -np.inf
    if code == 2:
        return -abs(d)
    return -d if d >= 0.0 else -np.inf


@compiled
def _log_likelihood(
    prior: BumpPrior, x_D: np.ndarray, told_T: np.ndarray, open_T: np.ndarray,
    silent_T: np.ndarray, q_T: np.ndarray,
) -> float:  # fmt: skip
    """Return Σ_t n log p + m log((1 - p) + p q) over the rows that say something."""
    n_columns, total = x_D.size - 1, 0.0
    shrink = math.exp(-x_D[n_columns])
    for t in told_T:
        log_p = prior.log_height
        for c in range(n_columns):
            d = (prior.rows_TC[t, c] - x_D[c]) * shrink / prior.scale_C[c]
            log_p += log_kernel(prior.code, d)
        if open_T[t] > 0:
            total += open_T[t] * log_p
        if silent_T[t] > 0:
            p = math.exp(log_p)
            loss = p * (1.0 - q_T[t])
            if loss < 0.5:
                total += silent_T[t] * math.log1p(-loss)
            else:
                total += silent_T[t] * math.log(-math.expm1(log_p) + p * q_T[t])
        if total == -np.inf:
            break
    return total


@compiled
def _log_prior(prior: BumpPrior, x_D: np.ndarray, d: int) -> float:
    """Return the log density of coordinate d, but a constant."""
    if d == x_D.size - 1:
        z = (x_D[d] - prior.log_median) / prior.spread
        return float(-0.5 * z * z)
    return 0.0 if prior.low_C[d] <= x_D[d] <= prior.high_C[d] else -np.inf


@compiled
def _density(
    prior: BumpPrior, x_D: np.ndarray, d: int, value: float, told_T: np.ndarray,
    open_T: np.ndarray, silent_T: np.ndarray, q_T: np.ndarray,
) -> float:  # fmt: skip
    """Return the log density with coordinate d at a value, where it then stays."""
    x_D[d] = value
    found: float = _log_prior(prior, x_D, d)
    if found > -np.inf:
        found += _log_likelihood(prior, x_D, told_T, open_T, silent_T, q_T)
    return found


@compiled
def _slide(
    state: np.ndarray, prior: BumpPrior, x_D: np.ndarray, d: int, told_T: np.ndarray,
    open_T: np.ndarray, silent_T: np.ndarray, q_T: np.ndarray,
) -> None:  # fmt: skip
    """Move coordinate d by one slice step."""
    at_length = d == x_D.size - 1
    width = 2.0 * prior.spread if at_length else 0.25 * (prior.high_C[d] - prior.low_C[d])
    now = x_D[d]
    level = _density(prior, x_D, d, now, told_T, open_T, silent_T, q_T)
    if width <= 0.0 or level == -np.inf:
        return
    level += math.log(uniform(state))
    left = now - width * uniform(state)
    right = left + width
    for _ in range(MOST_STEPS):
        if not _density(prior, x_D, d, left, told_T, open_T, silent_T, q_T) > level:
            break
        left -= width
    for _ in range(MOST_STEPS):
        if not _density(prior, x_D, d, right, told_T, open_T, silent_T, q_T) > level:
            break
        right += width
    for _ in range(MOST_SHRINKS):
        value = left + (right - left) * uniform(state)
        if _density(prior, x_D, d, value, told_T, open_T, silent_T, q_T) > level:
            return
        if value < now:
            left = value
        else:
            right = value
    x_D[d] = now


@compiled
def _refresh(
    state: np.ndarray, prior: BumpPrior, x_D: np.ndarray, new_D: np.ndarray, told_T: np.ndarray,
    open_T: np.ndarray, silent_T: np.ndarray, q_T: np.ndarray,
) -> None:  # fmt: skip
    """Propose a fresh draw from the prior."""
    n_columns = x_D.size - 1
    for c in range(n_columns):
        new_D[c] = prior.low_C[c] + (prior.high_C[c] - prior.low_C[c]) * uniform(state)
    new_D[n_columns] = prior.log_median + prior.spread * normal(state)
    level = _log_likelihood(prior, x_D, told_T, open_T, silent_T, q_T) + math.log(uniform(state))
    if _log_likelihood(prior, new_D, told_T, open_T, silent_T, q_T) > level:
        x_D[:] = new_D


@compiled
def move_bumps(
    first: int, stop: int, key: np.uint64, prior: BumpPrior, gates: Gates, x_KD: np.ndarray
) -> None:
    """Move the coordinates (location, log length) of atoms [first, stop)."""
    size = x_KD.shape[1]
    new_D = np.empty(size)
    for k in range(first, stop):
        state, x_D = new_stream(key, k), x_KD[k]
        open_T, silent_T, q_T = gates.open_KT[k], gates.silent_KT[k], gates.q_KT[k]
        told_T = np.flatnonzero(open_T + silent_T)
        _refresh(state, prior, x_D, new_D, told_T, open_T, silent_T, q_T)
        for d in range(size):
            _slide(state, prior, x_D, d, told_T, open_T, silent_T, q_T)
        for d in range(size - 1, -1, -1):
            _slide(state, prior, x_D, d, told_T, open_T, silent_T, q_T)
        _refresh(state, prior, x_D, new_D, told_T, open_T, silent_T, q_T)
