"""Kernels k of one covariate column, and their exact integrals over a window of locations.

d = (t - m) / length is how far a covariate t lies beyond a location m:

    gaussian      exp(-d^2 / 2)
    box           1[|d| <= 1]
    exponential   exp(-|d|)
    one-sided     exp(-d) 1[d >= 0]

With several columns a bump is the product of its columns' kernels, so that an integral over a
box of locations is a product of integrals over intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import erf

from thincrm.numerics.arrays import Float

__all__ = ["KERNELS", "Kernel", "length_rule"]

Function = Callable[..., Float]
_FARTHEST = 7.5  # standard deviations of log length kept in a mean: 6e-14 lies outside
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: its logarithm, and what is needed to integrate it exactly.

    Attributes
    ----------
    log_value : callable
        log k(d).
    primitive : callable
        (m, t, length) -> an antiderivative, in m, of k((t - m) / length).
    product : callable
        (low, high, u, v, length), u <= v -> the integral over locations of k(u) k(v).
    one_sided : bool
        Whether a location counts only from itself on.
    """

    log_value: Function
    primitive: Function
    product: Function
    one_sided: bool = False

    def area(self, low: float, high: float, t: Float, length: Float) -> Float:
        """Return the integral of k((t - m) / length) over low < m < high."""
        return np.asarray(self.primitive(high, t, length) - self.primitive(low, t, length))

    def smaller(self, low: float, high: float, u: Float, v: Float, length: Float) -> Float:
        """Return the integral of the smaller of the kernels at u <= v.

        k falls with distance, so the smaller one is that of v up to the midpoint and that of u
        beyond; a one-sided kernel is zero at u once the location has passed it.
        """
        turn = np.clip(u if self.one_sided else (u + v) / 2, low, high)
        below = self.primitive(turn, v, length) - self.primitive(low, v, length)
        if self.one_sided:
            return np.asarray(below)
        return np.asarray(below + self.primitive(high, u, length) - self.primitive(turn, u, length))


def _gaussian_log(d: Float) -> Float:
    return np.asarray(-0.5 * d * d)


def _gaussian_primitive(m: Float | float, t: Float, length: Float) -> Float:
    return np.asarray(length * np.sqrt(np.pi / 2) * erf((m - t) / (np.sqrt(2) * length)))


def _gaussian_product(low: float, high: float, u: Float, v: Float, length: Float) -> Float:
    """k(u) k(v) = exp(-(v - u)^2 / 4 length^2) times a narrower Gaussian at the midpoint."""
    narrow = length / np.sqrt(2)
    ends = [_gaussian_primitive(m, (u + v) / 2, narrow) for m in (low, high)]
    return np.asarray(np.exp(-(((v - u) / (2 * length)) ** 2)) * (ends[1] - ends[0]))


def _box_log(d: Float) -> Float:
    return np.where(np.abs(d) <= 1, 0.0, -np.inf)


def _box_primitive(m: Float | float, t: Float, length: Float) -> Float:
    return np.asarray(np.clip(m - t, -length, length))


def _box_product(low: float, high: float, u: Float, v: Float, length: Float) -> Float:
    overlap = np.minimum(high, u + length) - np.maximum(low, v - length)
    return np.asarray(np.maximum(overlap, 0.0))


def _exponential_log(d: Float) -> Float:
    return np.asarray(-np.abs(d))


def _exponential_primitive(m: Float | float, t: Float, length: Float) -> Float:
    return np.asarray(-length * np.sign(m - t) * np.expm1(-np.abs(m - t) / length))


def _exponential_product(low: float, high: float, u: Float, v: Float, length: Float) -> Float:
    """k(u) k(v) is exp(-(v - u)/length) between u and v, and falls twice as fast outside."""
    before, beyond = (_one_sided_primitive(m, u, length / 2) for m in (low, high))
    after, ahead = (_one_sided_primitive(-m, -v, length / 2) for m in (high, low))
    middle = np.clip(high, u, v) - np.clip(low, u, v)
    return np.asarray(np.exp((u - v) / length) * (beyond - before + middle + ahead - after))


def _one_sided_log(d: Float) -> Float:
    return np.where(d >= 0, -d, -np.inf)


def _one_sided_primitive(m: Float | float, t: Float, length: Float) -> Float:
    return np.asarray(length * np.exp(np.minimum(m - t, 0.0) / length))


def _one_sided_product(low: float, high: float, u: Float, v: Float, length: Float) -> Float:
    ends = [_one_sided_primitive(m, u, length / 2) for m in (low, high)]
    return np.asarray(np.exp((u - v) / length) * (ends[1] - ends[0]))


KERNELS = {
    "gaussian": Kernel(_gaussian_log, _gaussian_primitive, _gaussian_product),
    "box": Kernel(_box_log, _box_primitive, _box_product),
    "exponential": Kernel(_exponential_log, _exponential_primitive, _exponential_product),
    "one-sided": Kernel(_one_sided_log, _one_sided_primitive, _one_sided_product, one_sided=True),
}


def length_rule(median: float, spread: float, breaks_PB: Float) -> tuple[Float, Float]:
    """Return lengths and weights (P, Q) of a rule for means over log l ~ N(log median, spread^2).

    Gauss-Legendre in z = (log l - log median) / spread, in panels that meet at `breaks_PB`: the
    lengths at which an integrand bends.
    """
    if spread == 0:
        return np.full((len(breaks_PB), 1), median), np.ones((len(breaks_PB), 1))
    with np.errstate(divide="ignore"):
        z_PB = np.log(breaks_PB / median) / spread
    ends = np.full((len(z_PB), 1), _FARTHEST)
    edge = np.sort(np.hstack([-ends, np.clip(z_PB, -_FARTHEST, _FARTHEST), ends]), axis=1)
    half = np.diff(edge, axis=1)[:, :, None] / 2
    z = (edge[:, :-1, None] + half + half * _NODES).reshape(len(z_PB), -1)
    weight = (half * _WEIGHTS).reshape(z.shape) * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return median * np.exp(spread * z), weight
