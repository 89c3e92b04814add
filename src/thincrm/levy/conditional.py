"""The one generic move of masses given evidence: a slice on the line, for any Lévy measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from thincrm.errors import InvalidInput
from thincrm.levy.line import from_line, to_line
from thincrm.numerics.arrays import Bool, Float
from thincrm.numerics.slice import slice_move
from thincrm.ports import MassEvidence

__all__ = ["check_evidence", "check_log_mass", "slice_masses"]

_PROBE = 500.0
_LEAST_SLOPE = 1e-3


def check_log_mass(log_mass: Float) -> Float:
    """Return `log_mass` as a (K,) array of finite floats, K >= 1, or say that it is not one."""
    array = np.asarray(log_mass, float)
    if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
        raise InvalidInput("log_mass must be a row of finite numbers, one per atom.")
    return array


def check_evidence(log_mass: Float, evidence: MassEvidence, owner: object, support: float) -> Float:
    """Return `log_mass` as a (K,) float array that fits `evidence`, or say what does not."""
    now = check_log_mass(log_mass)
    if any(part.shape != now.shape for part in evidence):
        raise InvalidInput(
            f"evidence is about {evidence.hits.size} atoms but log_mass has {now.size}: "
            "build it with MassEvidence.of(log_mass.size, ...)."
        )
    if np.any(now >= np.log(support)):
        raise InvalidInput(f"log_mass must be below 0: masses of {owner} are below {support:g}.")
    if support > 1.0 and np.any(evidence.misses > 0):
        raise InvalidInput(
            f"misses need masses below 1, and those of {owner} have no upper end: "
            "use BetaProcess or StableBetaProcess."
        )
    return now


def slice_masses(
    rng: np.random.Generator,
    log_mass: Float,
    evidence: MassEvidence,
    seen: Bool,
    log_prob: Callable[[Float], Float],
    support: float,
) -> Float:
    """Move the log masses of the `seen` atoms by one slice step each, and return those.

    The target is log_prob(log mass) + log-likelihood, moved to the line z, where a mass near 1
    has room; each z is measured in its own unit, which depends on the target, never on z.
    """
    part = MassEvidence(*(count[seen] for count in evidence))
    padded = np.array(log_mass)

    def log_target(z: Float) -> Float:
        inner, log_slope = from_line(z, support)
        padded[seen] = inner  # log_prob must see all K atoms: its law depends on K
        return log_prob(padded)[seen] + log_slope + _log_likelihood(part, inner, log_slope)

    with np.errstate(over="ignore"):
        start = to_line(log_mass[seen], support)
        unit = _unit(log_target, start.size)
        moved = slice_move(rng, start / unit, lambda scaled: log_target(scaled * unit)) * unit
    return from_line(moved, support)[0]


def _log_likelihood(evidence: MassEvidence, log_mass: Float, log_complement: Float) -> Float:
    """Return `evidence.log_likelihood(log_mass)`, with log(1 - m) given: 1 - m may be tiny."""
    total = evidence.hits * log_mass
    mass = np.exp(log_mass)
    for count, term in (
        (evidence.misses, log_complement),
        (evidence.exposure, -mass),
        (evidence.overflow, -np.logaddexp(0.0, log_mass)),
    ):
        total += np.multiply(count, term, where=count > 0, out=np.zeros_like(total))
    return total


def _unit(log_target: Callable[[Float], Float], size: int) -> Float:
    """Guess how wide each slice is: three standard deviations of the log ratio of two gammas.

    Their shapes are the exponents at which the target dies out on the left and on the right, read
    off its slope far out. A poor guess costs time, never correctness.
    """
    far = np.full(size, _PROBE)
    left = log_target(-far) - log_target(-far - 1.0)
    right = log_target(far) - log_target(far + 1.0)
    shapes = np.maximum([left, right], _LEAST_SLOPE)
    return np.asarray(3.0 * np.sqrt(special.polygamma(1, shapes).sum(0)))
