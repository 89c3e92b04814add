"""Which topics come back: found in how many chains, and in how many of their draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput, check_between, check_positive
from thincrm.models.topics.chain_topics import (
    CHAINS,
    DRAWS,
    SIMILARITY,
    ChainTopics,
    Told,
    WordsHeld,
)
from thincrm.models.topics.draw import TopicDraw
from thincrm.numerics.arrays import Bool, Float, Int

__all__ = ["Consensus"]

_AKIN = SIMILARITY / 2.0  # cosine of the words of a topic and of what a chain has instead


class Consensus:
    """The told topics, looked for in every chain and draw.

    Within a chain a topic is the mean of its matched draws. It is found in a draw if this and the
    topic paired with it in the draw's chain hold words of cosine above `similarity`, and in a chain
    if at least half of its draws have it. Only kept draws are looked at.

    Attributes
    ----------
    found : (C, K) bool
        Whether a chain has a topic.
    place : (B, K) int
        Where a draw has it among its own topics; -1: it has it not.
    told : (B, K) int
        The same, and in chains that have a topic all draws' matches, near or not: were bands of a
        topic made of draws that are like its mean, they would be too narrow.
    share : (B, K) float
        Share of a draw's tokens in the topic; 0 where the draw has it not.
    """

    def __init__(
        self,
        draws: Sequence[TopicDraw],
        chains: Sequence[ChainTopics],
        told: Told,
        similarity: float = SIMILARITY,
    ) -> None:
        check_between("similarity", similarity, 0.0, 1.0)
        n_topics = told.anchor.size
        self.found: Bool = told.near > similarity
        self.place: Int = np.full((len(draws), n_topics), -1)
        self.told: Int = self.place.copy()
        self.share: Float = np.zeros((len(draws), n_topics))
        self._draws, self._chains = draws, chains
        self._held = WordsHeld.of(told.words(chains))
        for c, chain in enumerate(chains):
            place_K = np.where(self.found[c], told.place[c], -1)
            for b, match in zip(chain.draws, chain.matches, strict=True):
                here_K = np.where(place_K >= 0, match[place_K], -1)
                there = np.flatnonzero(here_K >= 0)
                near = self._held.nearness(there, draws[b], here_K[there])
                there = there[near > similarity]
                self.place[b, there] = self.told[b, there] = here_K[there]
                self.share[b, there] = draws[b].shares[here_K[there]]
            self.found[c] &= self.present[chain.draws].mean(axis=0) >= DRAWS
            has = np.flatnonzero(self.found[c])
            for b, match in zip(chain.draws, chain.matches, strict=True):
                self.told[b, has] = match[place_K[has]]

    @property
    def present(self) -> Bool:
        """Tell of each (B, K) draw and topic whether the draw has it."""
        return self.place >= 0

    def instead(self) -> Int:
        """Return (B, K): which topic a draw has instead of a firm one that its chain lacks.

        The topic that most of the firm one's words are in: argmax_l sum_p m_pk n_pl / n_p, m_pk of
        the firm one's tokens and n_pl of a draw's being of word p. -1: there is no need of it, or
        that topic is another matter, with words of cosine below half of what makes topics one.
        """
        place_BK, firm_K = np.full(self.place.shape, -1), self.firm()
        for c, chain in enumerate(self._chains):
            lacking = np.flatnonzero(firm_K & ~self.found[c])
            for b in chain.draws if lacking.size else ():
                held = self._draws[b].words.tocsr()
                share_P = 1.0 / np.maximum(np.asarray(held.sum(axis=1)).reshape(-1), 1)
                words_PK = self._held.words[:, lacking] * share_P[:, None]
                place_K = (held.T @ words_PK).argmax(axis=0)
                near_K = self._held.nearness(lacking, self._draws[b], place_K)
                place_BK[b, lacking] = np.where(near_K > _AKIN, place_K, -1)
        return place_BK

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
