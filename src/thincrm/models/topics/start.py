"""States of the topic models' chains that no sweep makes: the first, and one with more topics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thincrm.models.topics.guess import first_room, first_topics
from thincrm.models.topics.kernel import NO_COUNTS, redraw_documents
from thincrm.models.topics.lanes import LANES
from thincrm.models.topics.sweep import (
    TopicProblem,
    TopicState,
    add_silent,
    corpus_of,
    count_topics,
    log_odds_of,
    rates_of,
    redraw_activations,
    redraw_topics,
)
from thincrm.models.topics.usage_counts import DocumentTopics
from thincrm.numerics.arrays import Float
from thincrm.numerics.streams import fresh_key

__all__ = ["expand", "first_levels", "start_state"]

_MOST_REPAIRS = 50


def start_state(rng: np.random.Generator, problem: TopicProblem) -> TopicState:
    """Return a state to start from: tokens guessed, everything else redrawn to fit them."""
    n_topics, documents = problem.n_topics, problem.tokens
    topic = first_topics(rng, documents, n_topics)
    level, log_share = first_levels(problem)
    usage, evidence = count_topics(problem, topic, level)
    shape = problem.likelihood.start_shape(n_topics)
    mean_K = np.maximum(evidence.total, 0.5) / np.maximum(evidence.positive.sum(0), 1)
    log_mass = problem.likelihood.start_log_mass(shape, mean_K)
    room = first_room(documents, n_topics)
    if room < n_topics:
        log_mass[room:] = problem.levy.draw_log_mass(rng, n_topics)[room:]
    state = TopicState(
        topic=topic,
        theta=np.zeros(evidence.counts.shape, np.float32),
        seats=evidence.seats,
        concentration=problem.concentration or 0.05,
        shape=shape,
        log_mass=log_mass,
        x=problem.thinning.draw(rng, n_topics - problem.n_background, problem.prepared),
        levy=problem.levy,
        usage=usage,
        evidence=evidence,
        burstiness=0.02 if problem.burstiness is None else problem.burstiness,
        level=level,
        log_share=log_share,
    )
    for update in (redraw_activations,) * 10 + (_redraw_all_topics,):
        state = update(rng, problem, state)
    for _ in range(_MOST_REPAIRS):
        shut = _in_shut_topics(problem, state)
        if not shut.any():
            break
        for update in (_leave_shut_topics, redraw_activations, _redraw_all_topics):
            state = update(rng, problem, state)
    return state


def _redraw_all_topics(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState
) -> TopicState:
    """Redraw topics that hold tokens, and those that hold none."""
    state = redraw_topics(rng, problem, state)
    return add_silent(rng, state, np.ones(problem.n_topics, bool))


def first_levels(problem: TopicProblem) -> tuple[np.ndarray | None, Float | None]:
    """Return levels of documents, and their shares, to start from; None where there are none."""
    if problem.likelihood.n_levels == 0:
        return None, None
    level = problem.likelihood.start_levels(np.diff(problem.tokens.start))
    seen = 1.0 + np.bincount(level, minlength=problem.likelihood.n_levels)
    return level, np.log(seen / seen.sum())


def _in_shut_topics(problem: TopicProblem, state: TopicState) -> np.ndarray:
    """Tell which tokens are in a topic that is shut for sure at their document's row.

    A sweep never gets into such a state, and is slow to leave it.
    """
    never_TK = log_odds_of(problem, state.x) == -np.inf
    row_N = np.repeat(problem.row, np.diff(problem.tokens.start))
    return np.asarray(never_TK[row_N, state.topic])


def _leave_shut_topics(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState
) -> TopicState:
    """Redraw all tokens; those in shut topics start in none, and go back if no topic is open."""
    corpus, rates = corpus_of(problem, state.level), rates_of(problem, state)
    none, column = problem.n_topics, rates.gain_K.size
    rates = rates._replace(
        theta_PK=np.pad(rates.theta_PK, ((0, 0), (0, LANES))),
        gain_K=np.pad(rates.gain_K, (0, LANES)),
        shape_K=np.pad(rates.shape_K, (0, LANES), constant_values=1.0),
        unused_TK=np.pad(rates.unused_TK, ((0, 0), (0, LANES))),
        place_K=np.append(rates.place_K, np.int32(column)),
        name_K=np.pad(rates.name_K, (0, column + 1 - rates.name_K.size), constant_values=none),
    )
    topic = np.where(_in_shut_topics(problem, state), none, state.topic)
    topic = topic.astype(state.topic.dtype)
    room = DocumentTopics.empty(problem.tokens, topic.dtype)
    n_documents = corpus.order_D.size
    redraw_documents(0, n_documents, fresh_key(rng), corpus, rates, topic, *room, NO_COUNTS)
    topic = np.where(topic == none, state.topic, topic)
    usage, evidence = count_topics(problem, topic, state.level)
    return replace(state, topic=topic, usage=usage, evidence=evidence)


def expand(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState, n_topics: int
) -> tuple[TopicProblem, TopicState]:
    """Return the problem and state with a larger truncation: new atoms come from the prior."""
    more = n_topics - problem.n_topics
    problem = replace(problem, n_topics=n_topics)
    old = state.evidence
    fresh = problem.thinning.draw(rng, more, problem.prepared)
    x = type(state.x)(*(np.concatenate(pair) for pair in zip(state.x, fresh, strict=True)))
    shape = problem.likelihood.more_shape(rng, state.shape, more)
    state = replace(
        state,
        x=x,
        shape=shape,
        log_mass=np.concatenate([state.log_mass, state.levy.draw_log_mass(rng, n_topics)[:more]]),
        evidence=old._replace(
            positive=np.pad(old.positive, ((0, 0), (0, more))),
            above=np.pad(old.above, ((0, 0), (0, more))),
        ),
    )
    return problem, state
