"""Topics of several chains: which one of a chain is which of another, and which are told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from thincrm.models.topics.documents_kept import with_documents
from thincrm.models.topics.draw import TopicDraw, TopicRoots, match_topics
from thincrm.numerics.arrays import Bool, Float, Int

__all__ = [
    "CHAINS",
    "DRAWS",
    "SIMILARITY",
    "ChainTopics",
    "Told",
    "WordsHeld",
    "chains_of",
    "told_topics",
]

SIMILARITY = 0.7  # cosine of the words of topics that are one
CHAINS = 0.75  # share of chains that a firm topic is found in; of draws, where there is one chain
DRAWS = 0.5  # share of a chain's draws that have a topic, if the chain has it


class WordsHeld(NamedTuple):
    """The words that K topics hold, to look for them in draws."""

    words: Float  # P x K
    length: Float  # K

    @classmethod
    def of(cls, words_PK: Float) -> Self:
        """Return them with their lengths as vectors."""
        return cls(words_PK, np.sqrt((words_PK**2).sum(axis=0)))

    def nearness(self, topic_J: Int, draw: TopicDraw, place_J: Int) -> Float:
        """Return the (J,) cosines of some topics' words and of those that a draw's hold."""
        held = draw.words[:, place_J].tocoo()
        count = held.data.astype(float)
        dot_J = np.bincount(held.col, count * self.words[held.row, topic_J[held.col]], place_J.size)
        length_J = np.sqrt(np.bincount(held.col, count**2, place_J.size)) * self.length[topic_J]
        return np.asarray(dot_J / np.maximum(length_J, 1e-150))


class ChainTopics(NamedTuple):
    """The topics of one chain: those of its last draw, each the mean of its matched draws.

    Topics are compared by the words they hold. By probabilities, which have the prior's share, all
    topics of a handful of words would be alike. A topic is steady if most draws have it: of small
    ones that come and go the mean is of whatever was matched, and alike in all chains.
    """

    last: int  # place among all draws; the last that keeps documents, if one does
    draws: list[int]
    matches: list[Int]  # where each draw has the chain's topics; -1: it has it not
    words_PL: Float  # tokens drawn from each, on average of the draws that have it
    tokens_L: Int  # of the last draw
    steady_L: Bool

    @classmethod
    def of(cls, draws: Sequence[TopicDraw], places: list[int], whole: Sequence[int]) -> Self:
        """Return those of a chain, given the places of its draws and of draws with documents."""
        last = max(set(places).intersection(whole), default=places[-1])
        own = TopicRoots.of(draws[last])
        matches = [match_topics(own, TopicRoots.of(draws[place])) for place in places]
        sum_PL = np.zeros(draws[last].words.shape)
        seen_L, like_L = np.zeros(sum_PL.shape[1]), np.zeros(sum_PL.shape[1])
        for place, match in zip(places, matches, strict=True):
            there = np.flatnonzero(match >= 0)
            held = draws[place].words[:, match[there]].tocoo()
            sum_PL[held.row, there[held.col]] += held.data
            seen_L[there] += 1.0
        looked_for = WordsHeld.of(sum_PL)
        for place, match in zip(places, matches, strict=True):
            there = np.flatnonzero(match >= 0)
            like_L[there] += looked_for.nearness(there, draws[place], match[there]) > SIMILARITY
        steady_L = like_L >= DRAWS * len(places)
        return cls(last, places, matches, sum_PL / seen_L, draws[last].tokens, steady_L)


class Told(NamedTuple):
    """The K topics of all tables, the largest first.

    Attributes
    ----------
    anchor : (K,) int
        The chain whose words a topic is looked for with.
    seat : (K,) int
        The last chain that has it: its last draw is where a topic's size is read.
    place : (C, K) int
        Which topic of a chain is it, or would be; -1: none.
    near : (C, K) float
        The cosine of that topic's words and the anchor's.
    """

    anchor: Int
    seat: Int
    place: Int
    near: Float

    def words(self, chains: Sequence[ChainTopics]) -> Float:
        """Return the (P, K) words that the topics of the anchors hold."""
        place_K = self.place[self.anchor, np.arange(self.anchor.size)]
        pairs = zip(self.anchor.tolist(), place_K.tolist(), strict=True)
        return np.stack([chains[a].words_PL[:, place] for a, place in pairs], axis=1)


def chains_of(draws: Sequence[TopicDraw], n_documents: int) -> list[ChainTopics]:
    """Return the topics of each chain."""
    chain_B = np.array([draw.chain for draw in draws])
    whole = with_documents(draws, n_documents)
    return [
        ChainTopics.of(draws, np.flatnonzero(chain_B == chain).tolist(), whole)
        for chain in np.unique(chain_B)
    ]


def told_topics(chains: Sequence[ChainTopics]) -> Told:
    """Return the topics that enough chains have, and whatever else the last chain has.

    Two chains' topics are paired so that the sum of their cosines, weighed by tokens, is largest.
    The topics of all chains are gone through, those with the most and the nearest partners first,
    and each is told with its partners if these are in enough chains and were not told before. So
    it does not matter which chain is the last, but for topics that do not repeat.
    """
    near, partner = _pairs(chains)
    taken = [np.zeros(chain.tokens_L.size, bool) for chain in chains]
    rows: list[tuple[int, Int, Float]] = []

    def tell(a: int, k: int, fewest: int) -> None:
        place_C = np.array([partner[a][c][k] for c in range(len(chains))])
        near_C = np.array([near[a][c][k] for c in range(len(chains))])
        free_C = np.array([p >= 0 and not taken[c][p] for c, p in enumerate(place_C.tolist())])
        found_C = free_C & (near_C > SIMILARITY)
        if not found_C[a] or found_C.sum() < fewest:
            return
        for c in np.flatnonzero(found_C).tolist():
            taken[c][place_C[c]] = True
        rows.append((a, np.where(free_C, place_C, -1), np.where(free_C, near_C, 0.0)))

    fewest = math.ceil(CHAINS * len(chains) - 1e-9)
    for a, k in _by_agreement(near):
        tell(a, k, fewest)
    for k in range(chains[-1].tokens_L.size):
        tell(len(chains) - 1, k, 1)
    return _ordered(chains, rows)


def _by_agreement(near: list[list[Float]]) -> list[tuple[int, int]]:
    """Return chains and topics, those first that most chains have, and have nearest."""
    found = []
    for a in reversed(range(len(near))):
        near_CL = np.stack(near[a])
        n_found_L = (near_CL > SIMILARITY).sum(axis=0)
        total_L = np.where(near_CL > SIMILARITY, near_CL, 0.0).sum(axis=0)
        pairs = zip((-n_found_L).tolist(), (-total_L).tolist(), strict=True)
        found += [(pair, a, k) for k, pair in enumerate(pairs)]
    return [(a, k) for _, a, k in sorted(found, key=lambda row: row[0])]


def _pairs(chains: Sequence[ChainTopics]) -> tuple[list[list[Float]], list[list[Int]]]:
    """Return, for chains a and c, each topic's partner of a in c, and the cosine of the two."""
    units = [_unit(chain.words_PL) for chain in chains]
    near = [[np.zeros(chain.tokens_L.size) for _ in chains] for chain in chains]
    partner = [[np.full(chain.tokens_L.size, -1) for _ in chains] for chain in chains]
    for a, one in enumerate(chains):
        near[a][a][:] = 1.0
        partner[a][a][:] = np.arange(one.tokens_L.size)
        for c in range(a):
            near_LM = (units[a].T @ units[c]) * np.outer(one.steady_L, chains[c].steady_L)
            weight_LM = np.sqrt(np.outer(one.tokens_L, chains[c].tokens_L))
            mine, other = linear_sum_assignment(-near_LM * weight_LM)
            near[a][c][mine] = near[c][a][other] = near_LM[mine, other]
            partner[a][c][mine], partner[c][a][other] = other, mine
    return near, partner


def _ordered(chains: Sequence[ChainTopics], rows: list[tuple[int, Int, Float]]) -> Told:
    """Return the told topics by their tokens in the last chain that has them."""
    near_CK = np.stack([near_C for _, _, near_C in rows], axis=1)
    place_CK = np.stack([place_C for _, place_C, _ in rows], axis=1)
    found_CK = near_CK > SIMILARITY
    seat_K = len(chains) - 1 - np.argmax(found_CK[::-1], axis=0)
    at_seat_K = place_CK[seat_K, np.arange(len(rows))]
    size_K = np.array([chains[c].tokens_L[p] for c, p in zip(seat_K, at_seat_K, strict=True)])
    order = np.lexsort((at_seat_K, -seat_K, -size_K))
    anchor_K = np.array([a for a, _, _ in rows])
    return Told(anchor_K[order], seat_K[order], place_CK[:, order], near_CK[:, order])


def _unit(words_PK: Float) -> Float:
    """Return the words of topics as vectors of length one."""
    return np.asarray(words_PK / np.maximum(np.linalg.norm(words_PK, axis=0), 1e-150))
