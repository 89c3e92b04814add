"""The contract page: the messages that cross between rooms, and the three protocols.

Given the globals, observations are independent, so what the data say about an atom is a sum over
observations: evidence(A and B) = evidence(A) + evidence(B). Nothing here grows with their number.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import ArrayLike, Float, Int, Seed

__all__ = ["GateEvidence", "LevyMeasure", "MassEvidence", "Thinning"]

X = TypeVar("X")
W = TypeVar("W")


class MassEvidence(NamedTuple):
    """What the data say about each atom's mass m.

    log-likelihood = hits log m + misses log(1 - m) - exposure m - overflow log(1 + m)

    ======================================  =======  ==========  =========  ================
    likelihood                              hits     misses      exposure   overflow
    ======================================  =======  ==========  =========  ================
    Bernoulli features                      Σ z      Σ r(1-z)    0          0
    Poisson factor, usages kept             n_k      0           Σ r β      0
    Poisson factor, usages integrated out   n_k      0           0          n_k + e Σ r
    negative binomial                       n_k      h_k Σ r     0          0
    normalised mixture                      n_k      0           Σ u r      0
    ======================================  =======  ==========  =========  ================
    """

    hits: Float
    misses: Float
    exposure: Float
    overflow: Float

    @classmethod
    def of(
        cls,
        n_atoms: int,
        hits: ArrayLike = 0.0,
        misses: ArrayLike = 0.0,
        exposure: ArrayLike = 0.0,
        overflow: ArrayLike = 0.0,
    ) -> Self:
        """Build evidence for `n_atoms`; what is left out is zero (no evidence)."""
        parts = []
        for name, value in zip(cls._fields, (hits, misses, exposure, overflow), strict=True):
            part = np.asarray(value, float)
            if part.ndim > 1 or (part.ndim == 1 and part.size != n_atoms):
                raise InvalidInput(
                    f"{name} has shape {part.shape}, but there are {n_atoms} atoms: "
                    "pass one number per atom."
                )
            if not np.all(np.isfinite(part)) or np.any(part < 0):
                raise InvalidInput(f"{name} must be finite and at least 0 for every atom.")
            parts.append(np.broadcast_to(part, n_atoms).copy())
        return cls(*parts)

    def plus(self, other: MassEvidence) -> MassEvidence:
        """Return the evidence of both sets of observations."""
        return MassEvidence(*(a + b for a, b in zip(self, other, strict=True)))

    def log_likelihood(self, log_mass: Float) -> Float:
        """Return the (K,) log-likelihood of the masses exp(log_mass)."""
        mass = np.exp(log_mass)
        total = self.hits * log_mass - self.exposure * mass - self.overflow * np.log1p(mass)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.misses > 0, total + self.misses * np.log1p(-mass), total)


class GateEvidence(NamedTuple):
    """What the data say about an atom's gates, per distinct covariate row.

    An item whose count is positive is surely open (probability p_tk); a silent item has
    probability (1 - p_tk) + p_tk q_tk, q_tk = P(nothing seen | open). Gates that are observed
    themselves are the case q = 0 (`from_counts`).
    """

    positive: Int  # T x K: items surely open
    trials: Int  # T: items in all
    log_q: Float  # T x K: log P(nothing seen | open)

    @classmethod
    def from_counts(cls, open_gates: ArrayLike, trials: ArrayLike) -> Self:
        """Build evidence from `open_gates` (T, K) out of `trials` (T,) observed gates."""
        positive = np.asarray(open_gates)
        return cls.of(positive, trials, np.full(positive.shape, -np.inf))

    @classmethod
    def of(cls, positive: ArrayLike, trials: ArrayLike, log_q: ArrayLike) -> Self:
        """Build checked evidence; `log_q` may be (K,) or (T, K)."""
        counts = np.asarray(positive)
        total = np.asarray(trials)
        if counts.ndim != 2 or total.shape != counts.shape[:1]:
            raise InvalidInput(
                f"positive must be (T, K) and trials (T,), got {counts.shape} and {total.shape}."
            )
        if np.any(counts < 0) or np.any(counts > total[:, None]):
            raise InvalidInput("positive counts must lie between 0 and trials in every row.")
        silent = np.broadcast_to(np.asarray(log_q, float), counts.shape)
        if np.any(np.isnan(silent)) or np.any(silent > 0):
            raise InvalidInput("log_q is the log of a probability: it must be at most 0.")
        return cls(counts.astype(np.int64), total.astype(np.int64), np.array(silent))

    def plus(self, other: GateEvidence) -> GateEvidence:
        """Return the evidence of both sets of observations (same rows, atoms and log_q)."""
        if not np.array_equal(self.log_q, other.log_q):
            raise InvalidInput("Gate evidence can be added only where log_q is the same.")
        return GateEvidence(self.positive + other.positive, self.trials + other.trials, self.log_q)

    def log_likelihood(self, log_open: Float, log_shut: Float) -> Float:
        """Return the (K,) log-likelihood of activations log p_tk and log(1 - p_tk)."""
        silent = np.logaddexp(log_shut, log_open + self.log_q)
        n_silent = self.trials[:, None] - self.positive
        with np.errstate(invalid="ignore"):
            terms = np.where(self.positive > 0, self.positive * log_open, 0.0)
            terms = terms + np.where(n_silent > 0, n_silent * silent, 0.0)
        return np.asarray(terms.sum(0))


@runtime_checkable
class LevyMeasure(Protocol):
    """How heavy atoms are: a prior for masses, and the same prior after evidence."""

    def draw_log_mass(self, rng: Seed, n_atoms: int) -> Float:
        """Draw the (K,) log masses of the finite approximation."""

    def log_prob(self, log_mass: Float) -> Float:
        """Return the (K,) log densities, with respect to log mass, of that approximation."""

    def redraw(self, rng: Seed, log_mass: Float, evidence: MassEvidence) -> Float:
        """Move the (K,) log masses so that their full conditional stays invariant."""


@runtime_checkable
class Thinning(Protocol[X, W]):
    """Where an atom is open: p_x(t), with auxiliary variables x ~ H of its own.

    `prepare` does once what depends only on the covariates; the rest takes what it returns.
    x is a named tuple of arrays whose first axis is the atom.
    """

    def prepare(self, t: Covariates | Any) -> W:
        """Return what can be computed once from the covariates (rows, scale, basis)."""

    def draw(self, rng: Seed, n_atoms: int, prepared: W) -> X:
        """Draw the auxiliary variables of `n_atoms` atoms from their prior."""

    def log_odds(self, x: X, prepared: W, t: Any = None) -> Float:
        """Return the (T, K) log p/(1-p) at the prepared rows, or at any covariates t."""

    def log_prob(self, x: X, prepared: W) -> Float:
        """Return the (K,) prior log densities of the auxiliary variables."""

    def mean_activation(self, prepared: W, t: Any = None) -> Float:
        """Return the (T,) prior mean of p_x(t)."""

    def pair_activation(
        self, prepared: W, s: Any, t: Any, coupling: Literal["independent", "comonotone"]
    ) -> Float:
        """Return the (S, T) prior means of p_x(s) p_x(t), or of min(p_x(s), p_x(t)).

        The product is E[r^s r^t] when gates are independent given x (and, at s = t, the mean of
        p squared); the smaller of the two is E[r^s r^t] when one uniform opens all of an atom's
        gates.
        """

    def redraw(self, rng: Seed, x: X, evidence: GateEvidence, prepared: W) -> X:
        """Move x so that its full conditional stays invariant."""
