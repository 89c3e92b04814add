"""The stable-beta process, also called three-parameter beta process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy import optimize

from thincrm.errors import check_between, check_count, check_positive
from thincrm.levy.conditional import check_log_mass
from thincrm.levy.log_draws import log_gamma_draw, log_power_uniform
from thincrm.levy.series import Series
from thincrm.levy.special import log_gamma_ratio, log_hit, log_rest
from thincrm.levy.unit import Unit, UnitPower
from thincrm.numerics.arrays import Float, Seed, as_generator

__all__ = ["StableBetaProcess"]

_TINY_LOG = -37.0
_LARGE_LOG = 75.0  # a gamma of shape e^75 is its own mean to the last digit
_SMALLEST = float(np.finfo(float).tiny)


@dataclass(frozen=True, slots=True)
class StableBetaProcess(UnitPower):
    """Stable-beta process, ν0(m) = C m^{-1-σ} (1-m)^{c+σ-1} on (0, 1) (Teh and Görür 2009).

    C = γ Γ(1+c) / (Γ(1-σ) Γ(c+σ)), so that the mean total mass is γ.

    The finite approximation keeps an atom of mass m with probability 1 - (1-m)^a, the chance that
    it is used by one of `a` Bernoulli observations: f_K = ν0(m) (1 - (1-m)^a) / K, with `a` such
    that it integrates to 1 (the scheme of Lee, Miscouridou and Caron 2019 with an exponential
    clock of rate -log(1-m)). Its mean total mass falls short of γ by
    γ Γ(1+c) Γ(c+σ+a) / (Γ(c+σ) Γ(1+c+a)). Series: "inverse-levy" and, for c+σ >= 1, "rejection".

    Parameters
    ----------
    mass : float
        γ, the mean total mass: the expected number of active features of one observation.
    concentration : float
        c, above 0.
    discount : float
        σ, strictly between 0 and 1: features grow in number as N^σ.
    """

    mass: float = 1.0
    concentration: float = 1.0
    discount: float = 0.5
    plain_words: ClassVar[str] = (
        "A stable-beta process: infinitely many {many}, rare ones by a power law."
    )

    def __post_init__(self) -> None:
        check_positive("mass", self.mass)
        check_positive("concentration", self.concentration)
        check_between("discount", self.discount, 0.0, 1.0)

    def _unit(self) -> Unit:
        return Unit(self.mass, self.concentration, self.discount)

    def draw_log_mass(self, rng: Seed, n_atoms: int) -> Float:
        """Draw log m = -log(1 + 1/y), y the odds of an atom of the finite approximation.

        Its density in y is C y^{-1-σ} ((1+y)^{-c} - (1+y)^{-c-a})/K, a mixture of
        y^{-1-σ} (e^{-sy} - e^{-ty}) over t ~ Gamma(c+a), s/t ~ Beta(c, a) with weight t^σ - s^σ.
        So t ~ Gamma(c+a+σ), s/t is accepted with probability 1 - (s/t)^σ, and given both
        y ~ Gamma(1-σ, r) with r^σ uniform on (s^σ, t^σ).
        """
        rng, size = as_generator(rng), check_count("n_atoms", n_atoms)
        log_a = _log_cut(self._unit(), size)
        log_t = _log_gamma_of(rng, log_a, self.concentration + self.discount, size)
        log_s = log_t + self._log_share(rng, log_a, size)
        log_rate = log_power_uniform(rng, log_s, log_t, np.full(size, self.discount))
        log_odds = log_gamma_draw(rng, 1.0 - self.discount, size) - log_rate
        return np.minimum(-np.logaddexp(0.0, -log_odds), -_SMALLEST)

    def _log_share(self, rng: np.random.Generator, log_a: float, size: int) -> Float:
        """Draw log B with density proportional to Beta(c, a) times 1 - B^σ, by rejection."""
        out = np.empty(size)
        open_ = np.arange(size)
        while open_.size:
            log_s = log_gamma_draw(rng, self.concentration, open_.size)
            log_rest_of_t = _log_gamma_of(rng, log_a, 0.0, open_.size)
            out[open_] = -np.logaddexp(0.0, log_rest_of_t - log_s)
            open_ = open_[rng.random(open_.size) >= -np.expm1(self.discount * out[open_])]
        return out

    def log_prob(self, log_mass: Float) -> Float:
        """Return the log density of log m under f_K(m) = ν0(m) (1 - (1-m)^a) / K."""
        log_mass = check_log_mass(log_mass)
        inside = np.minimum(log_mass, -_SMALLEST)
        log_a = _log_cut(self._unit(), log_mass.size)
        kept = log_hit(log_a + _log_hazard(inside))
        value = self._log_density(inside) + kept - math.log(log_mass.size)
        return np.where(log_mass < 0.0, value, -np.inf)

    def _finite_missing_mass(self, n_atoms: int) -> float:
        """Return ∫ m ν0(m) (1-m)^a dm."""
        c, discount = self.concentration, self.discount
        log_a = _log_cut(self._unit(), n_atoms)
        log_c_a = np.logaddexp(math.log(c), log_a)
        now = _log_rise(c, log_a, discount) - log_c_a
        return self.mass * math.exp(math.log(c) + now - log_gamma_ratio(c, discount))

    def _series(self) -> dict[str, Series]:
        return self._rejection()


@lru_cache(maxsize=256)
def _log_cut(form: Unit, n_atoms: int) -> float:
    """Return log a with ∫ ν0(m) (1 - (1-m)^a) dm = K.

    The integral is (γc/σ) (ratio(c+a)/ratio(c) - 1), ratio(x) = Γ(x+σ)/Γ(x).
    """
    mass, c, discount = form
    target = log_gamma_ratio(c, discount) + math.log1p(n_atoms * discount / (mass * c))
    top = max(target, 0.0) / discount + math.log(c + 2.0) + 5.0
    return float(optimize.brentq(lambda log_a: _log_rise(c, log_a, discount) - target, -80.0, top))


def _log_rise(c: float, log_a: float, discount: float) -> float:
    """Return log Γ(c+a+σ)/Γ(c+a), also where `a` itself passes the largest float."""
    if log_a > _LARGE_LOG:
        return discount * log_a
    return log_gamma_ratio(c + math.exp(log_a), discount)


def _log_gamma_of(rng: np.random.Generator, log_a: float, more: float, size: int) -> Float:
    """Draw log G, G ~ Gamma(a + more, 1), from log a."""
    capped = min(log_a, _LARGE_LOG)
    return log_gamma_draw(rng, math.exp(capped) + more, size) + (log_a - capped)


def _log_hazard(log_mass: Float) -> Float:
    """Return log(-log(1-m))."""
    return np.where(log_mass < _TINY_LOG, log_mass, np.log(-log_rest(np.maximum(log_mass, -50.0))))
