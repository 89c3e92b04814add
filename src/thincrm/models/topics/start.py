"""States of the topic models' chains that no sweep makes: the first, and one with more topics."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thincrm.inference.updates import log_odds_of
from thincrm.models.topics.documents import DocumentSizes, sizes_of, tokens_counted
from thincrm.models.topics.guess import FIRST_CONCENTRATION, first_topics
from thincrm.models.topics.kernel import Rates, redraw_documents
from thincrm.models.topics.lanes import LANES
from thincrm.models.topics.state import (
    TopicGlobals,
    TopicLocal,
    TopicProblem,
    TopicShard,
    TopicState,
)
from thincrm.models.topics.sweep import (
    add_silent,
    log_share_of,
    rates_of,
    redraw_activations,
    redraw_topics,
)
from thincrm.models.topics.tally import NO_TALLY
from thincrm.models.topics.usage import TopicEvidence
from thincrm.models.topics.usage_counts import DocumentTopics
from thincrm.numerics.arrays import Bool
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.waiting import now
from thincrm.ports import State

__all__ = ["expand", "start_state"]

_MOST_REPAIRS = 50


@dataclass(frozen=True, slots=True)
class _First:
    factor: object
    sizes: DocumentSizes


def _first_local(
    shard: TopicShard, topic_N: np.ndarray, message: _First
) -> tuple[TopicLocal, TopicEvidence]:
    """Return the local state of guessed topics, levels of documents with them."""
    level, n_levels = None, message.sizes.n_levels
    if n_levels:
        level = message.factor.start_levels(np.diff(shard.tokens.start))  # type: ignore[attr-defined]
    return tokens_counted(shard, topic_N, level, message.sizes)


def start_state(rng: np.random.Generator, problem: TopicProblem) -> TopicState:
    """Return a state to start from: tokens guessed, everything else redrawn to fit them."""
    n_topics, likelihood, factor = problem.n_atoms, problem.likelihood, problem.likelihood.factor
    topic = first_topics(rng, problem)
    message = _First(factor, sizes_of(problem))
    local, parts = problem.engine.map(_first_local, problem.shards, topic, message, likelihood.add)
    evidence = likelihood.add(parts)
    shape = factor.start_shape(n_topics)
    mean_K = np.maximum(evidence.total, 0.5) / np.maximum(evidence.positive.sum(0), 1)
    log_mass = factor.start_log_mass(shape, mean_K)
    unused = evidence.total == 0
    log_mass[unused] = problem.levy.draw_log_mass(rng, n_topics)[unused]
    seen_B = evidence.trials.reshape(-1, max(1, factor.n_levels)).sum(axis=0)
    own = TopicGlobals(
        theta=np.zeros(evidence.counts.shape, np.float32),
        seats=evidence.seats,
        concentration=likelihood.concentration or FIRST_CONCENTRATION,
        shape=shape,
        burstiness=0.02 if likelihood.burstiness is None else likelihood.burstiness,
        log_share=log_share_of(seen_B) if factor.n_levels else None,
    )
    x = problem.thinning.draw(rng, n_topics - problem.n_background, problem.prepared)
    state = State(local, own, log_mass, x, problem.levy, evidence)
    first, done = (redraw_activations,) * 10 + (_redraw_all_topics,), 0
    now("fitting first curves", lambda: done / len(first))
    for update in first:
        state = update(rng, problem, state)
        done += 1
    now("making the first sweep")
    for _ in range(_MOST_REPAIRS):
        if not _any_in_shut_topics(problem, state):
            break
        for update in (_leave_shut_topics, redraw_activations, _redraw_all_topics):
            state = update(rng, problem, state)
    return state


def _redraw_all_topics(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState
) -> TopicState:
    """Redraw topics that hold tokens, and those that hold none."""
    state = redraw_topics(rng, problem, state)
    return add_silent(rng, state, np.ones(problem.n_atoms, bool))


def _any_in_shut_topics(problem: TopicProblem, state: TopicState) -> bool:
    never_TK = log_odds_of(problem, state.x) == -np.inf
    _, found = problem.engine.map(_has_shut, problem.shards, state.local, never_TK)
    return any(found)


def _has_shut(shard: TopicShard, local: TopicLocal, never_TK: Bool) -> tuple[TopicLocal, bool]:
    return local, bool(_in_shut_topics(shard, local, never_TK).any())


def _in_shut_topics(shard: TopicShard, local: TopicLocal, never_TK: Bool) -> Bool:
    """Tell which tokens are in a topic that is shut for sure at their document's row.

    A sweep never gets into such a state, and is slow to leave it.
    """
    row_N = np.repeat(shard.row, np.diff(shard.tokens.start))
    return np.asarray(never_TK[row_N, local.topic])


@dataclass(frozen=True, slots=True)
class _Leaving:
    key: np.uint64
    rates: Rates
    never_TK: Bool
    sizes: DocumentSizes


def _leave_shut_topics(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState
) -> TopicState:
    """Redraw all tokens; those in shut topics start in none, and go back if no topic is open."""
    rates = rates_of(problem, state)
    none, column = problem.n_atoms, rates.gain_K.size
    rates = rates._replace(
        theta_PK=np.pad(rates.theta_PK, ((0, 0), (0, LANES))),
        gain_K=np.pad(rates.gain_K, (0, LANES)),
        shape_K=np.pad(rates.shape_K, (0, LANES), constant_values=1.0),
        unused_TK=np.pad(rates.unused_TK, ((0, 0), (0, LANES))),
        bound_BK=np.pad(rates.bound_BK, ((0, 0), (0, LANES))),
        place_K=np.append(rates.place_K, np.int32(column)),
        name_K=np.pad(rates.name_K, (0, column + 1 - rates.name_K.size), constant_values=none),
    )
    never_TK = log_odds_of(problem, state.x) == -np.inf
    message = _Leaving(fresh_key(rng), rates, never_TK, sizes_of(problem))
    add = problem.likelihood.add
    local, parts = problem.engine.map(_leave, problem.shards, state.local, message, add)
    return replace(state, local=local, evidence=add(parts))


def _leave(
    shard: TopicShard, local: TopicLocal, message: _Leaving
) -> tuple[TopicLocal, TopicEvidence]:
    sizes, none = message.sizes, message.sizes.n_topics
    topic = np.where(_in_shut_topics(shard, local, message.never_TK), none, local.topic)
    topic = topic.astype(local.topic.dtype)
    corpus = shard.corpus(local.level, sizes.n_levels)
    room, n_documents = DocumentTopics.unkept(topic.dtype), corpus.order_D.size
    redraw_documents(0, n_documents, message.key, corpus, message.rates, topic, *room, NO_TALLY)
    topic = np.where(topic == none, local.topic, topic)
    return tokens_counted(shard, topic, local.level, sizes)


def expand(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState, n_topics: int
) -> tuple[TopicProblem, TopicState]:
    """Return the problem and state with a larger truncation: new atoms come from the prior."""
    more = n_topics - problem.n_atoms
    problem = replace(problem, n_atoms=n_topics, latest=[])
    old = state.evidence
    fresh = problem.thinning.draw(rng, more, problem.prepared)
    x = type(state.x)(*(np.concatenate(pair) for pair in zip(state.x, fresh, strict=True)))
    shape = problem.likelihood.factor.more_shape(rng, state.own.shape, more)
    fresh_mass = state.levy.draw_log_mass(rng, n_topics)[:more]
    state = replace(
        state,
        x=x,
        log_mass=np.concatenate([state.log_mass, fresh_mass]),
        evidence=old._replace(
            positive=np.pad(old.positive, ((0, 0), (0, more))),
            above=np.pad(old.above, ((0, 0), (0, more))),
        ),
    )
    return problem, state.with_own(shape=shape)
