"""Gamma variables that are not smaller than a bound."""

from __future__ import annotations

import math

import numpy as np

from thincrm.numerics.arrays import Float

__all__ = ["gamma_at_least"]


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
