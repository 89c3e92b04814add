"""GammaNegativeBinomialFactor: masses are shapes, and documents have levels of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thincrm.errors import InvalidInput
from thincrm.models.topics.usage import TopicEvidence, Usage
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import fresh_key, new_stream
from thincrm.numerics.variates import crt_sum
from thincrm.ports import MassEvidence

__all__ = ["GammaNegativeBinomialFactor"]

_START = 10.0  # total shape of a document's topics that chains start from


@dataclass(frozen=True, slots=True)
class GammaNegativeBinomialFactor:
    """Words are negative binomial: n_dk | open ~ NB(m_k, p_d), a probability for each document.

    With a gamma process this is the gamma-negative binomial process of Zhou and Carin (2015):
    given a document's length it is close to latent Dirichlet allocation, topics weighing m_k in
    the document's prior. As length is the document's own affair (p_d), masses and gates need not
    explain it. p_d is one of a few levels, whose shares among documents are learned, with prior
    Dirichlet(1, ..., 1).

    Parameters
    ----------
    odds : sequence of float
        p / (1 - p) of the levels: how many words a document has for each unit of mass.
    """

    odds: tuple[float, ...] = tuple(2.0**b for b in range(-1, 13))
    support = np.inf
    own_shapes = False  # of topics
    plain_words = (
        "An open {one} gives a document a negative binomial number of words; "
        "how many in all depends on the document."
    )

    def __post_init__(self) -> None:
        odds = np.asarray(self.odds, float)
        if odds.ndim != 1 or odds.size == 0 or not (np.isfinite(odds) & (odds > 0)).all():
            raise InvalidInput(f"odds must be positive numbers, at least one, got {self.odds!r}.")
        object.__setattr__(self, "odds", tuple(odds.tolist()))

    @property
    def n_levels(self) -> int:
        """Return the number of levels."""
        return len(self.odds)

    def start_shape(self, n_topics: int) -> Float:
        """Return ones: masses are the shapes."""
        return np.ones(n_topics)

    def more_shape(self, rng: np.random.Generator, shape: Float, more: int) -> Float:
        """Return ones, `more` than before."""
        return np.ones(shape.size + more)

    def redraw_shape(
        self,
        rng: np.random.Generator,
        shape: Float,
        log_mass: Float,
        evidence: TopicEvidence,
        log_odds_TK: Float,
    ) -> Float:
        """Return the shapes as they are."""
        return shape

    def log_shape_prior(self, shape: float) -> float:
        """Return 0: no topic has a shape of its own."""
        return 0.0

    def usage(self, shape: Float, log_mass: Float) -> Usage:
        """Return the negative binomials NB(m_k, p_b); of equal shares until these are known."""
        odds_B1 = np.asarray(self.odds, float)[:, None]
        log_share = np.full(self.n_levels, -np.log(self.n_levels))
        return Usage(np.exp(log_mass), odds_B1 / (1.0 + odds_B1), -np.log1p(odds_B1), log_share)

    def start_log_mass(self, shape: Float, mean_K: Float) -> Float:
        """Return masses in proportion to `mean_K`, the mean tokens of open documents."""
        return np.asarray(np.log(_START * mean_K / mean_K.sum()))

    def start_levels(self, length_D: Int) -> np.ndarray:
        """Return the levels that suit documents of given lengths."""
        wanted_D1 = np.log(np.maximum(length_D, 1) / _START)[:, None]
        return np.asarray(np.abs(wanted_D1 - np.log(self.odds)).argmin(axis=1), np.int32)

    def mass_evidence(
        self,
        rng: np.random.Generator,
        shape: Float,
        log_mass: Float,
        evidence: TopicEvidence,
        open_TK: Int,
    ) -> MassEvidence:
        """Draw evidence on masses, usages integrated out: m^l exp(m sum_d r_dk log(1 - p_d)).

        l_k = sum_d CRT(n_dk, m_k), the tables of Chinese restaurants (Zhou and Carin 2015).
        """
        open_BK = open_TK.reshape(-1, self.n_levels, shape.size).sum(axis=0)
        exposure_K = np.log1p(np.asarray(self.odds, float)) @ open_BK
        mass_K = np.maximum(np.exp(log_mass), 1e-300)
        key = fresh_key(rng)
        tables_K = _tables(key, np.ascontiguousarray(evidence.above.T), mass_K)
        for k in np.unique(evidence.long[0]).tolist():
            tables_K[k] = crt_sum(new_stream(key, k), evidence.above_of(k), mass_K[k])
        return MassEvidence.of(shape.size, hits=tables_K, exposure=exposure_K)

    conjugate_evidence = mass_evidence  # as it is


@compiled
def _tables(key: np.uint64, above_KJ: np.ndarray, mass_K: np.ndarray) -> np.ndarray:
    """Draw the (K,) tables of each topic's restaurants, one a document."""
    tables_K = np.empty(mass_K.size)
    for k in range(mass_K.size):
        n = 0
        while n < above_KJ.shape[1] and above_KJ[k, n] > 0:
            n += 1
        tables_K[k] = crt_sum(new_stream(key, k), above_KJ[k, :n], mass_K[k])
    return tables_K
