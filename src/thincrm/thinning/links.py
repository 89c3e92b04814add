"""Links: from a linear predictor to what gates say of it, and back, roughly.

q = P(nothing seen | open) is taken as 0 where it underflows, below 1e-308.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx

from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled

__all__ = ["LOGISTIC", "PROBIT", "gate_term", "open_silent", "probit_log_odds", "working_point"]

PROBIT, LOGISTIC = 0, 1
_ROOT_HALF = math.sqrt(0.5)
_LOG_ROOT_TAU = 0.5 * math.log(2.0 * math.pi)


def probit_log_odds(eta: Float) -> Float:
    """Return log p/(1-p) of p = Phi(eta): log Phi(-x) = log erfcx(x / sqrt 2) / 2 - x^2 / 2."""
    size = np.abs(eta)
    with np.errstate(divide="ignore", over="ignore"):
        log_tail = np.log(0.5 * erfcx(_ROOT_HALF * size)) - 0.5 * size * size
    return np.copysign(np.log1p(-np.exp(log_tail)) - log_tail, eta)


@compiled
def _tail(size: float, link: int) -> float:
    """Return the smaller of p and 1 - p at |eta| = size."""
    if link == PROBIT:
        return 0.5 * math.erfc(size * _ROOT_HALF)
    return 1.0 / (1.0 + math.exp(size)) if size < 700.0 else 0.0


@compiled
def _log_tail(size: float, tail: float, link: int) -> float:
    """Return log tail, by its asymptotic form where the tail underflows."""
    if tail > 1e-290:
        return math.log(tail)
    if link == PROBIT:
        square = 1.0 / (size * size)
        return -0.5 * size * size - math.log(size) - _LOG_ROOT_TAU - square * (1.0 - 2.5 * square)
    return -size


@compiled
def gate_term(eta: float, link: int, positive: int, silent: int, q: float) -> float:
    """Return positive log p + silent log((1 - p) + p q): a row's part of GateEvidence."""
    size = abs(eta)
    tail = _tail(size, link)
    total = 0.0
    if positive > 0:
        log_open = math.log1p(-tail) if eta >= 0.0 else _log_tail(size, tail, link)
        total = positive * log_open
    if silent > 0:
        if eta < 0.0:
            total += silent * math.log1p(tail * (q - 1.0))
        elif q > 0.0:
            total += silent * math.log(tail + (1.0 - tail) * q)
        else:
            total += silent * _log_tail(size, tail, link)
    return total


@compiled
def open_silent(eta: float, link: int, q: float) -> float:
    """Return P(open | silent) = p q / ((1 - p) + p q)."""
    tail = _tail(abs(eta), link)
    p_open, p_shut = (1.0 - tail, tail) if eta >= 0.0 else (tail, 1.0 - tail)
    return p_open * q / (p_shut + p_open * q) if q > 0.0 else 0.0


@compiled
def working_point(successes: float, trials: float, link: int) -> tuple[float, float]:
    """Return (z, w): the Gaussian -w (z - eta)^2 / 2 that stands in for a binomial row.

    Berkson's empirical transform with half a success added. It only shapes proposals, so the
    short normal quantile of Abramowitz and Stegun 26.2.23 is accurate enough.
    """
    p = (successes + 0.5) / (trials + 1.0)
    if link == LOGISTIC:
        return math.log(p / (1.0 - p)), trials * p * (1.0 - p)
    tail = min(p, 1.0 - p)
    s = math.sqrt(-2.0 * math.log(tail))
    top = 2.515517 + s * (0.802853 + s * 0.010328)
    z = s - top / (1.0 + s * (1.432788 + s * (0.189269 + s * 0.001308)))
    density = math.exp(-0.5 * z * z - _LOG_ROOT_TAU)
    return (z if p > 0.5 else -z), trials * density * density / (p * (1.0 - p))
