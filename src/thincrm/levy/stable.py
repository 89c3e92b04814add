"""The stable process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thincrm.errors import InvalidInput, UndefinedMoment, check_between, check_positive
from thincrm.levy.process import at_least_zero
from thincrm.levy.series import Series
from thincrm.levy.tempered import TemperedStable
from thincrm.levy.tilted import Tilted
from thincrm.numerics.arrays import ArrayLike, Float
from thincrm.ports import MassEvidence

__all__ = ["StableProcess"]


@dataclass(frozen=True, slots=True)
class StableProcess(TemperedStable):
    """Stable process, ν0(m) = γσ/Γ(1-σ) m^{-1-σ}; its total mass has Laplace exponent γu^σ.

    No moment exists: the total mass is finite, but its mean is not. The finite approximation
    has density f_K = ν0(m) (1 - e^{-am})/K with a = (K/γ)^{1/σ} (the BFRY law of James 2014);
    the mean mass it leaves out, γσ a^{σ-1}, is finite. Series: "inverse-levy" and "size-biased".
    Full conditionals are exact where the evidence is hits and exposure only.

    Parameters
    ----------
    mass : float
        γ.
    discount : float
        σ, strictly between 0 and 1; the smaller, the heavier the tail.
    """

    mass: float = 1.0
    discount: float = 0.5
    plain_words: ClassVar[str] = (
        "A stable process: infinitely many {many}, small ones by a power law."
    )

    def __post_init__(self) -> None:
        check_positive("mass", self.mass)
        check_between("discount", self.discount, 0.0, 1.0)

    def _tilted(self) -> Tilted:
        return Tilted(self.mass * self.discount, self.discount, 0.0)

    def _log_density(self, log_mass: Float) -> Float:
        return np.asarray(self._tilted().log_constant - self.discount * log_mass)

    def _log_tail(self, log_mass: Float) -> Float:
        """Return the log of γ m^{-σ} / Γ(1-σ)."""
        constant = math.log(self.mass) - math.lgamma(1.0 - self.discount)
        return np.asarray(constant - self.discount * log_mass)

    def _tail_start(self, level: Float) -> Float:
        constant = math.log(self.mass) - math.lgamma(1.0 - self.discount)
        return np.asarray((constant - np.log(level)) / self.discount)

    def moment(self, n: float) -> float:
        """Raise: every moment of a stable process is infinite."""
        raise UndefinedMoment(
            f"The moment of order {check_positive('n', n):g} of {self} is infinite, as all of its "
            "moments are: use GeneralizedGammaProcess, whose tail is tempered."
        )

    def laplace_exponent(self, u: ArrayLike) -> Float:
        """Return γ u^σ."""
        return np.asarray(self.mass * at_least_zero("u", u) ** self.discount)

    def _exact_redraw(self, rng: np.random.Generator, evidence: MassEvidence) -> Float | None:
        unbounded = (evidence.exposure == 0) & (evidence.hits >= self.discount + evidence.overflow)
        if unbounded.any():
            raise InvalidInput(
                "hits without exposure leave a stable atom's mass without a proper law: "
                "give exposure, or use GeneralizedGammaProcess."
            )
        return TemperedStable._exact_redraw(self, rng, evidence)

    def _inverse_levy(self) -> Series:
        return Series(TemperedStable._inverse_levy(self).log_masses, self._missing_inverse_levy)

    def _fewest_atoms(self) -> int:
        return int((1.0 - self.discount) / self.discount) + 1

    def _missing_inverse_levy(self, n_atoms: int) -> float:
        """Return E[C m^{1-σ}/(1-σ)] at the K-th mass, m = (Γ(1-σ) G_K/γ)^{-1/σ}."""
        log_constant = self._tilted().log_constant - math.log1p(-self.discount)
        ratio = math.lgamma(1.0 - self.discount) - math.log(self.mass)
        return self._mean_of_power(n_atoms, log_constant, ratio)

    def _missing_size_biased(self, n_atoms: int) -> float:
        """Return E[γσ r^{σ-1}] at the K-th rate, r = (G_K/γ)^{1/σ}."""
        return self._mean_of_power(
            n_atoms, math.log(self.mass * self.discount), -math.log(self.mass)
        )

    def _mean_of_power(self, n_atoms: int, log_constant: float, log_ratio: float) -> float:
        """Return constant x E[(ratio G_K)^{-(1-σ)/σ}], G_K ~ Gamma(K, 1)."""
        if n_atoms < self._fewest_atoms():
            raise UndefinedMoment(
                f"The mass that {n_atoms} atoms of {self} leave out has an infinite mean: "
                f"use n_atoms of at least {self._fewest_atoms()}."
            )
        power = (1.0 - self.discount) / self.discount
        mean = math.lgamma(n_atoms - power) - math.lgamma(n_atoms)
        return math.exp(log_constant - power * log_ratio + mean)
