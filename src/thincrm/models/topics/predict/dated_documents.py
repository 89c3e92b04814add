"""Documents with the dates they seem to have, and what made them seem so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import log_expit

from thincrm.errors import check_between, check_count
from thincrm.models.topics.predict.dater import Learned
from thincrm.models.topics.predict.new_documents import DatedTopics
from thincrm.numerics.arrays import Float, Int

__all__ = ["DatedDocuments", "TopicEvidence", "interval"]

_SHUT = -30.0  # log probability of being open below which topics are equally shut


class TopicEvidence(NamedTuple):
    """Which topics documents use in a draw, and when these are open; topics as in all tables."""

    used: sparse.csr_array  # D x K
    log_open: Float  # C x K

    @classmethod
    def of(cls, dated: DatedTopics, log_odds_CK: Float, match_K: Int) -> Self:
        """Return that of a draw; match_K: its topic for each one of the tables, or -1."""
        there = match_K >= 0
        place = np.maximum(match_K, 0)
        used = sparse.csr_array(dated.used[:, place] * there)
        return cls(used, np.maximum(log_expit(log_odds_CK[:, place]), _SHUT))


@dataclass(frozen=True, slots=True)
class DatedDocuments:
    """What `TopicModel.date_documents` returns.

    Attributes
    ----------
    chance : (D, C) DataFrame
        Probabilities of the candidates.
    prior : (C,) float
        Their probabilities before a document is read.
    times : (C, ...) float
        The candidates, encoded.
    learned : Learned
        Words' curves, and the weights of topics and words.
    features : (D, P) sparse float
        x_dw of the documents.
    topics : list of TopicEvidence
        One for each draw.
    vocabulary : Index
        The words.
    """

    chance: pd.DataFrame
    prior: Float
    times: Float
    learned: Learned
    features: sparse.csr_array
    topics: list[TopicEvidence]
    vocabulary: pd.Index

    def intervals(self, level: float = 0.9) -> pd.DataFrame:
        """Return the most probable time of each document, its probability, and an interval.

        The interval grows from the most probable time to the likelier neighbour until its
        probability is as near to `level` as can be. Columns: time, probability, lower, upper.
        """
        check_between("level", level, 0.0, 1.0)
        value, label = self.chance.to_numpy(), self.chance.columns
        best = value.argmax(axis=1)
        ends = np.array([interval(row, level) for row in value]).reshape(-1, 2)
        return pd.DataFrame(
            {
                "time": label[best],
                "probability": value[np.arange(len(value)), best],
                "lower": label[ends[:, 0]],
                "upper": label[ends[:, 1]],
            },
            index=self.chance.index,
        )

    def evidence(self, n: int = 5) -> pd.DataFrame:
        """Return the words and the topics that speak most for each document's most probable time.

        A word's evidence is b x_dw (beta_w(t) - mean of beta_w), a topic's is a P(d uses k)
        (log P(k open at t) - mean of that): what they add to the log probability of t, compared
        with times at random. Columns: document, kind ("word" or "topic"), name, evidence; at most
        `n` of a kind for each document, the strongest first, none that speaks against.
        """
        n = check_count("n", n)
        best = self.chance.to_numpy().argmax(axis=1)
        kinds = {
            "word": (self._of_words(best), np.asarray(self.vocabulary, object)),
            "topic": (self._of_topics(best), None),
        }
        rows: list[tuple[object, str, object, float]] = []
        for d, document in enumerate(self.chance.index):
            for kind, (table, names) in kinds.items():
                part = slice(table.indptr[d], table.indptr[d + 1])
                value, place = table.data[part], table.indices[part]
                for i in np.argsort(-value, kind="stable")[:n]:
                    if value[i] > 0.0:
                        name = int(place[i]) if names is None else names[place[i]]
                        rows.append((document, kind, name, float(value[i])))
        return pd.DataFrame(rows, columns=["document", "kind", "name", "evidence"])

    def _of_words(self, best_D: Int) -> sparse.csr_array:
        words = self.learned.words
        basis_CR = words.curves.at(self.times)
        change_CR = basis_CR - self.prior @ basis_CR
        owner = np.repeat(np.arange(len(best_D)), np.diff(self.features.indptr))
        curve_N = np.einsum(
            "nr,nr->n", words.weight_PR[self.features.indices], change_CR[best_D[owner]]
        )
        data = self.learned.weights.words * self.features.data * curve_N
        table = data, self.features.indices, self.features.indptr
        return sparse.csr_array(table, shape=self.features.shape)

    def _of_topics(self, best_D: Int) -> sparse.csr_array:
        total = sparse.csr_array(self.topics[0].used.shape)
        for used, log_open_CK in self.topics:
            change_CK = log_open_CK - self.prior @ log_open_CK
            total = total + sparse.csr_array(used.multiply(change_CK[best_D]))
        return sparse.csr_array(total * (self.learned.weights.topics / len(self.topics)))


def interval(chance_C: Float, level: float) -> tuple[int, int]:
    """Return the first and the last candidate of an interval around the most probable one."""
    low = high = int(np.argmax(chance_C))
    mass, last = float(chance_C[low]), len(chance_C) - 1
    while mass < level and (low > 0 or high < last):
        left = float(chance_C[low - 1]) if low > 0 else -1.0
        right = float(chance_C[high + 1]) if high < last else -1.0
        step = max(left, right)
        if mass + step - level > level - mass:
            break
        mass += step
        low, high = (low - 1, high) if left >= right else (low, high + 1)
    return low, high
