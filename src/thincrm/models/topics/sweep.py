"""The topic models' sweep: an ordered list of updates of a state.

levels -> who is awake -> tokens -> activations -> a topic split, or two merged -> (shape -> masses
-> their law) and topics. Gates and usages are integrated out of the levels, the tokens, the
activations and whole topics; the other updates draw, for themselves, how many silent documents are
open. So nothing of size documents x topics is ever made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thincrm.inference.updates import log_odds_of, redraw_masses, redraw_observations
from thincrm.models.topics.documents import (
    LevelMessage,
    TokenMessage,
    add_usage,
    evidence_of,
    redraw_levels_of,
    sizes_of,
)
from thincrm.models.topics.envelope import share_bounds
from thincrm.models.topics.kernel import Rates
from thincrm.models.topics.levels import level_gates, spread
from thincrm.models.topics.split_merge import split_or_merge
from thincrm.models.topics.state import TopicProblem, TopicState
from thincrm.models.topics.usage import (
    Usage,
    gate_evidence,
    open_gates,
    padded,
    token_rates,
)
from thincrm.models.topics.words import (
    URN_LAW,
    UrnLaw,
    draw_topics,
    redraw_burstiness,
    redraw_concentration,
)
from thincrm.numerics.arrays import Bool, Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.ports import GateEvidence

__all__ = ["SWEEP", "Update"]

_ENOUGH = 16.0  # tokens to a word of a bin of rows
RARE = 1.0  # tokens expected of a topic that is sometimes asleep
Update = Callable[[np.random.Generator, TopicProblem, TopicState], TopicState]


def usage_of(problem: TopicProblem, state: TopicState) -> Usage:
    """Return the negative binomials of the topics."""
    own, factor = state.own, problem.likelihood.factor
    usage: Usage = factor.usage(own.shape, state.log_mass)
    return usage if own.log_share is None else usage._replace(log_share=own.log_share)


def redraw_levels(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the documents' levels, gates and usages integrated out, where there are any."""
    if state.own.log_share is None:
        return state
    key, log_odds = fresh_key(rng), log_odds_of(problem, state.x)
    message = LevelMessage(key, usage_of(problem, state), log_odds, sizes_of(problem))
    local, parts = problem.engine.map(
        redraw_levels_of, problem.shards, state.local, message, add_usage
    )
    found = parts[0] if len(parts) == 1 else add_usage(parts)
    evidence = evidence_of(state.evidence.counts, found, state.evidence.seats)
    return replace(state, local=local, evidence=evidence)


