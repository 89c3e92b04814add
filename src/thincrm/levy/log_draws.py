"""Random variates in logs, many at once, from a NumPy generator."""

from __future__ import annotations

import numpy as np

from thincrm.numerics.arrays import Float

__all__ = ["log_beta_draw", "log_gamma_draw", "log_power_uniform"]

_SMALLEST = float(np.finfo(float).tiny)


def log_gamma_draw(rng: np.random.Generator, shape: Float | float, size: int) -> Float:
    """Draw log G, G ~ Gamma(shape, 1), for any shape > 0: log G(a) = log G(a+1) + log(U)/a."""
    boosted = np.log(rng.standard_gamma(np.add(shape, 1.0), size))
    return np.asarray(boosted - rng.standard_exponential(size) / shape)


def log_beta_draw(rng: np.random.Generator, a: Float | float, b: Float | float, size: int) -> Float:
    """Draw log x, x ~ Beta(a, b); always below 0, so that log(1 - x) is finite too."""
    log_x = log_gamma_draw(rng, a, size)
    log_y = log_gamma_draw(rng, b, size)
    return np.minimum(-np.logaddexp(0.0, log_y - log_x), -_SMALLEST)


def log_power_uniform(
    rng: np.random.Generator, log_low: Float, log_high: Float, power: Float
) -> Float:
    """Draw log r with r in (low, high) and r^power uniform: density proportional to r^{power-1}.

    Power 0 means log r uniform. low = 0 is allowed where power > 0.
    """
    uniform = rng.random(power.shape)
    gap = log_high - log_low
    shrink = np.expm1(-np.abs(power) * gap)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.log1p(uniform * shrink) / power
        log_uniform = log_low + uniform * gap
    return np.where(power == 0.0, log_uniform, shift + np.where(power > 0.0, log_high, log_low))
