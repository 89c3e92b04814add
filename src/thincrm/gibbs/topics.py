"""The topic models' sweep: an ordered list of updates of a state.

levels -> tokens -> activations -> (shape -> masses -> their law) and topics. Gates and usages are
integrated out of the levels, the tokens and the activations; the other updates draw, for
themselves, how many silent documents are open. So nothing of size documents x topics is ever made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import get_ident
from typing import Any

import numpy as np

from thincrm.data.counts import Tokens
from thincrm.gibbs.document_topics import DocumentTopics, UsageCounts, add_up, share_out
from thincrm.gibbs.topic_guess import first_topics
from thincrm.levy.learning import learn
from thincrm.likelihood.documents import (
    NO_COUNTS,
    Corpus,
    Rates,
    count_documents,
    redraw_documents,
)
from thincrm.likelihood.levels import draw_levels, draw_shares, level_gates, level_rows, spread
from thincrm.likelihood.topics import draw_topics, redraw_burstiness, redraw_concentration
from thincrm.likelihood.usage import (
    TopicEvidence,
    Usage,
    gate_evidence,
    open_gates,
    padded,
    token_rates,
)
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks
from thincrm.ports import GateEvidence

__all__ = ["SWEEP", "TopicProblem", "TopicState", "start_state"]

_MOST_REPAIRS = 50


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
    theta: np.ndarray  # P x K, float32, columns padded to whole lanes
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
    evidence = TopicEvidence(state.evidence.counts, *found)
    return replace(state, level=level, evidence=evidence)


def redraw_shares(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw the shares of the levels."""
    if state.level is None:
        return state
    return replace(state, log_share=draw_shares(rng, state.level, problem.likelihood.n_levels))


def redraw_tokens(rng: np.random.Generator, problem: TopicProblem, state: TopicState) -> TopicState:
    """Redraw every token's topic."""
    key, topic = fresh_key(rng), state.topic.copy()
    corpus, rates = corpus_of(problem, state.level), rates_of(problem, state)
    usage = DocumentTopics.empty(problem.tokens, topic.dtype)
    counts: dict[int, np.ndarray] = defaultdict(lambda: np.zeros(state.theta.shape, np.int32))

    def redraw(first: int, stop: int) -> None:
        redraw_documents(first, stop, key, corpus, rates, topic, *usage, counts[get_ident()])

    found = count_usage(problem, corpus, usage, redraw)
    total, *others = counts.values()
    for more in others:
        total += more
    return replace(state, topic=topic, usage=usage, evidence=TopicEvidence(total, *found))


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
    """Return the pieces of the token weights."""
    usage, log_odds = spread(usage_of(problem, state), log_odds_of(problem, state.x))
    longest = int(np.diff(problem.tokens.start).max(initial=0))
    return token_rates(usage, log_odds, state.theta, state.burstiness, longest)


def redraw_activations(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState
) -> TopicState:
    """Redraw the thinning function's variables, gates integrated out."""
    usage = usage_of(problem, state)
    if state.level is None:
        gates = gate_evidence(usage, state.evidence)
    else:
        gates = level_gates(rng, usage, state.evidence, log_odds_of(problem, state.x))
    thinned = GateEvidence(
        gates.positive[:, problem.n_background :],
        gates.trials,
        gates.log_q[:, problem.n_background :],
    )
    return replace(state, x=problem.thinning.redraw(rng, state.x, thinned, problem.prepared))


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
    """Redraw the concentration with the topics integrated out, then the topics."""
    counts, concentration = state.evidence.counts, state.concentration
    if problem.concentration is None:
        concentration = redraw_concentration(rng, counts, concentration, problem.n_topics)
    theta = draw_topics(rng, counts, concentration, problem.n_topics, meanwhile)
    return replace(state, concentration=concentration, theta=theta)


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
    return replace(moved, concentration=new.concentration, theta=new.theta)


SWEEP: tuple[Update, ...] = (
    redraw_levels,
    redraw_shares,
    redraw_tokens,
    redraw_activations,
    redraw_globals,
)


def start_state(rng: np.random.Generator, problem: TopicProblem) -> TopicState:
    """Return a state to start from: tokens guessed, everything else redrawn to fit them."""
    n_topics, documents = problem.n_topics, problem.tokens
    topic = first_topics(rng, documents, n_topics)
    level, log_share = first_levels(problem)
    usage, evidence = count_topics(problem, topic, level)
    shape = problem.likelihood.start_shape(n_topics)
    mean_K = np.maximum(evidence.total, 0.5) / np.maximum(evidence.positive.sum(0), 1)
    state = TopicState(
        topic=topic,
        theta=np.zeros(evidence.counts.shape, np.float32),
        concentration=problem.concentration or 0.05,
        shape=shape,
        log_mass=problem.likelihood.start_log_mass(shape, mean_K),
        x=problem.thinning.draw(rng, n_topics - problem.n_background, problem.prepared),
        levy=problem.levy,
        usage=usage,
        evidence=evidence,
        burstiness=0.02 if problem.burstiness is None else problem.burstiness,
        level=level,
        log_share=log_share,
    )
    for update in (redraw_activations,) * 10 + (redraw_topics,):
        state = update(rng, problem, state)
    for _ in range(_MOST_REPAIRS):
        shut = _in_shut_topics(problem, state)
        if not shut.any():
            break
        for update in (_leave_shut_topics, redraw_activations, redraw_topics):
            state = update(rng, problem, state)
    return state


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
    n_topics, corpus = problem.n_topics, corpus_of(problem, state.level)
    theta = np.zeros((len(state.theta), padded(n_topics + 1)), np.float32)
    theta[:, :n_topics] = state.theta[:, :n_topics]
    topic = np.where(_in_shut_topics(problem, state), n_topics, state.topic)
    topic = topic.astype(state.topic.dtype)
    room = DocumentTopics.empty(problem.tokens, topic.dtype)
    redraw_documents(
        0, corpus.order_D.size, fresh_key(rng), corpus,
        rates_of(problem, replace(state, theta=theta)), topic, *room, NO_COUNTS,
    )  # fmt: skip
    topic = np.where(topic == n_topics, state.topic, topic)
    usage, evidence = count_topics(problem, topic, state.level)
    return replace(state, topic=topic, usage=usage, evidence=evidence)


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
    return usage, TopicEvidence(counts, *count_usage(problem, corpus_of(problem, level_D), usage))


def expand(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState, n_topics: int
) -> tuple[TopicProblem, TopicState]:
    """Return the problem and state with a larger truncation: new atoms come from the prior."""
    more = n_topics - problem.n_topics
    problem = replace(problem, n_topics=n_topics)
    old = state.evidence
    counts = np.zeros((len(old.counts), padded(n_topics)), np.int32)
    counts[:, : old.positive.shape[1]] = old.counts[:, : old.positive.shape[1]]
    fresh = problem.thinning.draw(rng, more, problem.prepared)
    x = type(state.x)(*(np.concatenate(pair) for pair in zip(state.x, fresh, strict=True)))
    shape = problem.likelihood.more_shape(rng, state.shape, more)
    state = replace(
        state,
        x=x,
        shape=shape,
        log_mass=np.concatenate([state.log_mass, state.levy.draw_log_mass(rng, n_topics)[:more]]),
        evidence=TopicEvidence(
            counts,
            np.pad(old.positive, ((0, 0), (0, more))),
            np.pad(old.above, ((0, 0), (0, more))),
            old.trials,
        ),
    )
    return problem, redraw_topics(rng, problem, state)
