"""Base distributions: where atoms lie in the space of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np

from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.arrays import ArrayLike, Float, Seed

__all__ = ["Base", "Interval", "Levy", "base_probability", "check_base", "draw_locations"]


class Frozen(Protocol):
    """A frozen distribution, as scipy.stats makes them."""

    def rvs(self, *, size: int, random_state: np.random.Generator) -> ArrayLike:
        """Draw so many."""


class Levy(Protocol):
    """How heavy atoms are, as far as a random measure needs to know (`thincrm.levy`)."""

    def __hash__(self) -> int:
        """Return a hash: equal parameters, equal measures."""

    def moment(self, n: int) -> float:
        """Return the moment of order n of nu0."""

    def laplace_exponent(self, u: Float) -> Float:
        """Return the Laplace exponent of nu0."""

    def draw_log_mass(self, rng: Seed, n_atoms: int) -> Float:
        """Draw the log masses of the finite approximation."""

    def log_series(self, rng: Seed, n_atoms: int) -> Float:
        """Draw the log masses of a series, heaviest first."""

    def n_atoms_for(self, error: float, n_eff: float) -> int:
        """Return how many atoms of the series leave out so little."""


Base: TypeAlias = Frozen | Callable[[np.random.Generator, int], ArrayLike] | None
Interval: TypeAlias = Iterable[float]  # (low, high)


def check_base(base: Base) -> None:
    """Refuse a base that is neither None, nor a frozen distribution, nor a sampler."""
    if not (base is None or hasattr(base, "rvs") or callable(base)):
        raise InvalidType(
            "base must be None (uniform on (0, 1)), a frozen scipy.stats distribution or a "
            f"callable (rng, n) -> array, got {base!r}."
        )


def draw_locations(base: Base, rng: np.random.Generator, n: int) -> Float:
    """Draw n atom locations, (n,) or (n, P)."""
    if base is None:
        return rng.random(n)
    drawn = base.rvs(size=n, random_state=rng) if hasattr(base, "rvs") else base(rng, n)
    locations = np.asarray(drawn)
    if locations.ndim == 0 or len(locations) != n:
        raise InvalidInput(
            f"base gave shape {locations.shape} for {n} atoms: return one row per atom."
        )
    return locations


def check_interval(A: Interval) -> tuple[float, float]:
    """Return the interval A = (low, high) as floats."""
    try:
        low, high = (float(end) for end in A)
    except (TypeError, ValueError):
        raise InvalidType(f"A must be an interval (low, high), got {A!r}.") from None
    if not low <= high:
        raise InvalidInput(f"A must be an interval with low <= high, got {A!r}.")
    return low, high


def base_probability(base: Any, A: Interval | None) -> float:
    """Return the base probability of the interval A = (low, high), ends included (None: 1)."""
    if A is None:
        return 1.0
    low, high = check_interval(A)
    if base is None:
        return float(np.clip(high, 0, 1) - np.clip(low, 0, 1))
    if not hasattr(base, "ppf"):
        raise InvalidInput(
            "the moments of B_t(A) need the base probability of A: give base as a frozen "
            "one-dimensional scipy.stats distribution, or multiply those of the whole space "
            "(A=None) by that probability yourself."
        )
    return float(base.cdf(high) - base.cdf(np.nextafter(low, -np.inf)))
