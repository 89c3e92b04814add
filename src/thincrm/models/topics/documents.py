"""Maps over shards of documents: pure functions (shard, local, message) -> (local, result)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from threading import get_ident

import numpy as np

from thincrm.models.topics.kernel import (
    Corpus,
    Rates,
    count_documents,
    count_words,
    redraw_documents,
)
from thincrm.models.topics.levels import draw_levels
from thincrm.models.topics.state import TopicLocal, TopicProblem, TopicShard, TopicState
from thincrm.models.topics.tally import Tally
from thincrm.models.topics.usage import TopicEvidence, Usage, padded
from thincrm.models.topics.usage_counts import (
    DocumentTopics,
    UsageCounts,
    add_up,
    long_pairs,
    most_tokens,
    share_out,
)
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.threads import map_blocks

__all__ = [
    "DocumentSizes",
    "LevelMessage",
    "TokenMessage",
    "add_evidence",
    "add_usage",
    "counted",
    "evidence_of",
    "redraw_levels_of",
    "redraw_tokens_of",
    "sizes_of",
    "tokens_counted",
]


Used = tuple[Int, Int, Int, Int]  # (T, K), (J, K), the (T,) documents, and the long pairs


@dataclass(frozen=True, slots=True)
class DocumentSizes:
    """How large the tables of documents are."""

    n_rows: int  # covariate rows
    n_topics: int
    n_levels: int

    @property
    def n_pairs(self) -> int:
        """Return the pairs of a row and a level."""
        return self.n_rows * max(1, self.n_levels)


@dataclass(frozen=True, slots=True)
class TokenMessage:
    """What tokens need to know of the globals."""

    rates: Rates
    seats: Int
    sizes: DocumentSizes


@dataclass(frozen=True, slots=True)
class LevelMessage:
    """What levels need to know of the globals."""

    key: np.uint64
    usage: Usage
    log_odds: Float
    sizes: DocumentSizes


def redraw_tokens_of(
    key: np.uint64, shard: TopicShard, local: TopicLocal, message: TokenMessage
) -> tuple[TopicLocal, TopicEvidence]:
    """Redraw every token's topic, of those that are awake."""
    sizes, rates, topic = message.sizes, message.rates, local.topic.copy()
    corpus = shard.corpus(local.level, sizes.n_levels)
    bounds, most = share_out(corpus), most_tokens(corpus.start_D)
    parts: dict[int, Tally] = defaultdict(
        lambda: Tally.none(rates.theta_PK.shape, sizes.n_pairs, sizes.n_topics, most)
    )

    def redraw(block: int, _: int) -> None:
        first, stop, tally = bounds[block], bounds[block + 1], parts[get_ident()]
        room = DocumentTopics.unkept(topic.dtype)
        redraw_documents(first, stop, key, corpus, rates, topic, *room, tally)

    map_blocks(redraw, len(bounds) - 1, 1)
    total, *others = (part.fresh() for part in parts.values())
    for more in others:
        total += more
    long = long_pairs(corpus.start_D, topic)
    found = _used(sizes, corpus, map(UsageCounts.of, parts.values()), long)
    return TopicLocal(topic, local.level), evidence_of(total, found, message.seats)


def evidence_of(counts: np.ndarray, found: Used, seats: Int) -> TopicEvidence:
    """Return counts of words and what documents use as evidence."""
    return TopicEvidence(counts, *found[:3], seats, found[3])


def _used(sizes: DocumentSizes, corpus: Corpus, parts: Iterable[UsageCounts], long: Int) -> Used:
    """Return what documents use, and how many there are."""
    trials = np.bincount(corpus.row_D, minlength=sizes.n_pairs)
    return *add_up(parts), trials, long


def _count_usage(sizes: DocumentSizes, corpus: Corpus, usage: DocumentTopics, long: Int) -> Used:
    """Return what documents use, of topics that are known."""
    bounds = share_out(corpus)
    parts: dict[int, UsageCounts] = defaultdict(
        lambda: UsageCounts.none(sizes.n_pairs, sizes.n_topics)
    )

    def work(block: int, _: int) -> None:
        first, stop, thread = bounds[block], bounds[block + 1], get_ident()
        parts[thread] = parts[thread].and_of(first, stop, corpus, usage)

    map_blocks(work, len(bounds) - 1, 1)
    return _used(sizes, corpus, parts.values(), long)


def redraw_levels_of(
    shard: TopicShard, local: TopicLocal, message: LevelMessage
) -> tuple[TopicLocal, Used]:
    """Redraw the documents' levels, gates and usages integrated out; count what they use anew."""
    sizes = message.sizes
    used = DocumentTopics.of(shard.tokens, local.topic, sizes.n_topics)
    start = used.start
    level = draw_levels(
        message.key, shard.items, shard.row, start, used, message.usage, message.log_odds
    )
    corpus = shard.corpus(level, sizes.n_levels)._replace(start_D=start)
    long = long_pairs(shard.tokens.start, local.topic)
    return local._replace(level=level), _count_usage(sizes, corpus, used, long)


def count_given(
    shard: TopicShard, local: TopicLocal, sizes: DocumentSizes
) -> tuple[TopicLocal, TopicEvidence]:
    """Return what documents use, and their evidence, of the topics that tokens have."""
    return tokens_counted(shard, local.topic, local.level, sizes)


def tokens_counted(
    shard: TopicShard, topic_N: np.ndarray, level_D: np.ndarray | None, sizes: DocumentSizes
) -> tuple[TopicLocal, TopicEvidence]:
    """Return the local state, and the evidence, of given topics of tokens; all are fresh draws."""
    documents = shard.tokens
    counts = np.zeros((documents.n_words, padded(sizes.n_topics)), np.int32)
    room = DocumentTopics.empty(documents, topic_N.dtype)
    count_words(documents.word, topic_N, counts)
    count_documents(documents.start, topic_N, sizes.n_topics, *room)
    long = long_pairs(documents.start, topic_N)
    found = _count_usage(sizes, shard.corpus(level_D, sizes.n_levels), room, long)
    evidence = evidence_of(counts, found, np.arange(sizes.n_topics))
    return TopicLocal(topic_N, level_D), evidence


def add_evidence(parts: Sequence[TopicEvidence]) -> TopicEvidence:
    """Return the evidence of all shards: whole numbers, so any order gives the same."""
    first, *others = parts
    if not others:
        return first
    counts, usage = first.counts.copy(), add_usage([(*part[1:4], part.long) for part in parts])
    for part in others:
        counts += part.counts
    return evidence_of(counts, usage, first.seats)


def add_usage(parts: Sequence[Used]) -> Used:
    """Return what the documents of all shards use."""
    positive, above, trials, long = zip(*parts, strict=True)
    above_JK = np.zeros((max(map(len, above)), above[0].shape[1]), np.int64)
    for part in above:
        above_JK[: len(part)] += part
    return np.sum(positive, axis=0), above_JK, np.sum(trials, axis=0), np.hstack(long)


def sizes_of(problem: TopicProblem) -> DocumentSizes:
    """Return how large the tables of documents are."""
    n_levels = problem.likelihood.factor.n_levels
    return DocumentSizes(len(problem.trials), problem.n_atoms, n_levels)


def counted(problem: TopicProblem, state: TopicState) -> TopicState:
    """Return the state with the evidence of the topics that its tokens have."""
    add, sizes = problem.likelihood.add, sizes_of(problem)
    local, parts = problem.engine.map(count_given, problem.shards, state.local, sizes, add)
    return replace(state, local=local, evidence=add(parts))
