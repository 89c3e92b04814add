"""Which topic is split, or which two are merged: by a word that they share.

A topic a that holds tokens, one of these, and another token of its word anywhere, in topic b; now
and then, b is any of the U topics that hold tokens:

    P(a, b) = 1/U [ (1 - e) sum_p n_ap / n_a  n_bp / n_p  +  e / U ],

n_kp being tokens of a word in topic k. Topics that share words are likely, and what the way back
would choose is known from the words of these two alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thincrm.models.topics.state import TopicLocal, TopicProblem, TopicShard, TopicState
from thincrm.numerics.arrays import Float, Int

__all__ = ["choose_pair", "log_chance"]

_ANY = 0.2  # of the partners are any topic


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which topic's words, or which word's topics, are to be counted."""

    topic: int
    word: int
    n_topics: int


def choose_pair(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState, held: Int
) -> tuple[int, int]:
    """Return one of the topics that hold tokens, and another or the same."""
    a = int(rng.choice(held))
    if rng.random() < _ANY:
        return a, int(rng.choice(held))
    word = _draw(rng, _counted(problem, state, _Asked(a, -1, 0)))
    return a, _draw(rng, _counted(problem, state, _Asked(-1, word, problem.n_atoms)))


def _counted(problem: TopicProblem, state: TopicState, asked: _Asked) -> Int:
    return _total(list(problem.engine.each(_count, problem.shards, state.local, asked, _total)))


def _total(parts: Sequence[Int]) -> Int:
    return np.asarray(np.sum(parts, axis=0))


def _draw(rng: np.random.Generator, count: Int) -> int:
    """Return the place of one of the things that were counted."""
    return int(np.searchsorted(np.cumsum(count), rng.integers(count.sum()), "right"))


def _count(shard: TopicShard, local: TopicLocal, asked: _Asked) -> Int:
    """Return how many tokens a topic has of each word, or a word in each topic."""
    word_N, topic_N = shard.tokens.word, local.topic
    if asked.word >= 0:
        return np.bincount(topic_N[word_N == asked.word], minlength=asked.n_topics)
    return np.bincount(word_N[topic_N == asked.topic], minlength=shard.tokens.n_words)


def log_chance(word_P: Float, other_P: Float, everywhere_P: Int, n_held: int) -> float:
    """Return log P(a, b): tokens of words in a, in b, and in all; topics that hold tokens."""
    seen = word_P > 0
    shared = word_P[seen] / word_P.sum() * other_P[seen] / everywhere_P[seen]
    return float(np.log((1.0 - _ANY) * shared.sum() + _ANY / n_held) - np.log(n_held))
