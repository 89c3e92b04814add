"""The tokens of one or two topics as tables: what moves when whole topics do.

Bursty words are Chinese restaurants: each (document, topic) has one, whose tables are fresh draws
of a word from the topic, and whose guests are the tokens that echo it. Given theta, the n-th token
of word p in its topic opens a table with probability s theta_p / (s theta_p + n - 1), else it joins
one of the n - 1 before it, each equally likely. Without bursts every token has its own table. A
table moves as a whole, so that with theta integrated out all that changes of a pair of topics is

    prod_k DM(tables of k) prod_d P_k(n_dk) n_dk! G(s) / G(s + n_dk).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thincrm.models.topics.levels import level_rows
from thincrm.models.topics.state import TopicLocal, TopicShard
from thincrm.numerics.arrays import Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, open_stream, uniform

__all__ = ["NewTopics", "Seating", "Wanted", "moved", "seated"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Two topics (or twice the same), their words, and where the randomness comes from."""

    key: np.uint64
    pair: tuple[int, int]
    theta_2P: np.ndarray
    burstiness: float
    n_levels: int


class Seating(NamedTuple):
    """The tables of two topics, document by document."""

    first: int  # document of the shard; of all shards joined, 0
    place_M: Int  # of each token, in its shard
    table_M: Int  # of each token
    start_D: Int  # tables of each document that has any
    row_D: Int  # of these: covariate row and level
    word_I: Int
    size_I: Int  # tokens
    side_I: np.ndarray  # 0: the first topic, 1: the second

    @classmethod
    def joined(cls, parts: list[Seating]) -> Seating:
        """Return the tables of all shards, one after another."""
        if len(parts) == 1:
            return parts[0]
        ends = np.cumsum([0, *(part.word_I.size for part in parts)])
        starts = [part.start_D[1:] + end for part, end in zip(parts, ends, strict=False)]
        tables = [part.table_M + end for part, end in zip(parts, ends, strict=False)]
        rest = [np.concatenate([part[i] for part in parts]) for i in (4, 5, 6, 7)]
        place_M = np.concatenate([part.place_M for part in parts])
        start_D = np.concatenate([[0], *starts])
        return cls(0, place_M, np.concatenate(tables), start_D, *rest)

    def tokens(self, side_I: np.ndarray) -> tuple[Int, Int]:
        """Return the (D,) tokens of either side in each document."""
        document_I = np.repeat(np.arange(self.row_D.size), np.diff(self.start_D))
        both = np.bincount(2 * document_I + side_I, self.size_I, 2 * self.row_D.size)
        both_D2 = both.astype(np.int64).reshape(-1, 2)
        return both_D2[:, 0], both_D2[:, 1]


def seated(shard: TopicShard, local: TopicLocal, wanted: Wanted) -> Seating:
    """Return a shard's tables of two topics, drawn given its tokens."""
    a, b = wanted.pair
    place_M = np.flatnonzero((local.topic == a) | (local.topic == b))
    side_M = (local.topic[place_M] != a).astype(np.int64)
    table_M, present_D, start_D, *tables = _seat(
        wanted.key, place_M, side_M, shard.items, shard.tokens.start, shard.tokens.word,
        wanted.theta_2P, wanted.burstiness,
    )  # fmt: skip
    row_D = level_rows(shard.row, local.level, wanted.n_levels)[present_D].astype(np.int64)
    return Seating(shard.first, place_M, table_M, start_D, row_D, *tables)


@compiled
def _seat(
    key: np.uint64,
    place_M: np.ndarray,
    side_M: np.ndarray,
    item_D: np.ndarray,
    start_D: np.ndarray,
    word_N: np.ndarray,
    theta_2P: np.ndarray,
    burstiness: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the tables of tokens; the documents that have any, with their first tables.

    Last, word, size and side of the tables.
    """
    n_tokens = place_M.size
    table_M, present_D = np.empty(n_tokens, np.int64), np.empty(n_tokens, np.int64)
    word_I, size_I = np.empty(n_tokens, np.int64), np.zeros(n_tokens, np.int64)
    side_I, first_D = np.empty(n_tokens, np.int64), np.zeros(n_tokens + 1, np.int64)
    seats_2M, n_2 = np.empty((2, n_tokens), np.int64), np.zeros(2, np.int64)
    state, d, last, i, n_present = new_stream(key, 0), -1, -1, 0, 0
    for m in range(n_tokens):
        n, k = place_M[m], side_M[m]
        if d < 0 or n >= start_D[d + 1]:
            first_D[n_present], last = i, -1
            d += 1
            while n >= start_D[d + 1]:
                d += 1
            open_stream(state, key, item_D[d])
            present_D[n_present] = d
            n_present += 1
        p = word_N[n]
        if p != last:
            n_2[0], n_2[1], last = 0, 0, p
        table = i
        if burstiness > 0.0 and n_2[k] > 0:
            ball, echo = float(theta_2P[k, p]), n_2[k] * burstiness
            if uniform(state) * (ball + echo) >= ball:
                table = seats_2M[k, min(int(uniform(state) * n_2[k]), n_2[k] - 1)]
        if table == i:
            word_I[i], side_I[i] = p, k
            i += 1
        size_I[table] += 1
        seats_2M[k, n_2[k]] = table
        n_2[k] += 1
        table_M[m] = table
    first_D[n_present] = i
    documents = present_D[:n_present], first_D[: n_present + 1]
    return table_M, *documents, word_I[:i], size_I[:i], side_I[:i]


@dataclass(frozen=True, slots=True)
class NewTopics:
    """Topics of some tokens, by the first document of their shard."""

    found: dict[int, tuple[Int, Int]]


def moved(shard: TopicShard, local: TopicLocal, new: NewTopics) -> tuple[TopicLocal, None]:
    """Return a shard's tokens with new topics of some."""
    place_M, topic_M = new.found[shard.first]
    topic_N = local.topic.copy()
    topic_N[place_M] = topic_M
    return local._replace(topic=topic_N), None
