"""Masses on the whole line: where slices, roots and integrals of every Lévy measure are done.

z = log m for masses without an upper end, z = log m - log(1 - m) for masses below 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from thincrm.levy.special import log_rest
from thincrm.numerics.arrays import Float

__all__ = ["from_line", "integrate_line", "solve_on_line", "to_line"]

_SMALLEST = float(np.finfo(float).tiny)
_FAR = 700.0  # a mass nearer to 1 than e^-700 has no float logarithm
_REACH = 3e4  # how far an integral looks: even a slope of 1/800 has died out there
_MOST_POINTS = 200_000
_ACCURACY = 1e-10
_MOST_NEWTON = 100


def to_line(log_mass: Float, support: float) -> Float:
    """Return z, the place of each mass on the line."""
    if support == np.inf:
        return np.array(log_mass, float)
    return np.asarray(log_mass - log_rest(log_mass))


def from_line(z: Float, support: float) -> tuple[Float, Float]:
    """Return (log m, log d log m / dz); on the unit interval the second is log(1 - m)."""
    if support == np.inf:
        return z, np.zeros_like(z)
    return np.minimum(-np.logaddexp(0.0, -z), -_SMALLEST), -np.logaddexp(0.0, z)


def solve_on_line(
    log_tail: Callable[[Float], Float],
    log_density: Callable[[Float], Float],
    log_level: Float,
    start: Float,
    support: float,
) -> Float:
    """Return the log masses at which the tail of a Lévy measure equals exp(log_level).

    Newton's method for log tail as a function of z. That function is decreasing and concave for
    the measures of this room, so at most one step overshoots and the rest close in from one side.

    Parameters
    ----------
    log_tail, log_density : callable
        Map log mass to log ∫_m^∞ ν0 and to log m ν0(m).
    """
    z = np.array(start, float)
    for _ in range(_MOST_NEWTON):
        log_mass, log_slope = from_line(z, support)
        now = log_tail(log_mass)
        step = (now - log_level) * np.exp(now - log_density(log_mass) - log_slope)
        last, z = z, z + step if support == np.inf else np.minimum(z + step, _FAR)
        if np.all(np.abs(z - last) <= 1e-14 * np.maximum(np.abs(z), 1.0)):
            break
    return from_line(z, support)[0]


def integrate_line(
    log_integrand: Callable[[Float], Float], centre: float = 0.0, scale: float = 1.0
) -> float:
    """Return ∫ exp(log_integrand(z)) dz by the trapezium rule in t, z = centre + scale sinh t.

    For integrands that die out exponentially on both sides the rule converges faster than any
    power of the step (Takahasi and Mori 1974); the step is halved until two answers agree.
    Points crowd around the centre, down to a fraction of the scale.
    """
    reach = math.asinh(_REACH / scale)
    n_half = 256
    last = np.nan
    while True:
        t = np.linspace(-reach, reach, 2 * n_half + 1)
        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            value = np.exp(log_integrand(centre + scale * np.sinh(t))) * np.cosh(t)
        total = float(value.sum() * scale * (t[1] - t[0]))
        if abs(total - last) <= _ACCURACY * abs(total) or n_half > _MOST_POINTS:
            return total
        last, n_half = total, 2 * n_half
