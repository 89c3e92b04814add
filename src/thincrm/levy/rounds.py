"""The beta process in rounds: what observation 1, 2, 3, ... is first to see.

Round i brings Poisson(γc/(c+i-1)) atoms of mass Beta(1, c+i-1) (Thibaux and Jordan 2007). Laid end
to end the rounds cover time: the atom arriving at T belongs to the first round whose end
Λ_i = γc (ψ(c+i) - ψ(c)) is not before T, which gives a first, second, ... atom.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from thincrm.levy.line import integrate_line
from thincrm.levy.special import log_hit
from thincrm.numerics.arrays import Float

__all__ = ["log_round_masses", "missing_after_rounds"]

_LATE = 30.0  # beyond e^30 rounds, counting them in whole numbers changes nothing
_COUNTED = 4096
_SMALLEST = float(np.finfo(float).tiny)


def log_round_masses(
    rng: np.random.Generator, arrivals: Float, mass: float, concentration: float
) -> Float:
    """Return log m_k, m_k ~ Beta(1, c+i-1), i the round of arrival k."""
    height = arrivals / (mass * concentration) + special.digamma(concentration)
    early = np.minimum(height, _LATE)
    whole = np.maximum(np.ceil(_inverse_digamma(early) - concentration), 1.0)
    log_shape = np.where(height > _LATE, height, np.log(concentration + whole - 1.0))
    log_waiting = np.log(rng.standard_exponential(arrivals.size)) - log_shape
    return np.minimum(log_hit(log_waiting), -_SMALLEST)


def missing_after_rounds(n_atoms: int, mass: float, concentration: float) -> float:
    """Return ε_K = ∫ P(G_K < t) E[m | arrival at t] dt, where E[m | round i] = 1/(c+i).

    The first rounds are summed exactly; in the later ones, which are short, 1/(c+i) is replaced
    by its value in the middle, with a relative error below 1e-7.
    """
    scale = mass * concentration
    start = special.digamma(concentration)
    rounds = np.arange(_COUNTED + 1)
    ends = scale * (special.digamma(concentration + rounds) - start)
    passed = ends * special.gammainc(n_atoms, ends)
    passed -= n_atoms * special.gammainc(n_atoms + 1, ends)
    counted = float(np.sum(np.diff(passed) / (concentration + rounds[1:])))

    def log_integrand(z: Float) -> Float:
        time = ends[-1] + np.exp(z)
        late = np.log(special.gammainc(n_atoms, time))
        return np.asarray(z + late - np.logaddexp(0.0, time / scale + start))

    return counted + integrate_line(log_integrand, math.log(scale))


def _inverse_digamma(height: Float) -> Float:
    """Return x > 0 with ψ(x) = height, by Newton's method from Minka's (2000) start."""
    x = np.where(height > -2.2, np.exp(height) + 0.5, -1.0 / (height + np.euler_gamma))
    for _ in range(6):
        x = x - (special.digamma(x) - height) / special.polygamma(1, x)
    return np.asarray(x)
