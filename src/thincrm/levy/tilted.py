"""Lévy measures on (0, ∞): a power law with an exponential tilt, ν0(m) = C m^{-1-σ} e^{-τm}.

σ = 0 is the gamma process, 0 < σ < 1 the generalised gamma process, τ = 0 the stable process.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from thincrm.errors import UndefinedMoment, check_positive
from thincrm.levy.process import LevyProcess, at_least_zero
from thincrm.levy.special import log_upper_gamma, power_log
from thincrm.numerics.arrays import ArrayLike, Float

__all__ = ["Tilted", "TiltedPower"]


class Tilted(NamedTuple):
    """The constants of C m^{-1-σ} e^{-τm}; `scale` is C Γ(1-σ)."""

    scale: float
    discount: float
    tilt: float

    @property
    def log_constant(self) -> float:
        """Return log C."""
        return math.log(self.scale) - math.lgamma(1.0 - self.discount)


class TiltedPower(LevyProcess):
    """Tail, moments and Laplace exponent of C m^{-1-σ} e^{-τm} with τ > 0."""

    __slots__ = ()
    support: ClassVar[float] = np.inf

    @abstractmethod
    def _tilted(self) -> Tilted:
        """Return the constants of this member."""

    def _log_density(self, log_mass: Float) -> Float:
        form = self._tilted()
        return form.log_constant - form.discount * log_mass - form.tilt * np.exp(log_mass)

    def _log_tail(self, log_mass: Float) -> Float:
        form = self._tilted()
        log_tilt = math.log(form.tilt)
        upper = log_upper_gamma(log_mass + log_tilt, form.discount)
        return form.log_constant + form.discount * log_tilt + upper

    def _tail_start(self, level: Float) -> Float:
        """Invert the tail's leading term: e^{-z} for few atoms, (z^{-σ} - Γ(1-σ))/σ for many."""
        form = self._tilted()
        log_tilt = math.log(form.tilt)
        log_level = np.log(level) - form.log_constant - form.discount * log_tilt
        few = np.log(np.maximum(-log_level, 1.0))
        if form.discount == 0.0:
            many = -np.exp(log_level) - np.euler_gamma
        else:
            grown = np.logaddexp(
                math.log(form.discount) + log_level, math.lgamma(1.0 - form.discount)
            )
            many = -grown / form.discount
        return np.where(log_level < -2.0, few, many) - log_tilt

    def moment(self, n: float) -> float:
        """Return ∫ m^n ν0 = C Γ(n-σ) τ^{σ-n}, finite for n > σ."""
        form = self._tilted()
        if check_positive("n", n) <= form.discount:
            raise UndefinedMoment(
                f"The moment of order {n} of {self} is infinite: "
                f"n must be above its discount {form.discount}."
            )
        log_ratio = math.lgamma(n - form.discount) - math.lgamma(1.0 - form.discount)
        return form.scale * math.exp(log_ratio + (form.discount - n) * math.log(form.tilt))

    def laplace_exponent(self, u: ArrayLike) -> Float:
        """Return C Γ(1-σ) ((τ+u)^σ - τ^σ)/σ, and C log(1 + u/τ) at σ = 0."""
        form = self._tilted()
        growth = np.log1p(at_least_zero("u", u) / form.tilt)
        return form.scale * math.pow(form.tilt, form.discount) * power_log(growth, form.discount)
