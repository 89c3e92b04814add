"""Small worlds drawn from the model's definition, many replicates in one problem.

Replicate r has topics, covariate rows and documents of its own; its topics are shut for sure at
the rows of the others (log odds -inf), so one sweep moves all of them, independently.
"""

from collections import namedtuple
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, gammaln

from thincrm.data.counts import Tokens
from thincrm.inference.engine import Serial
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics.documents import counted
from thincrm.models.topics.factors import (
    GammaNegativeBinomialFactor,
    NegativeBinomialFactor,
    PoissonFactor,
)
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.state import (
    TopicGlobals,
    TopicLocal,
    facts_of,
    shards_of,
)
from thincrm.models.topics.sweep import add_silent, redraw_tokens
from thincrm.models.topics.usage import padded
from thincrm.ports import GateEvidence, Problem, State

TIMES = np.array([0.0, 0.4, 1.0])
TRIALS = np.array([2, 1, 3])  # documents at each time
ROW = np.repeat(np.arange(TIMES.size), TRIALS)


class SideBySide:
    """A thinning function for R replicates: blocks of rows and atoms, -inf between them.

    An atom's last variable is the replicate it belongs to.
    """

    def __init__(self, thinning, n_replicates, n_topics):
        self.inner, self.owner_K = thinning, np.repeat(np.arange(n_replicates), n_topics)
        self.prepared, self.n_replicates = thinning.prepare(np.repeat(TIMES, TRIALS)), n_replicates

    def _own(self, table, x):
        """Return the (T, K) rows of a (R T, K) table that are of each atom's replicate."""
        own_KT = table.reshape(self.n_replicates, TIMES.size, -1)[x.owner, :, np.arange(len(x[0]))]
        return np.ascontiguousarray(own_KT.T)

    def draw(self, rng, n_atoms, prepared):
        self.kind = type(x := self.inner.draw(rng, n_atoms, self.prepared))
        return namedtuple("Owned", (*x._fields, "owner"))(*x, self.owner_K)

    def inside(self, x):
        """Return the (T, K) log odds of atoms at the rows of their own replicate."""
        return self.inner.log_odds(self.kind(*x[:-1]), self.prepared)

    def log_odds(self, x, prepared):
        out = np.full((self.n_replicates, TIMES.size, x.owner.size), -np.inf)
        out[x.owner, :, np.arange(x.owner.size)] = self.inside(x).T
        return out.reshape(-1, x.owner.size)

    def redraw(self, rng, x, evidence, prepared):
        own = GateEvidence(
            self._own(evidence.positive, x),
            evidence.trials[: TIMES.size],
            self._own(evidence.log_q, x),
        )
        return type(x)(*self.inner.redraw(rng, self.kind(*x[:-1]), own, self.prepared), x.owner)


