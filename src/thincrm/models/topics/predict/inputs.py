"""What prediction for new documents starts from: checked candidates, and words some topic has."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from thincrm.data.counts import Tokens
from thincrm.errors import InvalidInput
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.usage import Usage
from thincrm.numerics.arrays import ArrayLike, Float, Int

__all__ = [
    "check_candidates",
    "check_log_prior",
    "document_items",
    "known_tokens",
    "mean_words",
    "word_counts",
]


def check_candidates(documents: Tokens, log_odds_CK: ArrayLike, draw: TopicDraw) -> Float:
    """Return the (C, K) log odds as floats once they and the documents fit the draw."""
    n_words, n_topics = draw.words.shape
    if documents.n_words != n_words:
        raise InvalidInput(
            f"documents has {documents.n_words} words and the draw {n_words}: count the words of "
            "new documents with the vocabulary of the fit."
        )
    log_odds = np.asarray(log_odds_CK, float)
    if log_odds.ndim != 2 or log_odds.shape[0] == 0 or log_odds.shape[1] != n_topics:
        raise InvalidInput(
            "log_odds must have a row for every candidate and a column for each of the draw's "
            f"{n_topics} topics, got shape {log_odds.shape}."
        )
    if np.isnan(log_odds).any():
        raise InvalidInput("log_odds has a NaN: give the log odds of being open, infinite if sure.")
    return log_odds


def check_log_prior(log_prior_C: ArrayLike, n_candidates: int) -> Float:
    """Return the (C,) log prior of the candidates as floats; it need not be normalised."""
    log_prior = np.asarray(log_prior_C, float)
    if log_prior.shape != (n_candidates,):
        raise InvalidInput(
            f"log_prior must be one number for each of the {n_candidates} candidates, got shape "
            f"{log_prior.shape}."
        )
    if not (log_prior < np.inf).all() or not np.isfinite(log_prior).any():
        raise InvalidInput("log_prior must be below infinity everywhere and finite somewhere.")
    return log_prior


def mean_words(usage: Usage, log_odds_CK: Float) -> Float:
    """Return the (C, K) expected words of a document in each topic: a shape_k q_k / (1 - q_k)."""
    return np.asarray(expit(log_odds_CK) * usage.mean)


def known_tokens(documents: Tokens, theta_PK: np.ndarray, mean_CK: Float) -> Tokens:
    """Return the documents without the words that no topic has at any candidate.

    They are impossible wherever the document is from, so they cannot say from where. Tokens come
    out sorted by word, as the token kernel wants them.
    """
    known_P = theta_PK @ mean_CK.max(axis=0) > 0.0
    owner_N = np.repeat(np.arange(documents.n_documents), np.diff(documents.start))
    word_N = documents.word[np.lexsort((documents.word, owner_N))]
    known_N = known_P[word_N]
    start = np.concatenate([[0], np.cumsum(known_N)])[documents.start]
    return Tokens(start.astype(np.int64), word_N[known_N], documents.n_words)


def word_counts(documents: Tokens) -> Any:
    """Return the (D, P) sparse counts of the documents' words."""
    shape = (documents.n_documents, documents.n_words)
    ones = np.ones(documents.word.size, np.int64)
    counts = sparse.csr_array((ones, documents.word, documents.start), shape=shape, copy=True)
    counts.sum_duplicates()
    return counts


def document_items(documents: Tokens) -> Int:
    """Return the number of each document's random stream: a hash of its words.

    So what is said of a document depends on it alone, not on its place or its company.
    """
    mixed_N = (documents.word.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed_N = (mixed_N ^ (mixed_N >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed_N = (mixed_N ^ (mixed_N >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    total_N = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed_N, dtype=np.uint64)])
    return np.asarray((total_N[documents.start[1:]] - total_N[documents.start[:-1]]).view(np.int64))