def redraw_shares(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the shares of the levels; their prior is a uniform Dirichlet."""
    if state.own.log_share is None:
        return state
    n_levels = problem.likelihood.factor.n_levels
    seen_B = state.evidence.trials.reshape(-1, n_levels).sum(axis=0)
    return state.with_own(log_share=np.log(rng.dirichlet(1.0 + seen_B)))


def wake_topics(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState, rare: float = RARE
) -> TopicState:
    """Choose the topics that take part in this sweep.

    A topic is awake with probability min(1, m_k / rare), m_k = D shape q / (1 - q) being the tokens
    it would have were it open everywhere. One that sleeps keeps its tokens and its curve, and gets
    no more tokens. As m_k depends on nothing that tokens and curves change, each of their updates
    leaves the posterior alone, whoever is awake. Unused atoms have next to no mass, so that few are
    awake, whatever the truncation.
    """
    expected_K = problem.trials.sum() * usage_of(problem, state).mean
    awake = rng.random(problem.n_atoms) * rare < expected_K
    awake[: problem.n_background] = True
    return add_silent(rng, state, awake).with_own(asleep=~awake)


def add_silent(rng: np.random.Generator, state: TopicState, wanted_K: Bool) -> TopicState:
    """Return the state with topics that hold tokens, and those wanted that hold none, drawn."""
    own, used = state.own, state.evidence.total > 0
    held, silent = np.flatnonzero(used[own.seats]), np.flatnonzero(wanted_K & ~used)
    seats = np.concatenate([own.seats[held], silent])
    nothing = np.zeros((len(own.theta), silent.size), np.int32)
    fresh = draw_topics(rng, nothing, own.concentration, np.arange(silent.size))
    theta = np.zeros((len(own.theta), padded(seats.size)), np.float32)
    all_held = held.size == own.seats.size  # as after every sweep
    theta[:, : held.size] = own.theta[:, slice(held.size) if all_held else held]
    theta[:, held.size : seats.size] = fresh[:, : silent.size]
    return state.with_own(theta=theta, seats=seats)


redraw_tokens = redraw_observations


def token_message(problem: TopicProblem, state: TopicState) -> TokenMessage:
    """Return what tokens need to know of the globals."""
    return TokenMessage(rates_of(problem, state), state.own.seats, sizes_of(problem))


def rates_of(
    problem: TopicProblem, state: TopicState, weights: Callable[..., Rates] = token_rates
) -> Rates:
    """Return the token weights, in pieces, of topics that take part; those asleep weigh nothing."""
    own = state.own
    usage, log_odds = spread(usage_of(problem, state), log_odds_of(problem, state.x))
    usage, log_odds = usage.of(own.seats), log_odds[:, own.seats]
    rates = weights(usage, log_odds, own.theta, own.burstiness, problem.facts.longest)
    if own.asleep is not None:
        still = np.flatnonzero(own.asleep[own.seats])
        rates.gain_K[still] = rates.shape_K[still] = rates.unused_TK[:, still] = 0.0
    place = np.zeros(problem.n_atoms, np.int32)
    place[own.seats] = np.arange(own.seats.size)
    rates = rates._replace(place_K=place, name_K=own.seats.astype(np.int32))
    return share_bounds(rates, rows_a_bin(problem, len(log_odds)))


def rows_a_bin(problem: TopicProblem, n_rows: int) -> int:
    """Return how many rows have, in a shard, tokens enough to use the sum of a word again."""
    facts = problem.facts
    return int(_ENOUGH * facts.n_words * n_rows * len(problem.shards) / max(1, facts.n_tokens))


def gates_of(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState, topics: Int
) -> GateEvidence:
    """Return what documents say of the gates of some topics."""
    usage = usage_of(problem, state).of(topics)
    seen = state.evidence._replace(positive=state.evidence.positive[:, topics])
    if state.own.log_share is None:
        return gate_evidence(usage, seen)
    return level_gates(rng, usage, seen, log_odds_of(problem, state.x)[:, topics])


def redraw_activations(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState
) -> TopicState:
    """Redraw the thinning function's variables of topics that take part, gates integrated out."""
    topics = state.own.seats[state.own.seats >= problem.n_background]
    gates, atoms = gates_of(rng, problem, state, topics), topics - problem.n_background
    some = type(state.x)(*(part[atoms] for part in state.x))
    moved = problem.thinning.redraw(rng, some, gates, problem.prepared)
    x = type(state.x)(*(part.copy() for part in state.x))
    for part, new in zip(x, moved, strict=True):
        part[atoms] = new
    return replace(state, x=x)


def opened_of(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> Int:
    """Draw the (T, K) documents that topics are open in."""
    usage, log_odds = spread(usage_of(problem, state), log_odds_of(problem, state.x))
    return open_gates(rng, usage, state.evidence, log_odds)


def redraw_shape(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the shapes of the usages."""
    log_odds = log_odds_of(problem, state.x)
    shape = problem.likelihood.factor.redraw_shape(
        rng, state.own.shape, state.log_mass, state.evidence, log_odds
    )
    return state.with_own(shape=shape)


def redraw_bursts(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState, law: UrnLaw = URN_LAW
) -> TopicState:
    """Redraw the burstiness, where it is learned."""
    if problem.likelihood.burstiness is not None:
        return state
    n_fresh, above_J = int(state.evidence.counts.sum(dtype=np.int64)), state.evidence.above_J
    moved = redraw_burstiness(rng, n_fresh, above_J, state.own.burstiness, law)
    return state.with_own(burstiness=moved)


def redraw_topics(
    rng: np.random.Generator,
    problem: TopicProblem,
    state: TopicState,
    meanwhile: Callable[[], None] = lambda: None,
) -> TopicState:
    """Redraw the concentration with the topics integrated out, then those that hold tokens."""
    seen, concentration = state.evidence, state.own.concentration
    if problem.likelihood.concentration is None:
        concentration = redraw_concentration(rng, seen.counts, concentration)
    held = np.flatnonzero(seen.total[seen.seats])
    theta = draw_topics(rng, seen.counts, concentration, held, meanwhile)
    return state.with_own(concentration=concentration, theta=theta, seats=seen.seats[held])


WITHOUT_WORDS: tuple[Update, ...] = (redraw_shape, redraw_masses, redraw_bursts)


def redraw_globals(
    rng: np.random.Generator,
    problem: TopicProblem,
    state: TopicState,
    without_words: tuple[Update, ...] = WITHOUT_WORDS,
) -> TopicState:
    """Redraw what words say nothing of while other threads draw the topics, independent of it."""
    moved = state

    def meanwhile() -> None:
        nonlocal moved
        for update in without_words:
            moved = update(rng, problem, moved)

    new = redraw_topics(rng, problem, state, meanwhile).own
    return moved.with_own(
        concentration=new.concentration, theta=new.theta, seats=new.seats, asleep=None
    )


def move_whole_topics(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState
) -> TopicState:
    """Try to split a topic, or to merge two; who is asleep no longer matters."""
    return split_or_merge(rng, problem, state)


SWEEP: tuple[Update, ...] = (
    redraw_levels,
    redraw_shares,
    wake_topics,
    redraw_tokens,
    redraw_activations,
    move_whole_topics,
    redraw_globals,
)


def log_share_of(seen_B: Int) -> Float:
    """Return log shares of levels to start from."""
    return np.asarray(np.log((1.0 + seen_B) / (1.0 + seen_B).sum()))