@dataclass(frozen=True)
class World:
    """One product, and the sizes of its small problems."""

    thinning: object
    poisson: bool
    n_topics: int = 3
    n_words: int = 4
    n_replicates: int = 20
    concentration: float = 0.6
    shape: float | None = None  # None: drawn, and learned
    mass: float = 0.9  # of one topic: gamma/K, or alpha/K
    rate: float = 0.7  # or the beta process's concentration
    burstiness: float = 0.0
    odds: tuple[float, ...] | None = None  # of levels, equally likely: masses are shapes

    def levy(self, n_atoms):
        kind = GammaProcess if self.poisson else BetaProcess
        return kind(self.mass * n_atoms, self.rate)

    def factor(self):
        if self.odds is not None:
            return GammaNegativeBinomialFactor(self.odds)
        return PoissonFactor(self.shape) if self.poisson else NegativeBinomialFactor(self.shape)

    def draw(self, rng):
        """Draw (problem, state): globals, gates, usages, tokens, from their definitions."""
        R, K, P, T = self.n_replicates, self.n_topics, self.n_words, TIMES.size
        thinning = SideBySide(self.thinning, R, K)
        x = thinning.draw(rng, R * K, None)
        open_TRK = expit(thinning.inside(x)).reshape(T, R, K)
        if self.poisson:
            mass_RK = rng.gamma(self.mass, 1 / self.rate, (R, K))
            shape_RK = np.full((R, K), self.shape or 1.0)
        else:
            mass_RK = rng.beta(self.rate * self.mass, self.rate * (1 - self.mass), (R, K))
            shape_RK = rng.gamma(1.0, 1.0, (R, K)) if self.shape is None else self.shape
            shape_RK = np.broadcast_to(shape_RK, (R, K))
        open_RDK, level_RD = open_TRK.transpose(1, 0, 2)[:, ROW], None
        if self.odds is None:
            size_RDK = draw_sizes(rng, self.poisson, shape_RK[:, None], mass_RK[:, None], open_RDK)
        else:
            level_RD = rng.integers(0, len(self.odds), (R, ROW.size))
            q_RD1 = odds_of(self, level_RD)[..., None] / (1 + odds_of(self, level_RD)[..., None])
            size_RDK = draw_sizes(rng, False, mass_RK[:, None], q_RD1, open_RDK)
        theta_PK = rng.dirichlet(np.full(P, self.concentration), R * K).T
        document, topic = np.nonzero(size_RDK.reshape(R * ROW.size, K))
        size = size_RDK.reshape(R * ROW.size, K)[document, topic]
        topic = topic + K * (document // ROW.size)
        row_D = (np.arange(R)[:, None] * T + ROW).ravel()
        pairs = document, topic, size
        tokens, label_N, fresh_N = draw_tokens(rng, pairs, theta_PK, row_D.size, self.burstiness)
        likelihood = TopicLikelihood(self.factor(), self.concentration, self.burstiness)
        problem = problem_of(
            tokens, row_D, levy=self.levy(R * K), thinning=thinning, likelihood=likelihood,
            prepared=None, trials=np.tile(TRIALS, R), n_atoms=R * K, learn_levy=False,
        )  # fmt: skip
        shape_K, log_mass_K = shape_RK.ravel(), np.log(mass_RK.ravel())
        state = as_state(problem, label_N, fresh_N, theta_PK, shape_K, log_mass_K, x, level_RD)
        return problem, state


def problem_of(documents, row, *, shard_tokens=2**24, engine=None, **factors):
    """Return the problem of given documents, in shards of about so many tokens."""
    shards = shards_of(documents, row.astype(np.int32), shard_tokens)
    return Problem(
        shards=shards, facts=facts_of(documents), engine=engine or Serial(), **factors
    )  # fmt: skip


def with_likelihood(kind, problem):
    """Return the problem with a likelihood of another kind, its settings as they are."""
    old = problem.likelihood
    return replace(problem, likelihood=kind(old.factor, old.concentration, old.burstiness))


def words_of(problem):
    """Return the words of all tokens."""
    return np.concatenate([shard.tokens.word for shard in problem.shards])


def lengths_of(problem):
    """Return the tokens of every document."""
    return np.concatenate([np.diff(shard.tokens.start) for shard in problem.shards])


def rows_of(problem):
    """Return the covariate row of every document."""
    return np.concatenate([shard.row for shard in problem.shards])


def topic_of(state):
    """Return the topics of all tokens."""
    return np.concatenate([local.topic for local in state.local])


def level_of(state):
    """Return the levels of all documents, or None."""
    levels = [local.level for local in state.local]
    return None if levels[0] is None else np.concatenate(levels)


def with_topics(problem, state, label_N, level_D=None):
    """Return the state with given topics of tokens and levels of documents, counted anew."""
    ends = np.cumsum([shard.tokens.word.size for shard in problem.shards])[:-1]
    stops = np.cumsum([shard.row.size for shard in problem.shards])[:-1]
    topics, none = np.split(label_N, ends), [None] * len(problem.shards)
    levels = none if level_D is None else np.split(level_D, stops)
    local = tuple(TopicLocal(*pair) for pair in zip(topics, none, levels, strict=True))
    return counted(problem, replace(state, local=local))


def odds_of(world, level):
    """Return p / (1 - p) of documents of given levels."""
    return np.asarray(world.odds)[level]


def draw_sizes(rng, poisson, shape, mass, activation):
    """Draw tokens a document and topic: gate, usage, Poisson."""
    gate = rng.random(activation.shape) < activation
    scale = 1.0 if poisson else mass / (1.0 - mass)
    usage = rng.gamma(np.broadcast_to(shape, activation.shape), scale)
    return rng.poisson(gate * usage * (mass if poisson else 1.0))


def draw_tokens(rng, pairs, theta_PK, n_documents, burstiness=0.0):
    """Draw words of (document, topic, size); return tokens, their topics, which are fresh draws.

    Tokens are sorted by word, those of one word in random order.
    """
    document, topic, size = pairs
    document, label = np.repeat(document, size), np.repeat(topic, size)
    height = rng.random(label.size)
    word = (height > np.cumsum(theta_PK, axis=0)[:-1, label]).sum(0)
    fresh = np.ones(word.size, bool)
    if burstiness > 0.0:
        draw_echoes(rng, size, word, fresh, burstiness)
    order = np.lexsort((rng.random(label.size), word, document))
    start = np.concatenate([[0], np.cumsum(np.bincount(document, minlength=n_documents))])
    tokens = Tokens(start, word[order].astype(np.int32), len(theta_PK))
    return tokens, label[order].astype(np.int16), fresh[order]


def draw_echoes(rng, size, word, fresh, burstiness):
    """Make word i of a document's topic a copy of one before it, i of s + i times: Polya's urn."""
    end = 0
    for n in size.tolist():
        first, end = end, end + n
        for i in range(1, n):
            if rng.random() < burstiness * i / (1.0 + burstiness * i):
                word[first + i] = word[first + int(i * rng.random())]
                fresh[first + i] = False


def as_state(problem, label_N, fresh_N, theta_PK, shape_K, log_mass_K, x, level=None):
    likelihood = problem.likelihood
    level_D, n_levels = None if level is None else level.ravel(), likelihood.factor.n_levels
    theta = np.zeros((len(theta_PK), padded(problem.n_atoms)), np.float32)
    theta[:, : problem.n_atoms] = theta_PK
    own = TopicGlobals(
        theta=theta, seats=np.arange(problem.n_atoms),
        concentration=likelihood.concentration or 1.0, shape=np.array(shape_K),
        burstiness=likelihood.burstiness or 0.0,
        log_share=None if level is None else np.full(n_levels, -np.log(n_levels)),
    )  # fmt: skip
    state = State((), own, np.array(log_mass_K), x, problem.levy, None)
    state = with_topics(problem, state, label_N, level_D)
    counts = np.zeros_like(state.evidence.counts)
    np.add.at(counts, (words_of(problem), label_N), fresh_N)
    return replace(state, evidence=state.evidence._replace(counts=counts))


def backwards(rng, problem, state):
    """Scan every document from its last token to its first: the time reversal of a scan."""
    flips = [_last_first(shard.tokens.start) for shard in problem.shards]
    shards = tuple(
        replace(shard, tokens=replace(shard.tokens, word=shard.tokens.word[flip]))
        for shard, flip in zip(problem.shards, flips, strict=True)
    )
    turned = replace(state, local=_turned(state.local, flips))
    out = redraw_tokens(rng, replace(problem, shards=shards), turned)
    return replace(out, local=_turned(out.local, flips))


def _last_first(start):
    owner = np.repeat(np.arange(start.size - 1), np.diff(start))
    return start[owner] + start[owner + 1] - 1 - np.arange(owner.size)


def _turned(local, flips):
    pairs = zip(local, flips, strict=True)
    return tuple(one._replace(topic=one.topic[flip]) for one, flip in pairs)


def all_topics(rng, problem, state):
    """Draw the topics that the sweep leaves out, as they hold no token and nobody asks for them."""
    if not isinstance(state.own, TopicGlobals) or state.own.seats.size == problem.n_atoms:
        return state
    return add_silent(rng, state, np.ones(problem.n_atoms, bool))


def topics_of(state):
    """Return the (P, K) topics and their counts, where all take part."""
    assert state.own.seats.size == state.own.shape.size
    place = np.argsort(state.own.seats)
    return state.own.theta[:, place].astype(float), counts_of(state.evidence)


def counts_of(evidence):
    """Return the (P, K) counts of all topics."""
    counts = np.zeros((len(evidence.counts), evidence.positive.shape[1]), np.int64)
    counts[:, evidence.seats] = evidence.counts[:, : evidence.seats.size]
    return counts


def many(world):
    """Return draw(rng, n) for the tests: n replicates in problems of `n_replicates`."""

    def draw(rng, n):
        batches = -(-n // world.n_replicates)
        return n, [world.draw(rng) for _ in range(batches)]

    return draw


def block(update, change=lambda problem: problem):
    """Lift an update of (problem, state) to the replicates of `many`."""

    def lifted(rng, state):
        n, batches = state
        moved = [(problem, update(rng, change(problem), one)) for problem, one in batches]
        return n, [(problem, all_topics(rng, problem, one)) for problem, one in moved]

    return lifted


def functionals(world):
    """Return the tests' functionals: most depend on labels, and tie latents to globals."""
    return of_all(world, _values)


def of_all(world, values_of):
    """Lift values_of(world, problem, state) to the replicates of `many`."""

    def values(state):
        n, batches = state
        rows = [values_of(world, problem, one) for problem, one in batches]
        return {name: np.concatenate([row[name] for row in rows])[:n] for name in rows[0]}

    return values


def _values(world, problem, state):
    R, K, D = world.n_replicates, world.n_topics, ROW.size
    size_RDK = sizes(problem, state).reshape(R, D, R, K)[np.arange(R), :, np.arange(R), :]
    total_RK = size_RDK.sum(1)
    log_mass_RK, shape_RK = state.log_mass.reshape(R, K), state.own.shape.reshape(R, K)
    theta_PRK, count_PRK = (table.reshape(-1, R, K) for table in topics_of(state))
    log_theta = np.log(np.maximum(theta_PRK, 1e-30))
    p_RDK = (
        expit(problem.thinning.inside(state.x)).reshape(TIMES.size, R, K).transpose(1, 0, 2)[:, ROW]
    )
    mass_RK = np.exp(log_mass_RK)
    if world.odds is None:
        q = (mass_RK / (1 + mass_RK) if world.poisson else mass_RK)[:, None]
        level_RD = np.zeros((R, D), int)
    else:
        shape_RK, level_RD = mass_RK, level_of(state).reshape(R, D)
        q = (odds_of(world, level_RD) / (1 + odds_of(world, level_RD)))[..., None]
    with np.errstate(divide="ignore"):
        log_rest = np.log1p(-np.minimum(q, 1 - 1e-16))
    fit = _log_sizes(size_RDK, shape_RK[:, None], np.log(q), log_rest, p_RDK)
    words = (count_PRK * log_theta).sum((0, 2))
    return {
        "tokens of topic 0 in document 0": size_RDK[:, 0, 0],
        "squares": (size_RDK**2).sum((1, 2)),
        "pairs": (size_RDK > 0).sum((1, 2)),
        "word 0 in topic 0": count_PRK[0, :, 0],
        "theta": theta_PRK[0, :, 0],
        "log theta": log_theta.sum((0, 2)),
        "words given topics": words,
        "log mass": log_mass_RK[:, 0],
        "mass squared": (mass_RK**2).sum(1),
        "tokens times log mass": (total_RK * log_mass_RK).sum(1),
        "shape": shape_RK[:, 0],
        "pairs times log shape": ((size_RDK > 0).sum(1) * np.log(shape_RK)).sum(1),
        "p": p_RDK[:, 0, 0],
        "p squared": (p_RDK**2).sum((1, 2)),
        "p times tokens": (p_RDK * size_RDK).sum((1, 2)),
        "p times silence": (p_RDK * (size_RDK == 0) * log_rest).sum((1, 2)),
        "level": level_RD[:, 0],
        "level times tokens": (level_RD * size_RDK.sum(2)).sum(1),
        "level times shape times p": (level_RD[..., None] * shape_RK[:, None] * p_RDK).sum((1, 2)),
        "log joint": fit + words,
    }


def sizes(problem, state):
    """Return the (D, K) tokens of each document in each topic."""
    length_D, n_topics = lengths_of(problem), problem.n_atoms
    owner = np.repeat(np.arange(length_D.size), length_D)
    place = owner * n_topics + topic_of(state)
    found = np.bincount(place, minlength=length_D.size * n_topics)
    return found.reshape(length_D.size, n_topics)


def _log_sizes(size, shape, log_q, log_rest, p):
    """Return the (R,) log probabilities of the sizes, gates and usages integrated out."""
    seen = gammaln(shape + size) - gammaln(shape) + size * log_q + shape * log_rest
    silent = np.log(np.maximum(1 - p + p * np.exp(shape * log_rest), 1e-300))
    each = np.where(size > 0, seen + np.log(np.maximum(p, 1e-300)), silent)
    return each.sum((1, 2))
