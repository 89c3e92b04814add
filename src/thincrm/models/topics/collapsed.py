"""The tokens' update with topics integrated out: in every sweep of a corpus that is not huge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from thincrm.models.topics.collapsed_kernel import redraw_collapsed, seat_words
from thincrm.models.topics.documents import (
    TokenMessage,
    Used,
    add_usage,
    count_usage,
    evidence_of,
)
from thincrm.models.topics.state import TopicLocal, TopicProblem, TopicShard, TopicState
from thincrm.models.topics.sweep import SWEEP, Update, redraw_tokens, token_message
from thincrm.models.topics.usage_counts import DocumentTopics
from thincrm.numerics.streams import fold_key, fresh_key

__all__ = [
    "MOST_TOKENS",
    "N_PASSES",
    "SWEEP_WITHOUT_TOPICS",
    "move_tokens",
    "redraw_without_topics",
]

MOST_TOKENS = 2**22  # beyond, a pass on one thread takes too long
N_PASSES = 2  # of a sweep; the rest of one costs as much as several


class _Seated(NamedTuple):
    """Tables of a shard's tokens, and (P, A) fresh draws of words."""

    table_N: np.ndarray
    fresh_PK: np.ndarray


@dataclass(frozen=True, slots=True)
class _Pass:
    """What a pass over a shard must know: the globals, and where all tokens sit."""

    key: np.uint64
    tokens: TokenMessage
    concentration: float
    seated: _Seated


def move_tokens(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw every token's topic: the topics integrated out, or, of huge corpora, given."""
    if problem.facts.n_tokens > MOST_TOKENS:
        return redraw_tokens(rng, problem, state)
    return redraw_without_topics(rng, problem, state)


def redraw_without_topics(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState, n_passes: int = N_PASSES
) -> TopicState:
    """Redraw tokens one after the other, topics integrated out; these must be redrawn after.

    Which tokens are fresh draws is first drawn given the topics. Documents come in the order they
    were given in, each with a stream of its own, so that the bits depend on nothing else.
    """
    key, tokens, local = fresh_key(rng), token_message(problem, state), state.local
    _, seated = problem.engine.map(_seat, problem.shards, local, (key, tokens))
    tables, fresh_PK = [part.table_N for part in seated], sum(part.fresh_PK for part in seated)
    for number in range(1, n_passes + 1):
        here, moved, found = np.uint64(fold_key(key, number)), [], []
        for shard, own, table_N in zip(problem.shards, local, tables, strict=True):
            message = _Pass(
                here, tokens, state.own.concentration, _Seated(table_N, np.asarray(fresh_PK))
            )
            (new,), [(after, used)] = problem.engine.map(_redraw, (shard,), (own,), message)
            fresh_PK = after.fresh_PK
            moved.append((new, after.table_N))
            found.append(used)
        local, tables = tuple(new for new, _ in moved), [table_N for _, table_N in moved]
    used = found[0] if len(found) == 1 else add_usage(found)
    evidence = evidence_of(np.asarray(fresh_PK), used, tokens.seats)
    return replace(state, local=local, evidence=evidence)


def _seat(
    shard: TopicShard, local: TopicLocal, sent: tuple[np.uint64, TokenMessage]
) -> tuple[TopicLocal, _Seated]:
    key, (rates, sizes) = sent[0], (sent[1].rates, sent[1].sizes)
    seated = _Seated(np.empty(local.topic.size, np.int32), np.zeros(rates.theta_PK.shape, np.int32))
    seat_words(key, shard.corpus(local.level, sizes.n_levels), rates, local.topic, *seated)
    return local, seated


def _redraw(
    shard: TopicShard, local: TopicLocal, message: _Pass
) -> tuple[TopicLocal, tuple[_Seated, Used]]:
    sizes, topic = message.tokens.sizes, local.topic.copy()
    corpus = shard.corpus(local.level, sizes.n_levels)
    usage = DocumentTopics.empty(shard.tokens, topic.dtype)
    seated = _Seated(*(part.copy() for part in message.seated))
    redraw_collapsed(
        message.key, corpus, message.tokens.rates, message.concentration, topic, *seated, *usage
    )
    return TopicLocal(topic, usage, local.level), (seated, count_usage(sizes, corpus, usage))


SWEEP_WITHOUT_TOPICS: tuple[Update, ...] = tuple(
    move_tokens if update is redraw_tokens else update for update in SWEEP
)
