"""Kept draws: what a posterior summary, a prediction or a picture needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from thincrm.models.topics.usage import Usage
from thincrm.numerics.arrays import Float, Int

__all__ = ["FeatureDraw", "TopicDraw", "match_features", "match_topics", "similarity"]


@dataclass(frozen=True, slots=True)
class TopicDraw:
    """One kept draw of one chain: the globals, and which topics each document uses.

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
        Tokens of each document in each topic.
    burstiness : float
        1 / s of the bursty words; 0: none.
    labels : (N,) int or None
        Topic of each token, kept where words are bursty.
    level : (D,) int or None
        Level of each document, where the likelihood has levels.
    scalars : dict of str to float
        Label-free quantities: number of topics, log joint, parameters of the Lévy measure, ...
    """

    chain: int
    sweep: int
    words: Any
    concentration: float
    usage: Usage
    log_odds: Float
    x: Any
    documents: Any
    scalars: dict[str, float]
    burstiness: float = 0.0
    labels: np.ndarray | None = None
    level: np.ndarray | None = None

    @property
    def tokens(self) -> Int:
        """Return the (K,) tokens drawn from each topic."""
        return np.asarray(self.words.sum(axis=0)).reshape(-1)

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


def match_topics(reference: TopicDraw, draw: TopicDraw) -> Int:
    """Return, for each topic of `reference`, the topic of `draw` that is it, or -1.

    The assignment maximises the total affinity of the topics, each weighed by its tokens
    (Hungarian algorithm), so that labels that switched, or belong to another chain, meet.
    """
    affinity = similarity(reference.theta, draw.theta)
    weight = np.sqrt(np.outer(reference.tokens, draw.tokens))
    first, second = linear_sum_assignment(-affinity * weight)
    found = np.full(reference.words.shape[1], -1, np.int64)
    found[first] = second
    return found


def document_topics(n_used: Int, topic: Int, size: Int, n_topics: int) -> Any:
    """Return the (D, K) sparse counts of given pairs."""
    start = np.concatenate([[0], np.cumsum(n_used)])
    return sparse.csr_array((size, topic, start), shape=(n_used.size, n_topics))


@dataclass(frozen=True, slots=True)
class FeatureDraw:
    """One kept draw of one chain of a feature model, in standard units.

    Attributes
    ----------
    chain, sweep : int
        Where the draw comes from.
    feature : (F, P) float
        The K features, and the background below them if there is one.
    noise : (P,) float
        1 / variance of every column's noise.
    log_mass : (K,) float
        Log probability that a row behind an open gate uses the feature.
    x : named tuple
        The thinning function's variables.
    hits : (T, K) int
        Rows at each covariate that use the feature.
    scalars : dict of str to float
        Label-free quantities: number of features, log likelihood, parameters of the Lévy measure.
    """

    chain: int
    sweep: int
    feature: Float
    noise: Float
    log_mass: Float
    x: Any
    hits: Int
    scalars: dict[str, float]

    @property
    def n_features(self) -> int:
        """Return K, used or not."""
        return self.log_mass.size

    @property
    def total(self) -> Int:
        """Return the (K,) rows that use each feature."""
        return np.asarray(self.hits.sum(0))


def match_features(reference: FeatureDraw, draw: FeatureDraw, signed: bool) -> tuple[Int, Float]:
    """Return, for each feature of `reference`, the feature of `draw` that is it, and its sign.

    The assignment maximises the total cosine of the features, each weighed by its rows (Hungarian
    algorithm). Features no row uses are nobody's (-1). The sign is -1 where a feature with real
    weights (not `signed`) came back upside down.
    """
    a_KP, b_LP = reference.feature[: reference.n_features], draw.feature[: draw.n_features]
    size = np.outer(np.linalg.norm(a_KP, axis=1), np.linalg.norm(b_LP, axis=1))
    cosine = (a_KP @ b_LP.T) / np.maximum(size, 1e-300)
    weight = np.sqrt(np.outer(reference.total, draw.total))
    first, second = linear_sum_assignment(-(cosine if signed else np.abs(cosine)) * weight)
    found, sign = np.full(reference.n_features, -1, np.int64), np.ones(reference.n_features)
    kept = weight[first, second] > 0
    found[first[kept]] = second[kept]
    if not signed:
        sign[first] = np.where(cosine[first, second] < 0, -1.0, 1.0)
    return found, sign
