"""The gamma process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thincrm.errors import check_count, check_positive
from thincrm.levy.conditional import check_log_mass
from thincrm.levy.log_draws import log_gamma_draw
from thincrm.levy.series import Series, rejection
from thincrm.levy.special import log_hit
from thincrm.levy.tilted import Tilted, TiltedPower
from thincrm.numerics.arrays import Float, Seed, as_generator
from thincrm.ports import MassEvidence

__all__ = ["GammaProcess"]


@dataclass(frozen=True, slots=True)
class GammaProcess(TiltedPower):
    """Gamma process, ν0(m) = γ m^{-1} e^{-λm}; its total mass is Gamma(γ, λ).

    The finite approximation is m_k ~ Gamma(γ/K, λ), k = 1..K: its total mass is exact for every
    K, so no mean mass is missing. Series: "inverse-levy", "bondesson" (Bondesson 1982),
    "rejection" (Rosinski 2001). Full conditionals are exact gamma draws where the evidence is
    hits and exposure only.

    Parameters
    ----------
    mass : float
        γ; the mean total mass is γ/λ.
    rate : float
        λ.
    """

    mass: float = 1.0
    rate: float = 1.0
    plain_words: ClassVar[str] = (
        "A gamma process: infinitely many {many}, most of them tiny; sizes are rates."
    )

    def __post_init__(self) -> None:
        check_positive("mass", self.mass)
        check_positive("rate", self.rate)

    def _tilted(self) -> Tilted:
        return Tilted(self.mass, 0.0, self.rate)

    def draw_log_mass(self, rng: Seed, n_atoms: int) -> Float:
        """Draw the logs of m_k ~ Gamma(γ/K, λ)."""
        size = check_count("n_atoms", n_atoms)
        return log_gamma_draw(as_generator(rng), self.mass / size, size) - math.log(self.rate)

    def log_prob(self, log_mass: Float) -> Float:
        """Return the log density of log m under m ~ Gamma(γ/K, λ), K = log_mass.size."""
        log_mass = check_log_mass(log_mass)
        shape = self.mass / log_mass.size
        with np.errstate(over="ignore"):
            kernel = shape * log_mass - self.rate * np.exp(log_mass)
        return kernel + (shape * math.log(self.rate) - math.lgamma(shape))

    def _exact_redraw(self, rng: np.random.Generator, evidence: MassEvidence) -> Float | None:
        """Draw m_k ~ Gamma(γ/K + hits, λ + exposure)."""
        if evidence.misses.any() or evidence.overflow.any():
            return None
        size = evidence.hits.size
        log_mass = log_gamma_draw(rng, self.mass / size + evidence.hits, size)
        return log_mass - np.log(self.rate + evidence.exposure)

    def _finite_missing_mass(self, n_atoms: int) -> float:
        return 0.0

    def _series(self) -> dict[str, Series]:
        return {
            "bondesson": Series(self._bondesson, self._missing_bondesson),
            "rejection": rejection(
                self._log_density,
                self._log_envelope_tail,
                self._envelope_inverse,
                self._log_accept,
                self.support,
            ),
        }

    def _bondesson(self, rng: np.random.Generator, arrivals: Float) -> Float:
        """Return the logs of V_k e^{-T_k/γ}, V_k ~ Exp(λ)."""
        log_v = np.log(rng.standard_exponential(arrivals.size)) - math.log(self.rate)
        return log_v - arrivals / self.mass

    def _missing_bondesson(self, n_atoms: int) -> float:
        """Return (γ/λ) (γ/(1+γ))^K."""
        return self.mass / self.rate * math.exp(-n_atoms * math.log1p(1.0 / self.mass))

    def _envelope_inverse(self, arrivals: Float) -> Float:
        """Invert the envelope γ / (m (1 + λm)): m = 1 / (λ (e^{T/γ} - 1))."""
        scaled = arrivals / self.mass
        return -math.log(self.rate) - scaled - log_hit(np.log(scaled))

    def _log_envelope_tail(self, log_mass: Float) -> Float:
        """Return the log of γ log(1 + 1/(λm))."""
        return np.log(self.mass * np.logaddexp(0.0, -log_mass - math.log(self.rate)))

    def _log_accept(self, log_mass: Float) -> Float:
        """Return the log of ν0 over its envelope, (1 + λm) e^{-λm}."""
        tilted_mass = self.rate * np.exp(log_mass)
        return np.log1p(tilted_mass) - tilted_mass
