"""The beta process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from thincrm.errors import InvalidInput, check_count, check_positive
from thincrm.levy.conditional import check_log_mass
from thincrm.levy.log_draws import log_beta_draw
from thincrm.levy.rounds import log_round_masses, missing_after_rounds
from thincrm.levy.series import Series
from thincrm.levy.special import log_hit, log_rest
from thincrm.levy.unit import Unit, UnitPower
from thincrm.numerics.arrays import Float, Seed, as_generator
from thincrm.ports import MassEvidence

__all__ = ["BetaProcess"]


@dataclass(frozen=True, slots=True)
class BetaProcess(UnitPower):
    """Beta process, ν0(m) = γc m^{-1} (1-m)^{c-1} on (0, 1) (Hjort 1990).

    The finite approximation is m_k ~ Beta(cγ/K, c(1-γ/K)), k = 1..K > γ: its mean total mass is
    γ for every K, so none is missing. Series: "inverse-levy"; "size-biased" (rounds of Thibaux
    and Jordan 2007); for c >= 1 also "bondesson" and "rejection". Full conditionals are exact
    beta draws where the evidence is hits and misses only.

    Parameters
    ----------
    mass : float
        γ, the mean total mass: the expected number of active features of one observation.
    concentration : float
        c; the larger, the more features are shared by few observations.
    """

    mass: float = 1.0
    concentration: float = 1.0
    plain_words: ClassVar[str] = (
        "A beta process: infinitely many {many}, most of them rare; sizes are probabilities."
    )

    def __post_init__(self) -> None:
        check_positive("mass", self.mass)
        check_positive("concentration", self.concentration)

    def _unit(self) -> Unit:
        return Unit(self.mass, self.concentration, 0.0)

    def _shapes(self, n_atoms: int) -> tuple[float, float]:
        if check_count("n_atoms", n_atoms) <= self.mass:
            raise InvalidInput(
                f"n_atoms must be above the mass of {self}, got {n_atoms}: "
                "take more atoms or a smaller mass."
            )
        share = self.mass / n_atoms
        return self.concentration * share, self.concentration * (1.0 - share)

    def draw_log_mass(self, rng: Seed, n_atoms: int) -> Float:
        """Draw the logs of m_k ~ Beta(cγ/K, c(1-γ/K))."""
        a, b = self._shapes(n_atoms)
        return log_beta_draw(as_generator(rng), a, b, int(n_atoms))

    def log_prob(self, log_mass: Float) -> Float:
        """Return the log density of log m under the beta law above, K = log_mass.size."""
        log_mass = check_log_mass(log_mass)
        a, b = self._shapes(log_mass.size)
        inside = np.minimum(log_mass, -np.finfo(float).tiny)
        kernel = a * log_mass + (b - 1.0) * log_rest(inside) - special.betaln(a, b)
        return np.where(log_mass < 0.0, kernel, -np.inf)

    def _exact_redraw(self, rng: np.random.Generator, evidence: MassEvidence) -> Float | None:
        """Draw m_k ~ Beta(cγ/K + hits, c(1-γ/K) + misses)."""
        if evidence.exposure.any() or evidence.overflow.any():
            return None
        a, b = self._shapes(evidence.hits.size)
        return log_beta_draw(rng, a + evidence.hits, b + evidence.misses, evidence.hits.size)

    def _finite_missing_mass(self, n_atoms: int) -> float:
        self._shapes(n_atoms)
        return 0.0

    def _series(self) -> dict[str, Series]:
        methods = {"size-biased": Series(self._size_biased, self._missing_size_biased)}
        if self.concentration >= 1.0:
            methods["bondesson"] = Series(self._bondesson, self._missing_bondesson)
        return methods | self._rejection()

    def _bondesson(self, rng: np.random.Generator, arrivals: Float) -> Float:
        """Return the logs of V_k e^{-T_k/(γc)}, V_k ~ Beta(1, c-1), and V_k = 1 at c = 1."""
        decay = -arrivals / (self.mass * self.concentration)
        if self.concentration == 1.0:
            return decay
        waiting = rng.standard_exponential(arrivals.size) / (self.concentration - 1.0)
        return log_hit(np.log(waiting)) + decay

    def _missing_bondesson(self, n_atoms: int) -> float:
        """Return γ (γc/(1+γc))^K."""
        rate = 1.0 / (self.mass * self.concentration)
        return self.mass * math.exp(-n_atoms * math.log1p(rate))

    def _size_biased(self, rng: np.random.Generator, arrivals: Float) -> Float:
        return log_round_masses(rng, arrivals, self.mass, self.concentration)

    def _missing_size_biased(self, n_atoms: int) -> float:
        return missing_after_rounds(n_atoms, self.mass, self.concentration)
