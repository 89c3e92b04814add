"""Merge topics that are one: a step of the warm-up, for what single tokens are slow to find.

Tokens move one by one, so a topic that the first guess has cut in two stays so for thousands of
sweeps. Let f_k(n, t) be the probability of n words of topic k in a document at t, gate and usage
integrated out. With theta at its mean given the counts n_kp the evidence of two topics is (Chib
1995, with theta's conditional given the tokens for its posterior)

    prod_d sum_z f_a(n_da) f_b(n_db) prod_i theta_{z_i w_i}  x  prod_k DM(n_k) / prod_p theta^n_kp

z being the ways to share a document's words out (`pairs.shared_out`) and DM the
Dirichlet-multinomial. One topic in place of two has no sum.

Two of several pieces of a topic each have words of their own, and merging them alone may not pay at
once: the other pieces are in the way. So a merge may cost a little for every token that moves, less
than what sets topics of real text apart. Draws are kept only of what comes after the warm-up, so
their law is as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_expit

from thincrm.data.counts import Tokens
from thincrm.inference.updates import log_odds_of, redraw_masses
from thincrm.models.topics.documents import counted
from thincrm.models.topics.guess import MOST_TOKENS, Sample, lengths_of, some_documents, take
from thincrm.models.topics.levels import level_rows, spread
from thincrm.models.topics.pairs import Law, count_tokens, find_tokens, shared_out
from thincrm.models.topics.state import TopicLocal, TopicProblem, TopicShard, TopicState
from thincrm.models.topics.sweep import (
    redraw_activations,
    redraw_globals,
    usage_of,
)
from thincrm.numerics.arrays import Bool, Float, Int

__all__ = ["Scene", "is_one", "merge_topics"]

_LEAST = 5  # tokens of a topic worth the trouble
_LIKE = 0.3  # cosine of topics that may be one
_MOST_WORK = 1e8  # of a pair: squares of its documents' words, added up
_SLACK = 0.1  # of evidence that a merge may cost a token
_SIZES = (0.5, 0.7, 0.85, 1.0)  # of one topic, over what two have together


class Scene(NamedTuple):
    """What the evidence of a pair is computed from: documents, or some of a large corpus."""

    documents: Tokens
    topic_N: np.ndarray
    row_D: Int
    trials_R: Int
    count_PK: np.ndarray
    concentration: float
    shape_K: Float
    q_RK: Float
    log_open_RK: Float
    log_shut_RK: Float

    @classmethod
    def of(
        cls,
        rng: np.random.Generator,
        problem: TopicProblem,
        state: TopicState,
        most_tokens: int = MOST_TOKENS,
    ) -> Scene:
        """Return the documents, and the laws of their words."""
        usage, log_odds_RK = spread(usage_of(problem, state), log_odds_of(problem, state.x))
        chosen_D = some_documents(rng, lengths_of(problem), most_tokens)
        wanted = _Wanted(chosen_D, problem.likelihood.factor.n_levels)
        _, parts = problem.engine.map(_sampled, problem.shards, state.local, wanted)
        documents, topic_N, row_D, _ = Sample.joined(parts)
        size = documents.n_words, problem.n_atoms
        return cls(
            documents=documents,
            topic_N=topic_N,
            row_D=row_D,
            trials_R=np.bincount(row_D, minlength=len(log_odds_RK)),
            count_PK=count_tokens(documents.start, documents.word, topic_N, *size),
            concentration=state.own.concentration,
            shape_K=usage.shape,
            q_RK=np.clip(np.broadcast_to(usage.q, log_odds_RK.shape), 1e-300, 1.0 - 2.0**-53),
            log_open_RK=log_expit(log_odds_RK),
            log_shut_RK=log_expit(-log_odds_RK),
        )

    def tokens(self, pair: tuple[int, int]) -> tuple[Int, Int]:
        """Return documents and words of two topics' tokens, by document."""
        n_tokens = int(self.count_PK[:, list(pair)].sum())
        documents = self.documents
        return find_tokens(documents.start, documents.word, self.topic_N, *pair, n_tokens)

    def topic(self, *parts: int) -> tuple[Float, float]:
        """Return the mean of theta of topics taken together, and log DM - sum n log theta."""
        count_P = self.count_PK[:, list(parts)].sum(axis=1).astype(float)
        a, n_words, total, seen = self.concentration, count_P.size, count_P.sum(), count_P > 0
        theta_P = (a + count_P) / (n_words * a + total)
        fit = math.lgamma(n_words * a) - math.lgamma(n_words * a + total)
        fit += float((gammaln(a + count_P[seen]) - gammaln(a)).sum())
        return theta_P, fit - float(count_P[seen] @ np.log(theta_P[seen]))

    def law(self, k: int, longest: int) -> Law:
        """Return the law of a topic's words in a document."""
        of_k = self.q_RK[:, k], self.log_open_RK[:, k], self.log_shut_RK[:, k]
        return Law.of(self.shape_K[k], *of_k, longest)


@dataclass(frozen=True, slots=True)
class _Wanted:
    chosen_D: Bool
    n_levels: int


