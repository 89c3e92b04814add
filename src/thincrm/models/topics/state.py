"""A topic model's documents in shards, what belongs to them, and the globals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.special import gammaln

from thincrm.data.counts import Tokens
from thincrm.models.topics.kernel import Corpus
from thincrm.models.topics.levels import level_rows
from thincrm.models.topics.usage import TopicEvidence
from thincrm.numerics.arrays import Bool, Float, Int
from thincrm.numerics.on_disk import let_go
from thincrm.ports import Problem, State

if TYPE_CHECKING:
    from thincrm.models.topics.likelihood import TopicLikelihood

__all__ = [
    "TopicFacts",
    "TopicGlobals",
    "TopicLocal",
    "TopicProblem",
    "TopicShard",
    "TopicState",
    "facts_of",
    "shards_of",
]

_N_SHARDS = 64  # if shards are neither smaller nor larger than this:
_SHARD_TOKENS = 2**21, 2**24
_DOCUMENTS = 2**16  # looked at at a time
_DOCUMENT = 3  # tokens that take as long as a document does beside its own


@dataclass(frozen=True, slots=True)
class TopicShard:
    """Some of the documents, one after another, as they were given."""

    tokens: Tokens
    row: np.ndarray  # D: covariate row of each document
    order: np.ndarray  # D: documents sorted by row
    first: int = 0  # the number of its first document among all

    @property
    def items(self) -> Int:
        """Return the (D,) numbers of the documents' random streams."""
        return self.first + np.arange(self.row.size)

    def let_go(self) -> None:
        """Give back the memory of words that are on disk."""
        let_go(self.tokens.word)

    def corpus(self, level_D: np.ndarray | None, n_levels: int) -> Corpus:
        """Return the documents as the token kernel takes them, sorted by row and level."""
        row, order = level_rows(self.row, level_D, n_levels), self.order
        if level_D is not None:
            order = np.argsort(row, kind="stable").astype(np.int32)
        return Corpus(order, row, self.items, self.tokens.start, self.tokens.word)


class TopicLocal(NamedTuple):
    """What belongs to the documents of a shard."""

    topic: np.ndarray  # N: of each token
    level: np.ndarray | None = None  # D; None: the likelihood has no levels


@dataclass(frozen=True, slots=True)
class TopicGlobals:
    """The topics, and how documents use them."""

    theta: np.ndarray  # P x A, float32: of topics `seats`; columns padded to whole lanes
    seats: Int  # A: topics that take part: all that hold tokens, and others that are awake
    concentration: float
    shape: Float  # K
    burstiness: float = 0.0  # 1 / s
    log_share: Float | None = None  # B: of the levels
    asleep: Bool | None = None  # K: gets no token this sweep; None: nobody is


class TopicFacts(NamedTuple):
    """What the globals' updates must know of all documents."""

    n_words: int
    n_tokens: int
    longest: int  # tokens of a document
    log_orders: float  # sum_dp log w_dp!, of the tokens of a word in a document
    word_total: Int  # P: tokens of each word
    document_sweeps: frozenset[int] | None = None  # whose draws keep documents; None: all


TopicState = State[TopicLocal, TopicGlobals, TopicEvidence]
TopicProblem: TypeAlias = "Problem[TopicShard, TopicLikelihood]"


def facts_of(documents: Tokens) -> TopicFacts:
    """Return the facts of all documents."""
    longest = int(np.diff(documents.start).max(initial=0))
    log_orders, word_total = _words(documents)
    return TopicFacts(documents.n_words, documents.word.size, longest, log_orders, word_total)


def _words(documents: Tokens) -> tuple[float, Int]:
    """Return sum_dp log w_dp!, and the tokens of words; these are sorted in their documents."""
    repeats, total_P = np.zeros(1, np.int64), np.zeros(documents.n_words, np.int64)
    for first in range(0, documents.n_documents, _DOCUMENTS):
        start = documents.start[first : first + _DOCUMENTS + 1]
        word = documents.word[start[0] : start[-1]]
        total_P += np.bincount(word, minlength=total_P.size)
        more = _repeats(start - start[0], word)
        short, repeats = sorted([repeats, more], key=len)
        repeats[: len(short)] += short
        let_go(documents.word)
    return float(repeats @ gammaln(np.arange(repeats.size) + 1.0)), total_P


def _repeats(start_D: Int, word_N: np.ndarray) -> Int:
    """Return how many words are how often in a document."""
    first = np.ones(word_N.size, bool)
    first[1:] = word_N[1:] != word_N[:-1]
    first[start_D[:-1][np.diff(start_D) > 0]] = True
    return np.bincount(np.diff(np.flatnonzero(first), append=word_N.size))


def shards_of(
    documents: Tokens, row_D: np.ndarray, shard_tokens: int | None = None
) -> tuple[TopicShard, ...]:
    """Cut documents into shards of about so many tokens: fixed by the data alone.

    None: few enough that their evidence is quickly added, enough for the workers of a cluster.
    Shards take the same time, so those of short documents have fewer tokens.
    """
    if shard_tokens is None:
        shard_tokens = int(np.clip(documents.word.size / _N_SHARDS, *_SHARD_TOKENS))
    n_shards = max(1, round(documents.word.size / shard_tokens))
    work_D = documents.start + _DOCUMENT * np.arange(documents.start.size)
    ends = np.searchsorted(work_D, work_D[-1] * np.arange(1, n_shards) / n_shards)
    cuts = np.unique([0, *ends.tolist(), documents.n_documents])
    if cuts.size < 2:
        cuts = np.array([0, documents.n_documents])
    return tuple(_shard(documents, row_D, first, stop) for first, stop in pairwise(cuts.tolist()))


def _shard(documents: Tokens, row_D: np.ndarray, first: int, stop: int) -> TopicShard:
    start = documents.start[first : stop + 1]
    word = documents.word[start[0] : start[-1]]
    row = row_D[first:stop]
    order = np.argsort(row, kind="stable").astype(np.int32)
    return TopicShard(Tokens(start - start[0], word, documents.n_words), row, order, first)
