"""What the generalised gamma and stable processes share: one latent rate per atom.

C m^{-1-σ} (e^{-τm} - e^{-(τ+a)m}) = C ∫_τ^{τ+a} m^{-σ} e^{-rm} dr: an atom is a rate r with density
r^{σ-1} and a mass m ~ Gamma(1-σ, r). The cut a makes it finite (James 2014, who named the σ-stable
case BFRY; Lee, Miscouridou and Caron 2019), and it stays so after hits and exposure.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from thincrm.errors import check_count
from thincrm.levy.conditional import check_log_mass
from thincrm.levy.log_draws import log_gamma_draw, log_power_uniform
from thincrm.levy.series import Series
from thincrm.levy.special import log_hit
from thincrm.levy.tilted import TiltedPower
from thincrm.numerics.arrays import Float, Seed, as_generator
from thincrm.ports import MassEvidence

__all__ = ["TemperedStable"]


class TemperedStable(TiltedPower):
    """Finite approximation, full conditionals and size-biased series for 0 < σ < 1, τ >= 0."""

    __slots__ = ()

    def _log_top_rate(self, n_atoms: int) -> float:
        """Return log(τ + a), where K = ∫ ν0(m) (1 - e^{-am}) dm = scale ((τ+a)^σ - τ^σ)/σ."""
        scale, discount, tilt = self._tilted()
        grown = n_atoms * discount / scale
        if tilt == 0.0:
            return math.log(grown) / discount
        return math.log(tilt) + math.log1p(grown * tilt**-discount) / discount

    def _log_cut(self, n_atoms: int) -> float:
        """Return log a."""
        top = self._log_top_rate(n_atoms)
        tilt = self._tilted().tilt
        return top if tilt == 0.0 else top + float(log_hit(np.log(top - math.log(tilt))))

    def draw_log_mass(self, rng: Seed, n_atoms: int) -> Float:
        """Draw r with r^σ uniform on (τ^σ, (τ+a)^σ), then the log of m ~ Gamma(1-σ, r)."""
        none = np.zeros(check_count("n_atoms", n_atoms))
        return self._conditional_draw(as_generator(rng), none, none)

    def _conditional_draw(self, rng: np.random.Generator, hits: Float, exposure: Float) -> Float:
        """Draw r on (τ+E, τ+E+a) with density r^{σ-h-1}, then m ~ Gamma(1-σ+h, r)."""
        _, discount, tilt = self._tilted()
        with np.errstate(divide="ignore"):
            log_low = np.log(tilt + exposure)
        log_high = np.logaddexp(log_low, self._log_cut(hits.size))
        log_rate = log_power_uniform(rng, log_low, log_high, discount - hits)
        return log_gamma_draw(rng, 1.0 - discount + hits, hits.size) - log_rate

    def _exact_redraw(self, rng: np.random.Generator, evidence: MassEvidence) -> Float | None:
        if evidence.misses.any() or evidence.overflow.any():
            return None
        return self._conditional_draw(rng, evidence.hits, evidence.exposure)

    def log_prob(self, log_mass: Float) -> Float:
        """Return the log density of log m under f_K(m) = ν0(m) (1 - e^{-am}) / K."""
        log_mass = check_log_mass(log_mass)
        n_atoms = log_mass.size
        with np.errstate(over="ignore"):
            kept = log_hit(self._log_cut(n_atoms) + log_mass)
            return self._log_density(log_mass) + kept - math.log(n_atoms)

    def _finite_missing_mass(self, n_atoms: int) -> float:
        """Return ∫ m ν0(m) e^{-am} dm = scale (τ+a)^{σ-1}."""
        scale, discount, _ = self._tilted()
        return scale * math.exp((discount - 1.0) * self._log_top_rate(n_atoms))

    def _size_biased(self, rng: np.random.Generator, arrivals: Float) -> Float:
        """Return log m_k, m_k ~ Gamma(1-σ, r_k) with r_k = (τ^σ + T_k σ/scale)^{1/σ}."""
        scale, discount, tilt = self._tilted()
        log_rate = np.log(math.pow(tilt, discount) + arrivals * discount / scale) / discount
        return log_gamma_draw(rng, 1.0 - discount, arrivals.size) - log_rate

    @abstractmethod
    def _missing_size_biased(self, n_atoms: int) -> float:
        """Return ε_K of the size-biased series, E[scale r^{σ-1}] at the K-th rate r."""

    def _series(self) -> dict[str, Series]:
        return {"size-biased": Series(self._size_biased, self._missing_size_biased)}
