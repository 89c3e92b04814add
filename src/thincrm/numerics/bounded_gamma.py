"""Gamma variables that are not smaller than a bound."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaincc, gammaln

from thincrm.numerics.arrays import Float

__all__ = ["gamma_at_least", "log_upper_gamma"]

_SMALL_TAIL, _N_TERMS = 1e-200, 200


def log_upper_gamma(shape_S: Float, least: float) -> Float:
    """Return log ∫ b^(shape-1) e^-b db from `least` on: what a bound does to a gamma law.

    Where the tail is too small for `gammaincc`, by Legendre's continued fraction.
    """
    tail_S = gammaincc(shape_S, least)
    small_S = tail_S < _SMALL_TAIL
    plain_S = gammaln(shape_S) + np.log(np.where(small_S, 1.0, tail_S))
    if not small_S.any():
        return np.asarray(plain_S)
    below_S = least + 2.0 * _N_TERMS + 1.0 - shape_S
    for n in range(_N_TERMS, 0, -1):
        below_S = least + 2.0 * n - 1.0 - shape_S - n * (n - shape_S) / below_S
    return np.where(small_S, shape_S * math.log(least) - least - np.log(np.abs(below_S)), plain_S)


def gamma_at_least(rng: np.random.Generator, shape: float, rate_P: Float, least: float) -> Float:
    """Draw Gamma(shape, rate) variables given that they are at least `least`."""
    drawn_P = rng.gamma(shape, 1.0, rate_P.size) / rate_P
    for p in np.flatnonzero(drawn_P < least):
        drawn_P[p] = least + _excess(rng, shape, float(rate_P[p]) * least) / rate_P[p]
    return np.asarray(drawn_P)


def _excess(rng: np.random.Generator, shape: float, least: float) -> float:
    """Draw X - least, X ~ Gamma(shape, 1) beyond `least`; loops end with any numbers.

    Beyond x0 > shape an exponential variable of rate 1 - (shape - 1) / x0 touches the density
    x^(shape-1) e^-x at x0 and lies above it elsewhere (Dagpunar 1978).
    """
    if least <= shape:
        while True:
            excess = float(rng.gamma(shape)) - least
            if not excess < 0.0:
                return excess
    power = max(shape - 1.0, 0.0)
    while True:
        excess = float(rng.exponential()) / (1.0 - power / least)
        step = excess / least
        log_ratio = (shape - 1.0) * math.log1p(step) - power * step
        if not math.log(1.0 - rng.random()) > log_ratio:
            return excess
