"""A kept draw of a topic model, and how topics of two draws are matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from thincrm.data.counts import row_blocks
from thincrm.models.topics.usage import Usage
from thincrm.numerics.arrays import Float, Int

__all__ = ["TopicDraw", "TopicRoots", "document_topics", "match_topics", "similarity"]


@dataclass(frozen=True, slots=True)
class TopicDraw:
    """One kept draw of one chain: the globals, and which topics documents use.

    Topics no token is in are left out: they appear in no output. K is what is left.

    Attributes
    ----------
    chain, sweep : int
        Where the draw comes from.
    words : (P, K) sparse int
        Tokens of each word drawn from each topic (not echoes of a token before them).
    concentration : float
        Of the topics' Dirichlet prior.
    usage : Usage
        Shape, q and log(1 - q) of every topic's negative binomial; levels' shares.
    log_odds : (T, K) float
        Log odds of being open at the distinct covariate rows.
    x : named tuple or None
        The thinning function's variables of these topics (None where all are background).
    documents : (D, K) sparse int
        Tokens of each document in each topic; or (1, K), those of all documents together, in a
        draw that keeps the globals only (`documents_kept`).
    burstiness : float
        1 / s of the bursty words; 0: none.
    labels : (N,) int or None
        Topic of each token, kept with documents where words are bursty.
    level : (D,) int or None
        Level of each document, kept with documents where the likelihood has levels.
    scalars : dict of str to float
        Label-free quantities: number of topics, log joint, parameters of the Lévy measure, ...
    """

    chain: int
    sweep: int
    words: sparse.csc_array
    concentration: float
    usage: Usage
    log_odds: Float
    x: Any
    documents: sparse.csr_array
    scalars: dict[str, float]
    burstiness: float = 0.0
    labels: np.ndarray | None = None
    level: np.ndarray | None = None

    @property
    def tokens(self) -> Int:
        """Return the (K,) tokens drawn from each topic."""
        return np.asarray(self.words.sum(axis=0)).reshape(-1)

    @property
    def shares(self) -> Float:
        """Return the (K,) shares of all tokens in each topic, echoes among them."""
        held_K = np.zeros(self.words.shape[1])
        for _, some in row_blocks(self.documents):
            held_K += np.bincount(some.indices, some.data, held_K.size)
        return np.asarray(held_K / max(held_K.sum(), 1))

    def token_topics(self) -> np.ndarray:
        """Return a topic for every token: the kept one, or, where order is lost, any that fits.

        Without bursts only the numbers n_dk matter, so the tokens of a document may share out its
        topics in any order.
        """
        if self.labels is not None:
            return self.labels
        return np.repeat(self.documents.indices, self.documents.data).astype(np.int32)

    @property
    def theta(self) -> np.ndarray:
        """Return the (P, K) mean topics given their words, float32: (a + n_kp) / (P a + n_k)."""
        total_K = self.concentration * self.words.shape[0] + self.tokens
        mean_PK = (self.words.toarray() + self.concentration) / total_K
        return np.asarray(mean_PK, np.float32)


def similarity(a_PK: np.ndarray, b_PL: np.ndarray) -> Float:
    """Return the (K, L) Bhattacharyya affinities of topics: 1 where they are the same."""
    return np.asarray(np.sqrt(a_PK).T.astype(float) @ np.sqrt(b_PL).astype(float))


class TopicRoots(NamedTuple):
    """The roots of a draw's mean topics, sqrt(theta_pk) = (floor + more_pk) / scale_k.

    With floor = sqrt(a), more is 0 where a topic has no token of a word: of a large vocabulary
    nearly everywhere.
    """

    floor: float
    more: sparse.csc_array  # P x K
    scale: Float  # K
    tokens: Int  # K

    @classmethod
    def of(cls, draw: TopicDraw) -> Self:
        """Return those of a draw."""
        a, tokens_K = draw.concentration, draw.tokens
        more = draw.words.astype(float)
        more.data = np.sqrt(more.data + a) - np.sqrt(a)
        return cls(float(np.sqrt(a)), more, np.sqrt(a * more.shape[0] + tokens_K), tokens_K)

    def affinity(self, other: TopicRoots) -> Float:
        """Return the (K, L) `similarity` of two draws' topics.

        sum_p (f + m_pk) (g + n_pl) = P f g + g sum_p m_pk + f sum_p n_pl + sum_p m_pk n_pl
        """
        both_KL = (self.more.T @ other.more).toarray()
        both_KL += self.floor * other.floor * self.more.shape[0]
        both_KL += other.floor * np.asarray(self.more.sum(axis=0)).reshape(-1, 1)
        both_KL += self.floor * np.asarray(other.more.sum(axis=0)).reshape(-1)
        return np.asarray(both_KL / np.outer(self.scale, other.scale))


def match_topics(reference: TopicRoots, draw: TopicRoots) -> Int:
    """Return, for each topic of `reference`, the topic of `draw` that is it, or -1.

    The assignment maximises the total affinity of the topics, each weighed by its tokens
    (Hungarian algorithm), so that labels that switched, or belong to another chain, meet.
    """
    weight = np.sqrt(np.outer(reference.tokens, draw.tokens))
    first, second = linear_sum_assignment(-reference.affinity(draw) * weight)
    found = np.full(reference.tokens.size, -1, np.int64)
    found[first] = second
    return found


def document_topics(n_used: Int, topic: Int, size: Int, n_topics: int) -> sparse.csr_array:
    """Return the (D, K) sparse counts of given pairs."""
    kind = np.int32 if size.size < 2**31 else np.int64  # SciPy has places of topics in it too
    start = np.concatenate([[0], np.cumsum(n_used, dtype=np.int64)]).astype(kind)
    return sparse.csr_array((size, topic, start), shape=(n_used.size, n_topics))
