"""Special functions of power-law Lévy measures, in logs, safe at both ends.

A discount σ = 0 is allowed everywhere: (x^σ - 1)/σ is read as its limit log x, so the gamma and
beta processes are the σ = 0 members of the generalised gamma and stable-beta families.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import polynomial
from scipy import special

from thincrm.numerics.arrays import Float

__all__ = [
    "log_gamma_ratio",
    "log_hit",
    "log_rest",
    "log_upper_beta",
    "log_upper_gamma",
    "power_log",
]

_TINY_LOG = -37.0  # exp of it is below the rounding of 1
_LARGE_LOG = 690.0  # exp of it is near the largest float
_GAMMA_TERMS = 24
_GAMMA_STEPS = 90
_BETA_TERMS = 64
_MOST_STEPS = 2000


def power_log(log_x: Float, discount: float) -> Float:
    """Return (x^σ - 1)/σ, which is log x at σ = 0."""
    if discount == 0.0:
        return np.asarray(log_x, float)
    return np.asarray(np.expm1(discount * log_x) / discount)


def log_hit(log_q: Float) -> Float:
    """Return log(1 - e^{-q}), the log chance that a Poisson(q) count is positive, from log q."""
    q = np.exp(np.minimum(log_q, _LARGE_LOG))
    safe = np.maximum(q, 1e-300)
    middle = np.where(q < 0.7, np.log(-np.expm1(-safe)), np.log1p(-np.exp(-np.maximum(q, 0.5))))
    return np.where(log_q < _TINY_LOG, log_q, middle)


def log_rest(log_x: Float) -> Float:
    """Return log(1 - x) from log x <= 0, exact also where 1 - x is below the rounding of 1."""
    with np.errstate(divide="ignore"):
        return log_hit(np.log(-log_x))


def log_gamma_ratio(x: float, step: float) -> float:
    """Return log Γ(x + step) - log Γ(x) for 0 <= step < 1 without cancellation at large x.

    Above 50 the expansion about w = x + (step - 1)/2, which has even powers of 1/w only
    (Fields 1966).
    """
    if x < 50.0:
        return math.lgamma(x + step) - math.lgamma(x)
    w = x + 0.5 * (step - 1.0)
    odd = step * (1.0 - step * step)
    correction = odd / (24.0 * w**2) - odd * (7.0 - 3.0 * step * step) / (960.0 * w**4)
    return step * math.log(w) + correction


def log_upper_gamma(log_z: Float, discount: float) -> Float:
    """Return log Γ(-σ, z) = log ∫_z^∞ t^{-1-σ} e^{-t} dt, E1(z) at σ = 0.

    Below z = 1 the power series, above it Legendre's continued fraction, whose terms are all
    positive: the recurrence (z^{-σ}e^{-z} - Γ(1-σ, z))/σ cancels for small σ and large z.
    """
    low = np.minimum(log_z, 0.0)
    constant = _gamma_constant(discount)
    k = np.arange(1, _GAMMA_TERMS)
    coefficients = (-1.0) ** k / (special.factorial(k) * (k - discount))
    series = np.exp((1.0 - discount) * low) * polynomial.polyval(np.exp(low), coefficients)
    below = _log_of_power(low, discount, np.asarray(constant + series, float))
    z = np.exp(np.maximum(log_z, 0.0))
    bottom = z + 2 * _GAMMA_STEPS + 1 + discount
    for n in range(_GAMMA_STEPS, 0, -1):
        bottom = z + 2 * n - 1 + discount - n * (n + discount) / bottom
    above = -z - discount * np.maximum(log_z, 0.0) - np.log(bottom)
    return np.where(log_z < 0.0, below, above)


def log_upper_beta(log_x: Float, discount: float, b: float) -> Float:
    """Return log ∫_x^1 t^{-1-σ} (1-t)^{b-1} dt, the incomplete beta function B_{1-x}(b, -σ).

    Near 0 the power series in x; elsewhere the continued fraction of the incomplete beta
    function (Press et al., Numerical Recipes 6.4), which holds at a non-positive second argument.
    """
    switch = -math.log(b + 2.0)
    constant = _beta_constant(discount, b)
    low = np.minimum(log_x, switch)
    k = np.arange(1, _BETA_TERMS)
    coefficients = np.cumprod((k - b) / k) / (k - discount)
    series = np.exp((1.0 - discount) * low) * polynomial.polyval(np.exp(low), coefficients)
    below = _log_of_power(low, discount, np.asarray(constant + series, float))
    high = np.maximum(log_x, switch)
    fraction = _beta_fraction(-np.expm1(high), b, -discount)
    above = b * log_rest(high) - discount * high + np.log(fraction / b)
    return np.where(log_x < switch, below, above)


def _gamma_constant(discount: float) -> float:
    if discount == 0.0:
        return float(np.euler_gamma)
    return math.expm1(math.lgamma(1.0 - discount)) / discount


def _beta_constant(discount: float, b: float) -> float:
    if discount == 0.0:
        return float(special.digamma(b) + np.euler_gamma)
    ratio = math.lgamma(1.0 - discount) + log_gamma_ratio(b - discount, discount)
    return math.expm1(ratio) / discount


def _log_of_power(log_x: Float, discount: float, subtract: Float) -> Float:
    """Return log((x^{-σ} - 1)/σ - subtract), whose first part may pass the largest float."""
    exponent = -discount * log_x
    moderate = power_log(np.maximum(log_x, -_LARGE_LOG / max(discount, 1e-300)), -discount)
    plain = np.log(-moderate - subtract)
    return np.where(exponent > _LARGE_LOG, exponent - math.log(max(discount, 1e-300)), plain)


def _beta_fraction(w: Float, a: float, b: float) -> Float:
    """Evaluate the continued fraction of B_w(a, b) by the modified Lentz method."""
    rounding = 1e-15 * (3.0 + 0.1 * a)  # what one step can still wobble by
    c = np.ones_like(w)
    d = 1.0 / (1.0 - (a + b) * w / (a + 1.0))
    out = d.copy()
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * w / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / (1.0 + even * d)
        c = 1.0 + even / c
        out *= c * d
        odd = -(a + m) * (a + b + m) * w / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / (1.0 + odd * d)
        c = 1.0 + odd / c
        step = c * d
        out *= step
        if np.all(np.abs(step - 1.0) < rounding):
            break
    return out