def _sampled(shard: TopicShard, local: TopicLocal, wanted: _Wanted) -> tuple[TopicLocal, Sample]:
    """Return the chosen documents of a shard, with their tokens' topics."""
    here_D = wanted.chosen_D[shard.first : shard.first + shard.row.size]
    row_D = level_rows(shard.row, local.level, wanted.n_levels)
    topic_N = local.topic
    if not here_D.all():
        topic_N = topic_N[np.repeat(here_D, np.diff(shard.tokens.start))]
    whole = bool(here_D.all())
    return local, Sample(take(shard.tokens, here_D), topic_N, row_D[here_D], whole)


def merge_topics(
    rng: np.random.Generator,
    problem: TopicProblem,
    state: TopicState,
    most_tokens: int = MOST_TOKENS,
) -> TopicState:
    """Return the state with pairs of topics merged that are better explained as one."""
    into_K = _merges(Scene.of(rng, problem, state, most_tokens), problem)
    if (into_K == np.arange(into_K.size)).all():
        return state
    local, _ = problem.engine.map(_renamed, problem.shards, state.local, into_K)
    burstiness = state.own.burstiness  # all tokens are counted as fresh draws for now
    state = counted(problem, replace(state, local=local))
    # masses first: a topic that lost all its tokens is far from anything else it goes with
    for update in (redraw_activations, redraw_masses, redraw_globals):
        state = update(rng, problem, state)
    return state.with_own(burstiness=burstiness)


def _renamed(shard: TopicShard, local: TopicLocal, into_K: Int) -> tuple[TopicLocal, None]:
    return local._replace(topic=into_K.astype(local.topic.dtype)[local.topic]), None


def _merges(scene: Scene, problem: TopicProblem) -> Int:
    """Return the (K,) topic that each goes to: itself, or a larger one. None is in two merges."""
    into_K = np.arange(problem.n_atoms)
    taken: set[int] = set()
    for pair in _candidates(scene, problem.n_background):
        if taken.isdisjoint(pair) and is_one(scene, pair):
            into_K[pair[0]] = pair[1]
            taken.update(pair)
    return into_K


def _candidates(scene: Scene, n_background: int) -> Iterator[tuple[int, int]]:
    """Yield pairs (smaller, larger) of topics that are alike, the smallest first."""
    size_K = scene.count_PK.sum(axis=0)
    used = n_background + np.flatnonzero(size_K[n_background:] >= _LEAST)
    used = used[np.argsort(size_K[used], kind="stable")]
    count_PU = scene.count_PK[:, used].astype(np.float32)
    count_PU /= np.sqrt((count_PU**2).sum(axis=0))
    alike_UU = np.triu(count_PU.T @ count_PU, 1)
    for i in range(used.size - 1):
        best = int(alike_UU[i].argmax())
        if alike_UU[i, best] > _LIKE:
            yield int(used[i]), int(used[best])


def is_one(scene: Scene, pair: tuple[int, int]) -> bool:
    """Tell whether one topic, the second, has more evidence than the two, or hardly less."""
    document_N, word_N = scene.tokens(pair)
    present_D, start, n_D = np.unique(document_N, return_index=True, return_counts=True)
    row_D = scene.row_D[present_D]
    if float(n_D @ n_D) > _MOST_WORK or np.isneginf(scene.log_open_RK[row_D, pair[1]]).any():
        return False
    absent_R = scene.trials_R - np.bincount(row_D, minlength=scene.trials_R.size)
    a, b = (scene.law(k, int(n_D.max())) for k in pair)
    (theta_a, fit_a), (theta_b, fit_b) = (scene.topic(k) for k in pair)
    both_N = theta_a[word_N] + theta_b[word_N]
    two = fit_a + fit_b + float(np.log(both_N).sum() + absent_R @ (a.silent_R + b.silent_R))
    two += shared_out(np.append(start, word_N.size), theta_a[word_N] / both_N, row_D, a, b)
    theta, fit = scene.topic(*pair)
    one = max(
        float(law.at(n_D, row_D).sum() + absent_R @ law.silent_R)
        for law in _laws_of_one(scene, list(pair), int(n_D.max()))
    )
    slack = _SLACK * scene.count_PK[:, pair[0]].sum()
    return bool(fit + float(np.log(theta[word_N]).sum()) + one + slack > two)


def _laws_of_one(scene: Scene, pair: list[int], longest: int) -> Iterator[Law]:
    """Yield laws that one topic might have: open where one of the two is."""
    log_shut_R, shape_2 = scene.log_shut_RK[:, pair].sum(axis=1), scene.shape_K[pair]
    with np.errstate(divide="ignore"):
        gate = np.log(-np.expm1(log_shut_R)), log_shut_R
    odds_R2 = scene.q_RK[:, pair] / (1.0 - scene.q_RK[:, pair])
    for size in _SIZES:
        if np.array_equal(odds_R2[:, 0], odds_R2[:, 1]):  # the documents': topics differ in shape
            yield Law.of(size * shape_2.sum(), scene.q_RK[:, pair[0]], *gate, longest)
            continue
        for shape in np.unique(shape_2):
            odds_R = size * (shape_2 * odds_R2).sum(axis=1) / shape
            yield Law.of(shape, odds_R / (1.0 + odds_R), *gate, longest)
