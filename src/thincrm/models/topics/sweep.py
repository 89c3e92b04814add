"""The topic models' sweep: an ordered list of updates of a state.

levels -> who is awake -> tokens -> activations -> (shape -> masses -> their law) and topics. Gates
and usages are integrated out of the levels, the tokens and the activations; the other updates draw,
for themselves, how many silent documents are open. So nothing of size documents x topics is ever
made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import get_ident
from typing import Any

import numpy as np

from thincrm.data.counts import Tokens
from thincrm.levy.learning import learn
from thincrm.models.topics.kernel import (
    Corpus,
    Rates,
    count_documents,
    redraw_documents,
)
from thincrm.models.topics.levels import draw_levels, draw_shares, level_gates, level_rows, spread
from thincrm.models.topics.usage import (
    TopicEvidence,
    Usage,
    gate_evidence,
    open_gates,
    padded,
    token_rates,
)
from thincrm.models.topics.usage_counts import DocumentTopics, UsageCounts, add_up, share_out
from thincrm.models.topics.words import draw_topics, redraw_burstiness, redraw_concentration
from thincrm.numerics.arrays import Bool, Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks

__all__ = ["SWEEP", "TopicProblem", "TopicState"]

RARE = 1.0  # tokens expected of a topic that is sometimes asleep


@dataclass(frozen=True, slots=True)
class TopicProblem:
    """What does not change: the model's factors, the documents and their covariate rows."""

    levy: Any
    thinning: Any
    likelihood: Any
    prepared: Any
    tokens: Tokens
    row: np.ndarray  # D: covariate row of each document
    order: np.ndarray  # D: documents sorted by row
    trials: Int  # T: documents at each row
    n_topics: int
    n_background: int
    concentration: float | None  # None: learned
    learn_masses: bool
    burstiness: float | None = 0.0  # None: learned
    latest: list[Any] = field(default_factory=list, compare=False)  # x and its log odds


@dataclass(frozen=True, slots=True)
class TopicState:
    """Where a chain stands. `topic` is per token; everything else is global."""

    topic: np.ndarray  # N
    theta: np.ndarray  # P x A, float32: of topics `seats`; columns padded to whole lanes
    seats: Int  # A: topics that take part: all that hold tokens, and others that are awake
    concentration: float
    shape: Float  # K
    log_mass: Float  # K
    x: Any
    levy: Any
    usage: DocumentTopics
    evidence: TopicEvidence
    burstiness: float = 0.0  # 1 / s
    level: np.ndarray | None = None  # D; None: the likelihood has no levels
    log_share: Float | None = None  # B: of the levels
    asleep: Bool | None = None  # K: gets no token this sweep; None: nobody is


Update = Callable[[np.random.Generator, TopicProblem, TopicState], TopicState]


def usage_of(problem: TopicProblem, state: TopicState) -> Usage:
    """Return the negative binomials of the topics."""
    usage: Usage = problem.likelihood.usage(state.shape, state.log_mass)
    return usage if state.log_share is None else usage._replace(log_share=state.log_share)


def log_odds_of(problem: TopicProblem, x: Any) -> Float:
    """Return the (T, K) log odds of being open; background topics always are.

    Several updates of a sweep ask for those of the same x, so the latest are remembered.
    """
    if problem.latest and problem.latest[0] is x:
        return np.asarray(problem.latest[1])
    thinned = problem.thinning.log_odds(x, problem.prepared)
    always = np.full((len(problem.trials), problem.n_background), np.inf)
    problem.latest[:] = x, np.concatenate([always, thinned], axis=1)
    return np.asarray(problem.latest[1])


def rows_of(problem: TopicProblem, level_D: np.ndarray | None) -> np.ndarray:
    """Return the documents' rows in tables of covariate rows and levels."""
    return level_rows(problem.row, level_D, problem.likelihood.n_levels)


