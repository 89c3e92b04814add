"""A first guess of every token's topic, and of how many topics there are.

Any start is valid; a good one saves thousands of sweeps. Sweeps seldom open a topic, seldom close
one, and are slow to put together what a start has cut in two. So chains start from hundreds of
passes of a simpler model that settles quickly: latent Dirichlet allocation with topics integrated
out. Its `pull` is learned: a topic that others can do without loses it, and its tokens; and topics
that are likelier as one become one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import entr, gammaln

from thincrm.data.counts import Tokens
from thincrm.models.topics.guess_kernel import redraw_guess
from thincrm.models.topics.kernel import (
    Corpus,
    count_documents,
    count_usages,
    count_words,
    more_than,
)
from thincrm.models.topics.usage import padded
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.waiting import now

__all__ = ["guess_topics"]

_PASSES, _FEWEST = 300, 100
_WORK = 200_000_000  # tokens in all passes together, but for the fewest passes
_PULL = 15.0  # of all topics, to begin with: large, so that documents have many topics at first
_HELD, _BATCH = 20, 10  # passes before the pull is learned, and between
_WHOLE, _MERGED = 100, 50  # passes before topics are merged, and between
_STEPS, _LEAST = 5, 1e-5  # of a learned pull
_LONG = 10_000  # tokens: what is longer counts as no longer, or not at all, for the pull


@dataclass(slots=True)
class _Guess:
    """Tokens with their topics, and the pull of each topic."""

    documents: Tokens
    topic_N: np.ndarray
    pull_K: Float
    concentration: float

    def counted(self) -> tuple[np.ndarray, Int, Int]:
        """Return the (P, K) tokens of words in topics, and how documents use these.

        The latter as the (K,) documents that do, and the (J, K) that have more than j tokens there.
        """
        start_D, word_N, n_topics = self.documents.start, self.documents.word, self.pull_K.size
        count_PK = np.zeros((self.documents.n_words, n_topics), np.int32)
        used_N, size_N = np.empty_like(self.topic_N), np.empty(word_N.size, np.int32)
        n_used_D = np.empty(start_D.size - 1, np.int32)
        count_words(word_N, self.topic_N, count_PK)
        count_documents(start_D, self.topic_N, n_topics, n_used_D, used_N, size_N)
        document_D = np.arange(n_used_D.size, dtype=np.int32)
        corpus = Corpus(document_D, np.zeros_like(document_D), document_D, start_D, word_N)
        users_1K, size_JK = np.zeros((1, n_topics), np.int64), np.zeros((1, n_topics), np.int64)
        size_JK = count_usages(
            0, n_used_D.size, corpus, n_used_D, used_N, size_N, users_1K, size_JK, _LONG
        )
        return count_PK, users_1K[0], more_than(size_JK)

    def learn_pull(self, above_JK: Int) -> None:
        """Raise the likelihood of the pull (Minka's fixed point).

        pull_k <- pull_k sum_dj 1[c_dk > j] / (pull_k + j)  /  sum_dj 1[n_d > j] / (pull + j)
        """
        length_D = np.minimum(np.diff(self.documents.start), _LONG)
        longer_L = (length_D.size - np.cumsum(np.bincount(length_D)))[:, None]
        step_J, step_L = (np.arange(len(of))[:, None] for of in (above_JK, longer_L))
        for _ in range(_STEPS):
            rise_K = (above_JK / (self.pull_K + step_J)).sum(axis=0)
            fall = float((longer_L / (self.pull_K.sum() + step_L)).sum())
            self.pull_K = np.maximum(self.pull_K * rise_K / max(fall, 1e-300), _LEAST)

    def without_unused(self, count_PK: np.ndarray) -> np.ndarray:
        """Drop topics that hold no token; return the counts of the others."""
        held = np.flatnonzero(count_PK.any(axis=0))
        rank_K = np.zeros(self.pull_K.size, self.topic_N.dtype)
        rank_K[held] = np.arange(held.size)
        self.topic_N, self.pull_K = rank_K[self.topic_N], self.pull_K[held]
        return count_PK[:, held]

    def merge(self, count_PK: np.ndarray) -> None:
        """Make one topic of pairs that are likelier so, the smallest topics first."""
        into_K = np.arange(self.pull_K.size)
        taken = np.zeros(into_K.size, bool)
        for pair in _alike(count_PK):
            if not taken[pair].any() and self._are_one(pair, count_PK[:, pair]):
                into_K[pair[0]], taken[pair] = pair[1], True
        self.topic_N = into_K.astype(self.topic_N.dtype)[self.topic_N]
        self.pull_K = np.asarray(np.bincount(into_K, self.pull_K, into_K.size), float)

    def _are_one(self, pair: Int, count_P2: np.ndarray) -> bool:
        """Tell whether a pair is likelier as one topic.

        log p(words, topics of tokens) has, of a topic, its words' Dirichlet-multinomial and
        sum_d log G(pull_k + c_dk) / G(pull_k). Of two it is only one way to share the tokens out:
        the entropy of all of them is added, each token's own given the others.
        """
        place_N = np.flatnonzero((self.topic_N == pair[0]) | (self.topic_N == pair[1]))
        document_N = np.searchsorted(self.documents.start, place_N, "right") - 1
        here_D, owner_N = np.unique(document_N, return_inverse=True)
        mine_N2 = self.topic_N[place_N, None] == pair
        size_2D = [np.bincount(owner_N, mine, here_D.size) for mine in mine_N2.T]
        size_D2 = np.asarray(np.stack(size_2D, axis=1), float)
        a, pull_2 = self.concentration, self.pull_K[pair]
        word_N2 = count_P2[self.documents.word[place_N]] - mine_N2 + a
        total_2 = count_P2.sum(axis=0) - mine_N2 + a * len(count_P2)
        weight_N2 = (size_D2[owner_N] - mine_N2 + pull_2) * word_N2 / total_2
        ways = entr(weight_N2 / weight_N2.sum(axis=1, keepdims=True)).sum()
        two = sum(_fit(count_P2[:, i], size_D2[:, i], a, float(pull_2[i])) for i in (0, 1))
        one = _fit(count_P2.sum(axis=1), size_D2.sum(axis=1), a, pull_2.sum())
        return bool(one > two + ways)

    def redraw(
        self, rng: np.random.Generator, count_PK: np.ndarray, n_passes: int, done_1: Float
    ) -> None:
        """Make some passes over all documents."""
        n_words, n_topics = count_PK.shape
        number_PK = np.zeros((n_words, padded(n_topics)), np.float32)
        number_PK[:, :n_topics] = count_PK + np.float32(self.concentration)
        total_K = (count_PK.sum(axis=0) + n_words * self.concentration).astype(np.float32)
        pull_K = self.pull_K.astype(np.float32)
        for _ in range(n_passes):
            redraw_guess(
                fresh_key(rng), self.documents.start, self.documents.word, self.topic_N, number_PK,
                total_K, pull_K, done_1,
            )  # fmt: skip


def guess_topics(
    rng: np.random.Generator, documents: Tokens, n_topics: int, concentration: float
) -> np.ndarray:
    """Return a topic for every token, 0 for the one that most documents use."""
    kind = np.int16 if n_topics < 2**15 - 1 else np.int32
    topic_N = rng.integers(n_topics, size=documents.word.size).astype(kind)
    guess = _Guess(documents, topic_N, np.full(n_topics, _PULL / n_topics), concentration)
    n_passes = int(np.clip(_WORK // max(topic_N.size, 1), _FEWEST, _PASSES))
    done_1, whole = np.zeros(1), documents.n_documents * n_passes
    now("guessing first topics", lambda: float(done_1[0]) / max(whole, 1))
    for turn in range(0, n_passes, _BATCH):
        count_PK, _, above_JK = guess.counted()
        if turn >= _HELD:
            guess.learn_pull(above_JK)
        if turn >= _WHOLE and turn % _MERGED == 0:
            guess.merge(count_PK)
            count_PK = guess.counted()[0]
        guess.redraw(rng, guess.without_unused(count_PK), min(_BATCH, n_passes - turn), done_1)
    users_K = guess.counted()[1]
    rank_K = np.argsort(np.argsort(-users_K, kind="stable")).astype(kind)
    found: np.ndarray = rank_K[guess.topic_N]
    return found


def _alike(count_PK: np.ndarray) -> Iterator[Int]:
    """Yield each topic with the larger one that is most like it, the smallest first."""
    order = np.argsort(count_PK.sum(axis=0), kind="stable")
    unit_PK = count_PK[:, order].astype(np.float32)
    unit_PK /= np.maximum(np.linalg.norm(unit_PK, axis=0), 1e-30)
    like_KK = np.triu(unit_PK.T @ unit_PK, 1)
    for i in range(order.size - 1):
        yield order[[i, int(like_KK[i].argmax())]]


def _fit(count_P: Int, size_D: Float, concentration: float, pull: float) -> float:
    """Return what a topic of these tokens adds to log p(words, topics of tokens)."""
    seen_P, seen_D, whole = count_P[count_P > 0], size_D[size_D > 0], count_P.size * concentration
    fit = gammaln(whole) - gammaln(whole + seen_P.sum())
    fit += (gammaln(concentration + seen_P) - gammaln(concentration)).sum()
    return float(fit + (gammaln(pull + seen_D) - gammaln(pull)).sum())
