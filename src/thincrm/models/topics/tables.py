"""Labelled results of a topic model: topics matched across draws before anything is averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit

from thincrm.data.counts import CountMatrix, row_blocks
from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput, check_between, check_count
from thincrm.models.atom_tables import through_time
from thincrm.models.bands import band
from thincrm.models.curve_shapes import SHAPES, first_last, shape_of
from thincrm.models.topics.chain_topics import (
    SIMILARITY,
    ChainTopics,
    Told,
    chains_of,
    told_topics,
)
from thincrm.models.topics.consensus import Consensus
from thincrm.models.topics.documents_kept import with_documents
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.typical import count_documents, typical_documents
from thincrm.numerics.arrays import Bool, Float, Int
from thincrm.numerics.on_disk import let_go
from thincrm.numerics.waiting import now

__all__ = ["TopicTables"]

_BLOCK = 65_536  # documents whose shares are made at a time
_LAMBDA = 0.6  # of relevance: 1 is the order of probability, 0 that of lift
LogOdds = Callable[[TopicDraw, Float], Float]


class TopicTables:
    """Tables of kept draws; topics are those that `told_topics` chooses, the largest first."""

    def __init__(self, draws: Sequence[TopicDraw], vocabulary: pd.Index, known: Covariates) -> None:
        self.draws, self.vocabulary, self.known = draws, vocabulary, known
        self._chain_B = np.array([draw.chain for draw in draws])
        self._consensus: dict[float, Consensus] = {}

    @cached_property
    def chains(self) -> list[ChainTopics]:
        """Return the topics of each chain."""
        return chains_of(self.draws, len(self.known.row))

    @cached_property
    def told(self) -> Told:
        """Return which topics of the chains the tables tell of."""
        return told_topics(self.chains)

    @property
    def n_topics(self) -> int:
        """Return how many topics the tables tell of."""
        return int(self.told.seat.size)

    @cached_property
    def seats(self) -> list[tuple[int, int]]:
        """Return, of each topic, the draw where its size is read, and its place there."""
        column = np.arange(self.n_topics)
        at_seat = self.told.place[self.told.seat, column].tolist()
        return [(self.chains[c].last, k) for c, k in zip(self.told.seat, at_seat, strict=True)]

    @cached_property
    def tokens(self) -> Int:
        """Return the (K,) tokens drawn from each topic, at its seat."""
        return np.array([self.draws[b].tokens[k] for b, k in self.seats])

    def _by_seat(self) -> Iterator[tuple[TopicDraw, Int, Int]]:
        """Yield the draws that are seats; of each, the topics that it is of, and their places."""
        draw_K, place_K = np.array(self.seats).T
        for b in np.unique(draw_K).tolist():
            topics = np.flatnonzero(draw_K == b)
            yield self.draws[b], topics, place_K[topics]

    def held(self) -> tuple[Int, Int]:
        """Return the (K,) tokens in each topic, at its seat, and the documents that use it."""
        tokens_K, documents_K = np.zeros((2, self.n_topics), np.int64)
        for draw, topics, place in self._by_seat():
            tokens, documents = count_documents(draw)
            tokens_K[topics], documents_K[topics] = tokens[place], documents[place]
        return tokens_K, documents_K

    @cached_property
    def found(self) -> list[Int]:
        """Return, for every draw, the place of each topic in it; -1: it has it not.

        What is told of a topic (words, curves, shares of words) is told of these draws of all
        chains, so that bands hold the disagreement of the chains that have it. A topic's seat has
        it, whatever the mean of its draws looks like.
        """
        place_BK = self.consensus(SIMILARITY).told.copy()
        for topic, (b, k) in enumerate(self.seats):
            place_BK[b, topic] = k
        return list(place_BK)

    @cached_property
    def banded(self) -> list[Int]:
        """Return `found`, and what draws of other chains have instead of a firm topic.

        Bands are of these: what a chain that lacks a topic makes of its words belongs to what the
        chains disagree on.
        """
        instead = self.consensus(SIMILARITY).instead()
        return [np.where(at >= 0, at, other) for at, other in zip(self.found, instead, strict=True)]

    def consensus(self, similarity: float) -> Consensus:
        """Return in which chains and draws the topics are; remembered, as it takes seconds."""
        if similarity not in self._consensus:
            self._consensus[similarity] = Consensus(self.draws, self.chains, self.told, similarity)
        return self._consensus[similarity]

    def spread_out(self, n_draws: int) -> Iterator[tuple[TopicDraw, Int]]:
        """Yield `n_draws` draws with their matches, spread evenly over all that were kept."""
        check_count("n_draws", n_draws)
        places = np.linspace(len(self.draws) - 1, 0, min(n_draws, len(self.draws)))
        for place in np.round(places).astype(int):
            yield self.draws[place], self.found[place]

    def aligned(
        self, values: Callable[[TopicDraw], Float], places: Sequence[Int] | None = None
    ) -> Float:
        """Return (B, ..., K): a (..., K) array of every draw, topics in order, NaN where absent.

        places: of topics in draws, if not those of `found`.
        """
        out = []
        for draw, found in zip(self.draws, places or self.found, strict=True):
            array = values(draw)
            out.append(np.where(found >= 0, array[..., np.maximum(found, 0)], np.nan))
        return np.stack(out)

    @cached_property
    def mean_theta(self) -> Float:
        """Return the (P, K) topics, averaged over the draws that have them.

        Given its words a draw's topic is (a + n_kp) / (P a + n_k) on average.
        """

        def weight(draw: TopicDraw) -> Float:
            return np.asarray(1.0 / (draw.tokens + draw.concentration * len(self.vocabulary)))

        floor_BK = self.aligned(lambda draw: draw.concentration * weight(draw))
        return np.asarray(self._mean_words(weight) + np.nanmean(floor_BK, axis=0))

    def _mean_words(self, weight: Callable[[TopicDraw], Float]) -> Float:
        """Return the (P, K) words of topics times a draw's (K,) weights, on average of draws."""
        sum_PK = np.zeros((len(self.vocabulary), self.n_topics))
        seen_K = np.zeros(self.n_topics)
        for draw, found in zip(self.draws, self.found, strict=True):
            there = np.flatnonzero(found >= 0)
            held = draw.words[:, found[there]].tocoo()
            sum_PK[held.row, there[held.col]] += held.data * weight(draw)[found[there]][held.col]
            seen_K[there] += 1.0
        return sum_PK / seen_K

    def top_words(self, n_words: int, common_P: Float | None = None) -> Int:
        """Return the (W, K) places of each topic's likeliest words, or its most relevant ones.

        Relevance (Sievert and Shirley 2014): log p(w | k) - 0.4 log p(w). common_P: p(w).
        """
        n_words = min(check_count("n_words", n_words), len(self.vocabulary))
        score_PK = self.mean_theta
        if common_P is not None:
            score_PK = np.log(score_PK) - (1.0 - _LAMBDA) * np.log(common_P)[:, None]
        return np.argsort(-score_PK, axis=0, kind="stable")[:n_words]

    def document_shares(self) -> Any:
        """Return (D, K) sparse: the share of each document's words in each topic.

        The mean over the draws that have the topic; a document's shares add up to one.
        """
        return self._shares(0, len(self.known.row))

    def _shares(self, first: int, stop: int) -> Any:
        """Return `document_shares` of some documents."""
        total = sparse.csr_array((stop - first, self.n_topics))
        places = with_documents(self.draws, len(self.known.row))
        n_found_K = np.sum([self.found[b] >= 0 for b in places], axis=0)
        for draw, found in ((self.draws[b], self.found[b]) for b in places):
            there = np.flatnonzero(found >= 0)
            shape = (draw.words.shape[1], self.n_topics)
            weight = 1.0 / n_found_K[there]
            place = sparse.csr_array((weight, (found[there], there)), shape=shape)
            total = total + draw.documents[first:stop] @ place
            let_go(draw.documents.data, draw.documents.indices)
        whole: Float = np.asarray(total.sum(axis=1)).reshape(-1)
        return sparse.csr_array(sparse.diags_array(1.0 / np.maximum(whole, 1e-300)) @ total)

    def topics(
        self, n_words: int, level: float, seed: int, common_P: Float | None = None
    ) -> pd.DataFrame:
        """Return the words of each topic (see `top_words`); a band is a credible interval."""
        check_between("level", level, 0.0, 1.0)
        mean_PK, top_WK = self.mean_theta, self.top_words(n_words, common_P)
        n_words = len(top_WK)
        column = np.arange(self.n_topics)
        rng = np.random.default_rng(seed)

        def sampled(draw: TopicDraw, found: Int) -> Float:
            place = np.maximum(found, 0)
            hits = draw.words.toarray()[top_WK, place] + draw.concentration
            total = draw.tokens[place] + draw.concentration * len(self.vocabulary)
            return np.where(found >= 0, rng.beta(hits, np.maximum(total - hits, 1e-9)), np.nan)

        theta_BWK = np.stack(
            [sampled(draw, found) for draw, found in zip(self.draws, self.banded, strict=True)]
        )
        lower, upper = band(theta_BWK, self._chain_B, level)
        return pd.DataFrame(
            {
                "topic": np.repeat(column, n_words),
                "rank": np.tile(np.arange(1, n_words + 1), self.n_topics),
                "word": self.vocabulary.to_numpy()[top_WK.T.ravel()],
                "probability": mean_PK[top_WK, column].T.ravel(),
                "lower": lower.T.ravel(),
                "upper": upper.T.ravel(),
            }
        )

    def word_tokens(self) -> Float:
        """Return (P, K): the tokens of each word in each topic, over the draws that have it."""
        return self._mean_words(lambda draw: np.ones(draw.words.shape[1]))

    def activation(self, rows: Float, level: float, log_odds: LogOdds) -> pd.DataFrame:
        """Return activations and shares of words at covariate rows, with bands."""
        check_between("level", level, 0.0, 1.0)
        both = self.aligned(
            lambda draw: _opened_and_shares(draw, log_odds(draw, rows)), self.banded
        )
        there_BK, columns = np.stack(self.found) >= 0, {}
        for prefix, values in (("", both[:, 0]), ("share_", both[:, 1])):
            columns["share" if prefix else "mean"] = _means(values, there_BK)
            ends = band(values, self._chain_B, level)
            columns[prefix + "lower"], columns[prefix + "upper"] = ends
        return through_time({"topic": np.arange(self.n_topics)}, self.known, rows, columns)

    def _curves(self) -> Float:
        if self.known.rows.shape[1] > 1:
            raise InvalidInput("Shapes through time need one covariate column; t has several.")
        at = (self.draws[0].log_odds.shape[0], len(self.known.rows))
        curves = self.aligned(lambda draw: expit(draw.log_odds))
        return curves if at[0] == at[1] else np.repeat(curves, at[1], axis=1)

    def lifetimes(self, level: float, which: Literal["first", "last"]) -> pd.DataFrame:
        """Return the first or last time of activity of each topic, with a band."""
        check_between("level", level, 0.0, 1.0)
        place_BK = first_last(self._curves(), which)
        labels = self.known.labels()
        tail = (1.0 - level) / 2.0
        columns = {}
        for name, share in (("median", 0.5), ("lower", tail), ("upper", 1.0 - tail)):
            place = np.nanquantile(place_BK, share, axis=0, method="nearest").astype(int)
            columns[name] = labels[place]
        return pd.DataFrame(columns, index=pd.RangeIndex(self.n_topics, name="topic"))

    def shapes(self) -> pd.DataFrame:
        """Return the share of draws in which each topic has each shape."""
        found_BK = shape_of(self._curves())
        known_BK = found_BK >= 0
        columns = {name: (found_BK == i).sum(0) / known_BK.sum(0) for i, name in enumerate(SHAPES)}
        columns["presence"] = known_BK.mean(0)
        return pd.DataFrame(columns, index=pd.RangeIndex(self.n_topics, name="topic"))

    def coherence(self, counts: CountMatrix, n_words: int, common_P: Float) -> pd.Series:
        """Return the mean normalised pointwise mutual information of each topic's top words."""
        top_WK = self.top_words(check_count("n_words", n_words, 2), common_P)
        n_words = len(top_WK)
        words, place = np.unique(top_WK, return_inverse=True)
        both = _together(counts, words) / counts.shape[0]
        single = np.diag(both)
        with np.errstate(divide="ignore", invalid="ignore"):
            pmi = np.log(both) - np.log(np.outer(single, single))
            npmi = np.where(both > 0, pmi / np.maximum(-np.log(both), 1e-12), -1.0)
        place_WK = place.reshape(top_WK.shape)
        upper = np.triu_indices(n_words, 1)
        scores = npmi[place_WK[upper[0]], place_WK[upper[1]]].mean(0)
        index = pd.RangeIndex(self.n_topics, name="topic")
        return pd.Series(np.clip(scores, -1.0, 1.0), index=index, name="npmi")

    def documents(self, least: float) -> pd.DataFrame:
        """Return the topics that hold at least a share `least` of each document's words."""
        return pd.concat(self.document_blocks(least), ignore_index=True)

    def document_blocks(self, least: float) -> Iterator[pd.DataFrame]:
        """Yield the rows of `documents`, some documents at a time."""
        check_between("least", least, 0.0, 1.0)
        n_documents, done = len(self.known.row), 0
        now("writing the topics of documents", lambda: done / n_documents)
        for first in range(0, n_documents, _BLOCK):
            share = self._shares(first, min(first + _BLOCK, n_documents)).tocoo()
            kept = share.data >= least
            document, topic = (place[kept] for place in share.coords)
            document = document + first
            times = self.known.labels(self.known.observed(document))
            table = pd.DataFrame({"document": document, "topic": topic, "share": share.data[kept]})
            table.insert(1, "t", times.to_numpy())
            order = ["document", "share"]
            yield table.sort_values(order, ascending=[True, False], ignore_index=True)
            done = first

    def representative(self, n_documents: int, cuts: Float | None) -> pd.DataFrame:
        """Return the documents with the largest share of their words in each topic."""
        check_count("n_documents", n_documents)
        edges = np.zeros(0) if cuts is None else cuts

        def period_of(first: int, stop: int) -> Int:
            when = self.known.observed(slice(first, stop))[:, 0]
            return np.searchsorted(edges, when, "right")

        tables = []
        for draw, topics, place in self._by_seat():
            best = typical_documents(draw, place, period_of, edges.size + 1, n_documents)
            tables.append(pd.DataFrame(best._asdict() | {"topic": topics[best.topic]}))
        order = ["topic", "period", "rank"]
        table = pd.concat(tables).sort_values(order, ignore_index=True)
        times = self.known.labels(self.known.observed(table["document"].to_numpy()))
        return table.assign(t=times.to_numpy())


def _together(counts: CountMatrix, words: Int) -> Float:
    """Return (W, W): the documents that have both of two words."""
    both, n_documents, done = np.zeros((words.size, words.size)), counts.shape[0], 0
    now("counting which words share documents", lambda: done / n_documents)
    for first, some in row_blocks(counts):
        seen = (some[:, words] > 0).astype(np.int32)
        both += (seen.T @ seen).toarray()
        done = first
    return both


def _opened_and_shares(draw: TopicDraw, log_odds_TK: Float) -> Float:
    """Return (2, T, K): activations a, and expected shares of words, a shape q / (1 - q) over all.

    Both at once, because the log odds at new times are the costly part.
    """
    opened_TK = expit(log_odds_TK)
    rate_TK = opened_TK * draw.usage.mean
    return np.stack([opened_TK, rate_TK / np.maximum(rate_TK.sum(1, keepdims=True), 1e-300)])


def _means(values_BTK: Float, there_BK: Bool) -> Float:
    """Return the (T, K) means over the draws that have a topic."""
    columns = [values_BTK[there, :, k].mean(axis=0) for k, there in enumerate(there_BK.T)]
    return np.stack(columns, axis=1)