def redraw_levels(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the documents' levels, gates and usages integrated out, where there are any."""
    if state.level is None:
        return state
    key, items = fresh_key(rng), np.arange(problem.row.size)
    usage, log_odds = usage_of(problem, state), log_odds_of(problem, state.x)
    level = draw_levels(key, items, problem.row, problem.tokens.start, state.usage, usage, log_odds)
    found = count_usage(problem, corpus_of(problem, level), state.usage)
    evidence = TopicEvidence(state.evidence.counts, *found, state.evidence.seats)
    return replace(state, level=level, evidence=evidence)


def redraw_shares(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the shares of the levels."""
    if state.level is None:
        return state
    return replace(state, log_share=draw_shares(rng, state.level, problem.likelihood.n_levels))


def wake_topics(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Choose the topics that take part in this sweep.

    A topic is awake with probability min(1, m_k / RARE), m_k = D shape q / (1 - q) being the tokens
    it would have were it open everywhere. One that sleeps keeps its tokens and its curve, and gets
    no more tokens. As m_k depends on nothing that tokens and curves change, each of their updates
    leaves the posterior alone, whoever is awake. Unused atoms have next to no mass, so that few are
    awake, whatever the truncation.
    """
    expected_K = problem.row.size * usage_of(problem, state).mean
    awake = rng.random(problem.n_topics) * RARE < expected_K
    awake[: problem.n_background] = True
    return replace(add_silent(rng, state, awake), asleep=~awake)


def add_silent(rng: np.random.Generator, state: TopicState, wanted_K: Bool) -> TopicState:
    """Return the state with topics that hold tokens, and those wanted that hold none, drawn."""
    used = state.evidence.total > 0
    held, silent = np.flatnonzero(used[state.seats]), np.flatnonzero(wanted_K & ~used)
    seats = np.concatenate([state.seats[held], silent])
    nothing = np.zeros((len(state.theta), silent.size), np.int32)
    fresh = draw_topics(rng, nothing, state.concentration, np.arange(silent.size))
    theta = np.zeros((len(state.theta), padded(seats.size)), np.float32)
    all_held = held.size == state.seats.size  # as after every sweep
    theta[:, : held.size] = state.theta[:, slice(held.size) if all_held else held]
    theta[:, held.size : seats.size] = fresh[:, : silent.size]
    return replace(state, theta=theta, seats=seats)


def redraw_tokens(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw every token's topic, of those that are awake."""
    key, topic = fresh_key(rng), state.topic.copy()
    corpus, rates = corpus_of(problem, state.level), rates_of(problem, state)
    usage = DocumentTopics.empty(problem.tokens, topic.dtype)
    counts: dict[int, np.ndarray] = defaultdict(lambda: np.zeros(rates.theta_PK.shape, np.int32))

    def redraw(first: int, stop: int) -> None:
        redraw_documents(first, stop, key, corpus, rates, topic, *usage, counts[get_ident()])

    found = count_usage(problem, corpus, usage, redraw)
    total, *others = counts.values()
    for more in others:
        total += more
    evidence = TopicEvidence(total, *found, state.seats)
    return replace(state, topic=topic, usage=usage, evidence=evidence)


def corpus_of(problem: TopicProblem, level_D: np.ndarray | None) -> Corpus:
    """Return the documents as the token kernel takes them, sorted by row and level."""
    documents, row, order = problem.tokens, rows_of(problem, level_D), problem.order
    if level_D is not None:
        order = np.argsort(row, kind="stable").astype(np.int32)
    items = np.arange(documents.n_documents)
    return Corpus(order, row, items, documents.start, documents.word)


def count_usage(
    problem: TopicProblem,
    corpus: Corpus,
    usage: DocumentTopics,
    before: Callable[[int, int], None] = lambda _first, _stop: None,
) -> tuple[Int, Int, Int]:
    """Return what documents use, and how many there are; threads do `before` to blocks first."""
    n_rows, bounds = len(problem.trials) * max(1, problem.likelihood.n_levels), share_out(corpus)

    parts: dict[int, UsageCounts] = defaultdict(lambda: UsageCounts.none(n_rows, problem.n_topics))

    def work(block: int, _: int) -> None:
        first, stop, thread = bounds[block], bounds[block + 1], get_ident()
        before(first, stop)
        parts[thread] = parts[thread].and_of(first, stop, corpus, usage)

    map_blocks(work, len(bounds) - 1, 1)
    return *add_up(parts.values()), np.bincount(corpus.row_D, minlength=n_rows)


def rates_of(problem: TopicProblem, state: TopicState) -> Rates:
    """Return the token weights, in pieces, of topics that take part; those asleep weigh nothing."""
    usage, log_odds = spread(usage_of(problem, state), log_odds_of(problem, state.x))
    longest, seats = int(np.diff(problem.tokens.start).max(initial=0)), state.seats
    usage, log_odds = usage.of(seats), log_odds[:, seats]
    rates = token_rates(usage, log_odds, state.theta, state.burstiness, longest)
    if state.asleep is not None:
        still = np.flatnonzero(state.asleep[seats])
        rates.gain_K[still] = rates.shape_K[still] = rates.unused_TK[:, still] = 0.0
    place = np.zeros(problem.n_topics, np.int32)
    place[seats] = np.arange(seats.size)
    return rates._replace(place_K=place, name_K=seats.astype(np.int32))


def redraw_activations(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState
) -> TopicState:
    """Redraw the thinning function's variables of topics that take part, gates integrated out."""
    topics = state.seats[state.seats >= problem.n_background]
    usage = usage_of(problem, state).of(topics)
    seen = state.evidence._replace(positive=state.evidence.positive[:, topics])
    if state.level is None:
        gates = gate_evidence(usage, seen)
    else:
        gates = level_gates(rng, usage, seen, log_odds_of(problem, state.x)[:, topics])
    atoms = topics - problem.n_background
    some = type(state.x)(*(part[atoms] for part in state.x))
    moved = problem.thinning.redraw(rng, some, gates, problem.prepared)
    x = type(state.x)(*(part.copy() for part in state.x))
    for part, new in zip(x, moved, strict=True):
        part[atoms] = new
    return replace(state, x=x)


def _open(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> Int:
    usage, log_odds = spread(usage_of(problem, state), log_odds_of(problem, state.x))
    return open_gates(rng, usage, state.evidence, log_odds)


def redraw_shape(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the shapes of the usages."""
    log_odds = log_odds_of(problem, state.x)
    shape = problem.likelihood.redraw_shape(
        rng, state.shape, state.log_mass, state.evidence, log_odds
    )
    return replace(state, shape=shape)


def redraw_masses(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the masses, usages integrated out, unless `redraw_levy` moves them."""
    if problem.learn_masses:
        return state
    opened = _open(rng, problem, state)
    found = problem.likelihood.mass_evidence(
        rng, state.shape, state.log_mass, state.evidence, opened
    )
    return replace(state, log_mass=state.levy.redraw(rng, state.log_mass, found))


def redraw_levy(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the Lévy measure's own parameters, and the masses with them."""
    if not problem.learn_masses:
        return state
    opened = _open(rng, problem, state)
    found = problem.likelihood.conjugate_evidence(
        rng, state.shape, state.log_mass, state.evidence, opened
    )
    levy, log_mass = learn(state.levy, rng, state.log_mass, found)
    return replace(state, levy=levy, log_mass=log_mass)


def redraw_bursts(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the burstiness, where it is learned."""
    if problem.burstiness is not None:
        return state
    n_seats, above_J = int(state.evidence.counts.sum(dtype=np.int64)), state.evidence.above.sum(1)
    return replace(state, burstiness=redraw_burstiness(rng, n_seats, above_J, state.burstiness))


def redraw_topics(
    rng: np.random.Generator,
    problem: TopicProblem,
    state: TopicState,
    meanwhile: Callable[[], None] = lambda: None,
) -> TopicState:
    """Redraw the concentration with the topics integrated out, then those that hold tokens."""
    seen, concentration = state.evidence, state.concentration
    if problem.concentration is None:
        concentration = redraw_concentration(rng, seen.counts, concentration)
    held = np.flatnonzero(seen.total[seen.seats])
    theta = draw_topics(rng, seen.counts, concentration, held, meanwhile)
    return replace(state, concentration=concentration, theta=theta, seats=seen.seats[held])


WITHOUT_WORDS: tuple[Update, ...] = (redraw_shape, redraw_masses, redraw_levy, redraw_bursts)


def redraw_globals(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState
) -> TopicState:
    """Redraw what words say nothing of while other threads draw the topics, independent of it."""
    moved = state

    def meanwhile() -> None:
        nonlocal moved
        for update in WITHOUT_WORDS:
            moved = update(rng, problem, moved)

    new = redraw_topics(rng, problem, state, meanwhile)
    return replace(
        moved, concentration=new.concentration, theta=new.theta, seats=new.seats, asleep=None
    )


SWEEP: tuple[Update, ...] = (
    redraw_levels,
    redraw_shares,
    wake_topics,
    redraw_tokens,
    redraw_activations,
    redraw_globals,
)


def count_topics(
    problem: TopicProblem,
    topic_N: np.ndarray,
    level_D: np.ndarray | None = None,
    room: DocumentTopics | None = None,
) -> tuple[DocumentTopics, TopicEvidence]:
    """Return the documents' topics, in `room`, and the evidence, of given topics of tokens."""
    documents = problem.tokens
    counts = np.zeros((documents.n_words, padded(problem.n_topics)), np.int32)
    usage = DocumentTopics.empty(documents, topic_N.dtype) if room is None else room
    count_documents(documents.start, documents.word, topic_N, *usage, counts)
    found = count_usage(problem, corpus_of(problem, level_D), usage)
    return usage, TopicEvidence(counts, *found, np.arange(problem.n_topics))
