"""Series representations: the masses of a Lévy measure one by one, from unit-rate arrivals.

A series turns the arrivals T_1 < T_2 < ... of a unit-rate Poisson process into masses; cutting it
after K arrivals leaves out atoms whose expected mass ε_K bounds the error of the cut (Campbell,
Huggins, How and Broderick 2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from thincrm.errors import InvalidInput
from thincrm.levy.line import from_line, integrate_line, to_line
from thincrm.numerics.arrays import Float

__all__ = ["Series", "fewest_atoms", "mean_mass_beyond", "rejection"]

_MOST_ATOMS = 10**9


class Series(NamedTuple):
    """One way to write a random measure as a series.

    `log_masses(rng, arrivals)` are the (K,) log masses; `missing_mass(K)` is ε_K.
    """

    log_masses: Callable[[np.random.Generator, Float], Float]
    missing_mass: Callable[[int], float]


def mean_mass_beyond(
    n_atoms: int,
    log_density: Callable[[Float], Float],
    log_arrival: Callable[[Float], Float],
    log_mass_at: Callable[[Float], Float],
    support: float,
) -> float:
    """Return ε_K of a series in which a mass m arrives at time N(m), N a decreasing function.

    ε_K = ∫ m P(G_K < N(m)) ν0(m) dm with G_K ~ Gamma(K, 1): what the atoms arriving after the
    K-th still weigh. For the inverse-Lévy series N is the tail of ν0 and this equals
    ∫ Gamma(y; K, 1) ∫_0^{N⁻¹(y)} m ν0(m) dm dy; for rejection N is the tail of the envelope.

    Parameters
    ----------
    log_density : callable
        Maps log m to log m ν0(m).
    log_arrival, log_mass_at : callable
        Map log m to log N(m), and an arrival time back to log m.
    """

    def log_integrand(z: Float) -> Float:
        log_mass, log_slope = from_line(z, support)
        late = special.gammainc(n_atoms, np.exp(log_arrival(log_mass)))
        return log_density(log_mass) + log_mass + log_slope + np.log(late)

    edge = to_line(log_mass_at(np.array([float(n_atoms)])), support)
    return integrate_line(log_integrand, float(edge[0]), 1.0 / math.sqrt(n_atoms))


def rejection(
    log_density: Callable[[Float], Float],
    log_envelope_tail: Callable[[Float], Float],
    log_envelope_inverse: Callable[[Float], Float],
    log_accept: Callable[[Float], Float],
    support: float,
) -> Series:
    """Return the series that thins an envelope measure; a rejected arrival has mass 0."""

    def log_masses(rng: np.random.Generator, arrivals: Float) -> Float:
        log_mass = log_envelope_inverse(arrivals)
        kept = -rng.standard_exponential(arrivals.size) < log_accept(log_mass)
        return np.where(kept, log_mass, -np.inf)

    return Series(
        log_masses,
        lambda n_atoms: mean_mass_beyond(
            n_atoms, log_density, log_envelope_tail, log_envelope_inverse, support
        ),
    )


def fewest_atoms(missing_mass: Callable[[int], float], allowed: float, least: int) -> int:
    """Return the smallest K >= least with missing_mass(K) <= allowed: doubling, then halving."""
    low, high = least - 1, least
    while missing_mass(high) > allowed:
        if high > _MOST_ATOMS:
            raise InvalidInput(
                f"error is too small: more than {_MOST_ATOMS:.0e} atoms would be needed; "
                "allow a larger error, or choose a lighter-tailed measure."
            )
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if missing_mass(middle) > allowed:
            low = middle
        else:
            high = middle
    return high
