"""Lévy measures on (0, 1): ν0(m) = C m^{-1-σ} (1-m)^{c+σ-1}.

σ = 0 is the beta process, 0 < σ < 1 the stable-beta process.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import special

from thincrm.errors import UndefinedMoment, check_positive
from thincrm.levy.line import from_line
from thincrm.levy.process import LevyProcess, at_least_zero
from thincrm.levy.series import Series, rejection
from thincrm.levy.special import log_gamma_ratio, log_rest, log_upper_beta, power_log
from thincrm.numerics.arrays import ArrayLike, Float

__all__ = ["Unit", "UnitPower"]

_STEP = 1.0 / 64.0
_ASYMPTOTIC = 1e4
_ASYMPTOTIC_TERMS = 8


class Unit(NamedTuple):
    """The constants γ, c, σ of C m^{-1-σ} (1-m)^{c+σ-1}, C = γ Γ(1+c) / (Γ(1-σ) Γ(c+σ))."""

    mass: float
    concentration: float
    discount: float

    @property
    def power(self) -> float:
        """Return b = c + σ, the exponent of 1 - m in the tail."""
        return self.concentration + self.discount

    @property
    def log_constant(self) -> float:
        """Return log C."""
        rise = log_gamma_ratio(self.concentration, self.discount)
        step = math.lgamma(1.0 - self.discount)
        return math.log(self.mass) + math.log(self.concentration) - rise - step


class UnitPower(LevyProcess):
    """Tail, moments, Laplace exponent and rejection series of C m^{-1-σ} (1-m)^{b-1}."""

    __slots__ = ()
    support: ClassVar[float] = 1.0

    @abstractmethod
    def _unit(self) -> Unit:
        """Return the constants of this member."""

    def _log_density(self, log_mass: Float) -> Float:
        form = self._unit()
        bend = (form.power - 1.0) * log_rest(log_mass)
        return form.log_constant - form.discount * log_mass + bend

    def _log_tail(self, log_mass: Float) -> Float:
        form = self._unit()
        return form.log_constant + log_upper_beta(log_mass, form.discount, form.power)

    def _tail_start(self, level: Float) -> Float:
        """Invert the tail's leading term: (1-m)^b/b for few atoms, its power law for many."""
        form = self._unit()
        log_level = np.log(level) - form.log_constant
        log_gap = np.minimum(math.log(form.power) + log_level, -1e-3) / form.power
        few = log_rest(log_gap) - log_gap
        if form.discount == 0.0:
            many = -np.exp(log_level) - special.digamma(form.power) - np.euler_gamma
        else:
            constant = math.lgamma(1.0 - form.discount)
            constant += log_gamma_ratio(form.concentration, form.discount)
            many = -np.logaddexp(math.log(form.discount) + log_level, constant) / form.discount
        return np.where(log_level + math.log(form.power) < -0.7, few, many)

    def moment(self, n: float) -> float:
        """Return ∫ m^n ν0 = γ Γ(1+c) Γ(n-σ) / (Γ(1-σ) Γ(n+c)), finite for n > σ."""
        form = self._unit()
        if check_positive("n", n) <= form.discount:
            raise UndefinedMoment(
                f"The moment of order {n} of {self} is infinite: "
                f"n must be above its discount {form.discount}."
            )
        log_beta = special.betaln(n - form.discount, form.power)
        return math.exp(form.log_constant + log_beta)

    def laplace_exponent(self, u: ArrayLike) -> Float:
        """Return (γc/σ) (₁F₁(-σ; c; -u) - 1), or γu ₂F₂(1,1; 2,c+1; -u) at σ = 0.

        A trapezium rule on the line for moderate u, the expansion in 1/u (DLMF 13.7.2) beyond.
        """
        u = at_least_zero("u", u)
        bound = _ASYMPTOTIC * (1.0 + self._unit().concentration ** 2)
        near, far = np.minimum(u, bound), np.maximum(u, bound)
        return np.where(u < bound, self._laplace_near(near), self._laplace_far(far))

    def _laplace_near(self, u: Float) -> Float:
        form = self._unit()
        left = math.asinh(60.0 / (1.0 - form.discount))
        right = math.asinh(40.0 / form.power)
        t = np.arange(-left, right, _STEP)
        log_mass, log_complement = from_line(np.sinh(t), 1.0)
        log_weight = -form.discount * log_mass + form.power * log_complement
        weight = np.exp(form.log_constant + log_weight) * np.cosh(t) * _STEP
        total = np.zeros_like(u)
        for w, m in zip(weight, np.exp(log_mass), strict=True):
            total -= w * np.expm1(-u * m)
        return total

    def _laplace_far(self, u: Float) -> Float:
        mass, concentration, discount = self._unit()
        log_u = np.log(u)
        if discount == 0.0:
            lead, leading = log_u - special.digamma(concentration), np.ones_like(u)
        else:
            rise = log_gamma_ratio(concentration, discount) / discount
            lead = power_log(log_u - rise, discount)
            leading = np.exp(discount * (log_u - rise))
        correction, term = np.zeros_like(u), np.ones_like(u)
        for s in range(1, _ASYMPTOTIC_TERMS):
            rising = s - 1.0 - discount if s > 1 else 1.0
            term = term * rising * (s - discount - concentration) / (s * u)
            correction += term
        return mass * concentration * (lead - leading * correction)

    def _rejection(self) -> dict[str, Series]:
        """Return the series that thins C m^{-1-σ} on (0, 1) by (1-m)^{b-1}, for b >= 1."""
        form = self._unit()
        if form.power < 1.0:
            return {}
        constant = math.exp(form.log_constant)
        return {
            "rejection": rejection(
                self._log_density,
                lambda log_mass: np.log(-constant * power_log(log_mass, -form.discount)),
                lambda arrivals: -_log_grown(arrivals / constant, form.discount),
                lambda log_mass: (form.power - 1.0) * log_rest(log_mass),
                self.support,
            )
        }


def _log_grown(level: Float, discount: float) -> Float:
    """Return log(1 + σ level)/σ, which is `level` at σ = 0."""
    return level if discount == 0.0 else np.log1p(discount * level) / discount
