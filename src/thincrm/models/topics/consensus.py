"""Which topics come back: found in how many chains, and in how many of their draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from thincrm.errors import InvalidInput, check_between, check_positive
from thincrm.models.topics.draw import TopicDraw, match_topics
from thincrm.numerics.arrays import Bool, Float, Int

if TYPE_CHECKING:
    from thincrm.models.topics.tables import TopicTables

__all__ = ["CHAINS", "SIMILARITY", "Consensus"]

SIMILARITY = 0.7  # cosine of the words of topics that are one
CHAINS = 0.75  # share of chains that a firm topic is found in; of draws, where there is one chain


class Consensus:
    """Topics of the tables, looked for in every chain and draw.

    Within a chain a topic is the mean of its matched draws; it is found in another chain if the
    topic matched to it there has words of cosine above `similarity`, and in a draw of that chain
    if the draw's own topic has, too. Only kept draws are looked at.

    Attributes
    ----------
    chain : (B,) int
        Of each draw.
    found : (C, K) bool
        Whether a chain has a topic.
    place : (B, K) int
        Where a draw has it among its own topics; -1: it has it not.
    share : (B, K) float
        Share of a draw's tokens in the topic; 0 where the draw has it not.
    """

    def __init__(self, tables: TopicTables, similarity: float = SIMILARITY) -> None:
        check_between("similarity", similarity, 0.0, 1.0)
        n_draws, n_topics = len(tables.draws), tables.n_topics
        self.chain: Int = np.array([draw.chain for draw in tables.draws])
        self.place: Int = np.full((n_draws, n_topics), -1)
        self.share: Float = np.zeros((n_draws, n_topics))
        home = tables.reference.chain
        at_home = np.flatnonzero(self.chain == home).tolist()
        matches = [tables.matches[b] for b in at_home]
        topic_PK = _mean_topics([tables.draws[b] for b in at_home], matches)
        found = []
        for chain in np.unique(self.chain):
            places = np.flatnonzero(self.chain == chain).tolist()
            draws = [tables.draws[b] for b in places]
            near_K, there_B = np.ones(n_topics), matches
            if chain != home:
                tokens_K = tables.reference.tokens[tables.order]
                near_K, there_B = _found_in(topic_PK, tokens_K, draws)
            found.append(near_K > similarity)
            for b, draw, place in zip(places, draws, there_B, strict=True):
                there = np.flatnonzero(place >= 0)
                near = _paired(topic_PK[:, there], draw.theta[:, place[there]]) > similarity
                there = there[near]
                tokens = np.asarray(draw.documents.sum(axis=0)).reshape(-1)
                self.place[b, there] = place[there]
                self.share[b, there] = tokens[place[there]] / max(tokens.sum(), 1)
        self.found: Bool = np.stack(found)

    @property
    def present(self) -> Bool:
        """Tell of each (B, K) draw and topic whether the draw has it."""
        return self.place >= 0

    def firm(self, chains: float = CHAINS) -> Bool:
        """Tell of each topic whether enough chains have it; of one chain, enough draws."""
        if check_positive("chains", chains) > 1.0:
            raise InvalidInput(f"chains must be a share of the chains, at most 1, got {chains!r}.")
        alone = len(self.found) == 1
        share_K = self.present.mean(axis=0) if alone else self.found.mean(axis=0)
        return np.asarray(share_K >= chains - 1e-9)

    def table(self, chains: float = CHAINS) -> pd.DataFrame:
        """Return chains, draws, firm and share of every topic, the share in draws that have it."""
        columns = {
            "chains": self.found.mean(axis=0),
            "draws": self.present.mean(axis=0),
            "firm": self.firm(chains),
            "share": self.share.sum(axis=0) / np.maximum(self.present.sum(axis=0), 1),
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(self.found.shape[1], name="topic"))

    def quantities(self, most: int) -> dict[str, Float]:
        """Return, of each draw, how many firm topics it has and the shares of the largest."""
        firm = np.flatnonzero(self.firm())
        largest = firm[np.argsort(-self.share[:, firm].mean(axis=0), kind="stable")[:most]]
        columns = {"n_firm_topics": self.present[:, firm].sum(axis=1).astype(float)}
        return columns | {f"topic_share[{k}]": self.share[:, k] for k in largest.tolist()}


def _found_in(topic_PK: Float, tokens_K: Int, draws: list[TopicDraw]) -> tuple[Float, list[Int]]:
    """Return how near each topic's own is in another chain, and its place in the draws there."""
    last = draws[-1]
    matches = [match_topics(last, draw) for draw in draws]
    other_PL = _mean_topics(draws, matches)
    near_KL = _unit(topic_PK).T @ _unit(other_PL)
    weight_KL = np.sqrt(np.outer(tokens_K, last.tokens))
    first, second = linear_sum_assignment(-near_KL * weight_KL)
    near_K, partner_K = np.zeros(tokens_K.size), np.full(tokens_K.size, -1)
    near_K[first], partner_K[first] = near_KL[first, second], second
    return near_K, [np.where(partner_K >= 0, place[partner_K], -1) for place in matches]


def _mean_topics(draws: list[TopicDraw], matches: list[Int]) -> Float:
    """Return the (P, K) means of matched topics over the draws that have them."""
    sum_PK = np.zeros((draws[0].words.shape[0], matches[0].size))
    seen_K = np.zeros(matches[0].size)
    for draw, place in zip(draws, matches, strict=True):
        there = np.flatnonzero(place >= 0)
        sum_PK[:, there] += draw.theta[:, place[there]]
        seen_K[there] += 1
    return sum_PK / seen_K


def _unit(topic_PK: Float) -> Float:
    return np.asarray(topic_PK / np.linalg.norm(topic_PK, axis=0))


def _paired(a_PK: Float, b_PK: Float) -> Float:
    """Return the (K,) cosines of topics, one by one."""
    return np.asarray((_unit(a_PK) * _unit(b_PK)).sum(axis=0))
