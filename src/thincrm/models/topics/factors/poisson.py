"""PoissonFactor: masses are topic rates (tGaP-PFA, the paper's section 4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thincrm.errors import InvalidInput, check_positive
from thincrm.models.topics.usage import MOST_SHAPE, TopicEvidence, Usage, log_silence
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.slice import slice_move
from thincrm.ports import MassEvidence

__all__ = ["PoissonFactor"]

SHAPE_PRIOR = (1.0, 1.0)  # Gamma(shape, rate) of e


@dataclass(frozen=True, slots=True)
class PoissonFactor:
    """Words are Poisson: n_dkp ~ Poisson(theta_kp r_dk m_k b_dk), usages b_dk ~ Gamma(e, 1).

    With usages integrated out n_dk | open ~ NB(e, m_k / (1 + m_k)). Masses m_k may be any
    positive number, so they come from a gamma process (or a relative).

    Parameters
    ----------
    shape : float or None
        e, the shape of the usages; None: learned, with prior Gamma(1, 1).
    """

    shape: float | None = None
    n_levels = 0  # of documents: none
    own_shapes = False  # of topics
    support = np.inf
    plain_words = "An open {one} gives a document a gamma-Poisson number of words."

    def __post_init__(self) -> None:
        if self.shape is not None and check_positive("shape", self.shape) >= MOST_SHAPE:
            raise InvalidInput(f"shape must be below {MOST_SHAPE:g}, got {self.shape!r}.")

    def draw_shape(self, rng: np.random.Generator, n_topics: int) -> Float:
        """Draw the (K,) shapes, all equal to e."""
        e = rng.gamma(SHAPE_PRIOR[0], 1.0 / SHAPE_PRIOR[1]) if self.shape is None else self.shape
        return np.full(n_topics, e)

    def start_shape(self, n_topics: int) -> Float:
        """Return shapes to start a chain from."""
        return np.full(n_topics, 1.5 if self.shape is None else self.shape)

    def more_shape(self, rng: np.random.Generator, shape: Float, more: int) -> Float:
        """Return the shapes of the topics there are, and of `more` new ones."""
        return np.full(shape.size + more, shape[0])

    def log_shape_prior(self, shape: float) -> float:
        """Return 0: no topic has a shape of its own."""
        return 0.0

    def usage(self, shape: Float, log_mass: Float) -> Usage:
        """Return the negative binomials NB(e, m / (1 + m))."""
        log_rest = -np.logaddexp(0.0, log_mass)
        return Usage(shape, np.exp(log_mass + log_rest), log_rest)

    def start_log_mass(self, shape: Float, mean_K: Float) -> Float:
        """Return masses whose open documents have about `mean_K` tokens."""
        return np.log(mean_K / shape)

    def mass_evidence(
        self,
        rng: np.random.Generator,
        shape: Float,
        log_mass: Float,
        evidence: TopicEvidence,
        open_TK: Int,
    ) -> MassEvidence:
        """Return the evidence on masses, usages integrated out: m^n (1 + m)^-(n + e open)."""
        hits = evidence.total
        return MassEvidence.of(shape.size, hits=hits, overflow=hits + shape * open_TK.sum(0))

    def conjugate_evidence(
        self,
        rng: np.random.Generator,
        shape: Float,
        log_mass: Float,
        evidence: TopicEvidence,
        open_TK: Int,
    ) -> MassEvidence:
        """Draw each topic's total usage, Gamma(n + e open, 1 + m): with it masses are conjugate."""
        _, _, _, overflow = known = self.mass_evidence(rng, shape, log_mass, evidence, open_TK)
        total = rng.gamma(overflow) * np.exp(-np.logaddexp(0.0, log_mass))
        return MassEvidence.of(shape.size, hits=known.hits, exposure=total)

    def redraw_shape(
        self,
        rng: np.random.Generator,
        shape: Float,
        log_mass: Float,
        evidence: TopicEvidence,
        log_odds_TK: Float,
    ) -> Float:
        """Slice log e, usages and gates integrated out."""
        if self.shape is not None:
            return shape
        density = self.shape_density(log_mass, evidence, log_odds_TK)
        n_pairs = max(evidence.above[0].sum() + evidence.long.shape[1], 1)
        width = min(1.0, 4.0 / np.sqrt(n_pairs))  # of the slice, were all gates known
        log_e = slice_move(rng, np.log(shape[:1]), density, width=width)
        return np.full(shape.size, np.exp(log_e[0]))

    def shape_density(
        self, log_mass: Float, evidence: TopicEvidence, log_odds_TK: Float
    ) -> Callable[[Float], Float]:
        """Return f(log e) = the log density of the shape.

        log f(e) = sum_jk above_jk log(e + j) + log silence + a log e - b e
        """
        silence = log_silence(self.usage(np.ones(1), log_mass).log_rest, evidence, log_odds_TK)
        above_J = evidence.above_J
        step_J = np.arange(above_J.size)

        def log_density(log_e: Float) -> Float:
            e = np.exp(log_e)
            fit = above_J @ np.log(e + step_J) + silence(e).sum()
            fit += SHAPE_PRIOR[0] * log_e - SHAPE_PRIOR[1] * e
            return np.where(e < MOST_SHAPE, fit, -np.inf)

        return log_density
