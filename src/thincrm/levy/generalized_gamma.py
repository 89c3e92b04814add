"""The generalised gamma process; inverse Gaussian at discount 1/2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import optimize, special

from thincrm.errors import check_between, check_positive
from thincrm.levy.line import integrate_line
from thincrm.levy.series import Series, rejection
from thincrm.levy.tempered import TemperedStable
from thincrm.levy.tilted import Tilted
from thincrm.numerics.arrays import Float

__all__ = ["GeneralizedGammaProcess"]


@dataclass(frozen=True, slots=True)
class GeneralizedGammaProcess(TemperedStable):
    """Generalised gamma process, ν0(m) = γ/Γ(1-σ) m^{-1-σ} e^{-τm} (Brix 1999).

    The finite approximation has density f_K = ν0(m) (1 - e^{-am})/K, a = (τ^σ + Kσ/γ)^{1/σ} - τ;
    its mean total mass falls short of γτ^{σ-1} by γ(τ+a)^{σ-1}. Series: "inverse-levy",
    "size-biased" (Perman, Pitman and Yor 1992; Bondesson's as σ → 0), "rejection" from a stable
    envelope. Full conditionals are exact where the evidence is hits and exposure only.

    Parameters
    ----------
    mass : float
        γ; the mean total mass is γτ^{σ-1}.
    discount : float
        σ, strictly between 0 and 1; 1/2 is the inverse Gaussian process.
    rate : float
        τ.
    """

    mass: float = 1.0
    discount: float = 0.5
    rate: float = 1.0
    plain_words: ClassVar[str] = (
        "A generalised gamma process: infinitely many {many}, small ones by a power law."
    )

    def __post_init__(self) -> None:
        check_positive("mass", self.mass)
        check_between("discount", self.discount, 0.0, 1.0)
        check_positive("rate", self.rate)

    def _tilted(self) -> Tilted:
        return Tilted(self.mass, self.discount, self.rate)

    def _series(self) -> dict[str, Series]:
        return {
            "size-biased": Series(self._size_biased, self._missing_size_biased),
            "rejection": rejection(
                self._log_density,
                self._log_envelope_tail,
                self._envelope_inverse,
                lambda log_mass: -self.rate * np.exp(log_mass),
                self.support,
            ),
        }

    def _log_envelope_tail(self, log_mass: Float) -> Float:
        """Return the log of the stable tail C m^{-σ}/σ."""
        constant = self._tilted().log_constant - math.log(self.discount)
        return np.asarray(constant - self.discount * log_mass)

    def _envelope_inverse(self, arrivals: Float) -> Float:
        constant = self._tilted().log_constant - math.log(self.discount)
        return np.asarray((constant - np.log(arrivals)) / self.discount)

    def _missing_size_biased(self, n_atoms: int) -> float:
        """Return ∫ Gamma(y; K, 1) γ (τ^σ + yσ/γ)^{(σ-1)/σ} dy, around its peak in log y."""
        power = (1.0 - self.discount) / self.discount
        log_low = self.discount * math.log(self.rate)
        log_slope = math.log(self.discount / self.mass)

        def log_integrand(z: Float) -> Float:
            arrival = n_atoms * z - np.exp(z) - math.lgamma(n_atoms)
            return arrival - power * np.logaddexp(log_low, log_slope + z)

        def descent(z: float) -> float:
            share = special.expit(log_slope + z - log_low)
            return float(math.exp(z) + power * share - n_atoms)

        peak = float(optimize.brentq(descent, -700.0, math.log(n_atoms) + 1.0))
        share = special.expit(log_slope + peak - log_low)
        width = float(1.0 / np.sqrt(np.exp(peak) + power * share * (1.0 - share)))
        return self.mass * integrate_line(log_integrand, peak, width)
