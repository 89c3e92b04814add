"""NegativeBinomialFactor: masses are topic probabilities (BNBP, and its thinned version)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thincrm.errors import InvalidInput, check_positive
from thincrm.models.topics.usage import MOST_SHAPE, TopicEvidence, Usage, log_silence
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.slice import slice_move
from thincrm.ports import MassEvidence

__all__ = ["NegativeBinomialFactor"]

SHAPE_PRIOR = (1.0, 1.0)  # Gamma(shape, rate) of h_k
_LEAST_LOG = -690.0  # of h, before exp(log h) is 0


@dataclass(frozen=True, slots=True)
class NegativeBinomialFactor:
    """Words are negative binomial: n_dk | open ~ NB(h_k, m_k), masses m_k in (0, 1).

    With a beta process this is the beta-negative-binomial process of Zhou, Hannah, Dunson and
    Carin (2012); thinned, the model that the paper's section 7 suggests.

    Parameters
    ----------
    shape : float or None
        h, the dispersion of every topic; None: one a topic, learned, with prior Gamma(1, 1).
    """

    shape: float | None = None
    n_levels = 0  # of documents: none
    support = 1.0
    plain_words = "An open {one} gives a document a negative binomial number of words."

    def __post_init__(self) -> None:
        if self.shape is not None and check_positive("shape", self.shape) >= MOST_SHAPE:
            raise InvalidInput(f"shape must be below {MOST_SHAPE:g}, got {self.shape!r}.")

    def draw_shape(self, rng: np.random.Generator, n_topics: int) -> Float:
        """Draw the (K,) dispersions."""
        if self.shape is not None:
            return np.full(n_topics, self.shape)
        return rng.gamma(SHAPE_PRIOR[0], 1.0 / SHAPE_PRIOR[1], n_topics)

    def start_shape(self, n_topics: int) -> Float:
        """Return shapes to start a chain from."""
        return np.full(n_topics, 1.5 if self.shape is None else self.shape)

    def more_shape(self, rng: np.random.Generator, shape: Float, more: int) -> Float:
        """Return the shapes of the topics there are, and of `more` new ones."""
        return np.concatenate([shape, self.draw_shape(rng, more)])

    @property
    def own_shapes(self) -> bool:
        """Tell whether each topic has a shape of its own."""
        return self.shape is None

    def log_shape_prior(self, shape: float) -> float:
        """Return the log density of log h, but for its tail beyond the largest."""
        a, b = SHAPE_PRIOR
        if not np.exp(_LEAST_LOG) < shape < MOST_SHAPE:
            return -math.inf
        return a * math.log(b * shape) - b * shape - math.lgamma(a)

    def usage(self, shape: Float, log_mass: Float) -> Usage:
        """Return the negative binomials NB(h_k, m_k)."""
        q = np.exp(log_mass)
        return Usage(shape, q, np.log1p(-np.minimum(q, 1.0 - 2.0**-53)))

    def start_log_mass(self, shape: Float, mean_K: Float) -> Float:
        """Return masses whose open documents have about `mean_K` tokens."""
        return np.log(mean_K / (mean_K + shape))

    def mass_evidence(
        self,
        rng: np.random.Generator,
        shape: Float,
        log_mass: Float,
        evidence: TopicEvidence,
        open_TK: Int,
    ) -> MassEvidence:
        """Return the evidence on masses: m^n (1 - m)^(h open)."""
        hits = evidence.total
        return MassEvidence.of(shape.size, hits=hits, misses=shape * open_TK.sum(0))

    conjugate_evidence = mass_evidence  # as it is

    def redraw_shape(
        self,
        rng: np.random.Generator,
        shape: Float,
        log_mass: Float,
        evidence: TopicEvidence,
        log_odds_TK: Float,
        prior: tuple[float, float] = SHAPE_PRIOR,
    ) -> Float:
        """Slice every log h_k, usages and gates integrated out."""
        if self.shape is not None:
            return shape
        density = self.shape_density(log_mass, evidence, log_odds_TK, prior)
        return np.exp(slice_move(rng, np.log(shape), density, width=0.5))

    def shape_density(
        self,
        log_mass: Float,
        evidence: TopicEvidence,
        log_odds_TK: Float,
        prior: tuple[float, float] = SHAPE_PRIOR,
    ) -> Callable[[Float], Float]:
        """Return g(log h) = the (K,) log densities of the shapes.

        log f(h_k) = sum_j above_jk log(h_k + j) + log silence_k + a log h_k - b h_k
        """
        silence = log_silence(self.usage(np.ones(1), log_mass).log_rest, evidence, log_odds_TK)
        step_J1 = np.arange(len(evidence.above))[:, None]

        def log_density(log_h: Float) -> Float:
            h = np.exp(np.maximum(log_h, _LEAST_LOG))
            fit = (evidence.above * np.log(h + step_J1)).sum(0) + silence(h)
            if evidence.long.size:
                fit += evidence.long_urns(h)
            fit += prior[0] * log_h - prior[1] * h
            return np.where((log_h > _LEAST_LOG) & (h < MOST_SHAPE), fit, -np.inf)

        return log_density
