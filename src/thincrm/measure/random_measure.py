"""Base distributions: where atoms lie in the space of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.arrays import Float

__all__ = ["base_probability", "check_base", "draw_locations"]


def check_base(base: Any) -> None:
    """Refuse a base that is neither None, nor a frozen distribution, nor a sampler."""
    if not (base is None or hasattr(base, "rvs") or callable(base)):
        raise InvalidType(
            "base must be None (uniform on (0, 1)), a frozen scipy.stats distribution or a "
            f"callable (rng, n) -> array, got {base!r}."
        )


def draw_locations(base: Any, rng: np.random.Generator, n: int) -> Float:
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


def check_interval(A: Any) -> tuple[float, float]:
    """Return the interval A = (low, high) as floats."""
    try:
        low, high = (float(end) for end in A)
    except (TypeError, ValueError):
        raise InvalidType(f"A must be an interval (low, high), got {A!r}.") from None
    if not low <= high:
        raise InvalidInput(f"A must be an interval with low <= high, got {A!r}.")
    return low, high


def base_probability(base: Any, A: Any) -> float:
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
