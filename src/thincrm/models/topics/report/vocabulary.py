"""The words of a report: those that show a topic at its best, and where every word belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from thincrm.data.counts import word_totals
from thincrm.models.topics.report.periods import Periods
from thincrm.numerics.arrays import Int

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["chosen_words", "searchable", "vocabulary"]

_CANDIDATES = 150  # likeliest words of a topic, among which relevance chooses
_SHOWN = 20
_WEIGHTS = np.linspace(0.0, 1.0, 11)
_MOST_WORDS = 2_500  # that can be searched for
_HOMES = 6  # topics of a word


def chosen_words(model: TopicModel) -> pd.DataFrame:
    """Return every topic's words that are among the most relevant for some weight.

    Relevance is weight log p(w | k) + (1 - weight) log(p(w | k) / p(w)) (Sievert and Shirley
    2014), of the likeliest words only: at weight 0 it would else be ruled by words seen once.
    Columns: topic, code (place in the vocabulary), mean, lower, upper; the likeliest first.
    """
    table: pd.DataFrame = model.topics(_CANDIDATES, order="probability")
    table = table.rename(columns={"probability": "mean"})
    table["code"] = model.vocabulary_.get_indexer(pd.Index(table["word"]))
    common = model.common_words()
    chance = np.log(np.maximum(table["mean"].to_numpy(), 1e-300))
    lift = chance - np.log(common[table["code"]])
    keep = np.zeros(len(table), bool)
    for weight in _WEIGHTS:
        relevance = pd.Series(weight * chance + (1.0 - weight) * lift)
        keep |= relevance.groupby(table["topic"]).rank(ascending=False).to_numpy() <= _SHOWN
    return table.loc[keep, ["topic", "code", "mean", "lower", "upper"]]


def searchable(model: TopicModel, words: pd.DataFrame) -> Int:
    """Return the codes of the words the page knows: all it shows, and the most frequent."""
    total = word_totals(model.counts_)
    frequent = np.argsort(-total, kind="stable")[:_MOST_WORDS]
    return np.union1d(words["code"].to_numpy(np.int64), frequent)


def vocabulary(model: TopicModel, code: Int, periods: Periods) -> dict[str, object]:
    """Return the words, how often each occurs through time, and the topics it belongs to."""
    total = word_totals(model.counts_)
    count_BP = periods.sums(model.counts_)
    tokens_PK = model.word_tokens().to_numpy()[code]
    share_PK = tokens_PK / np.maximum(tokens_PK.sum(axis=1, keepdims=True), 1e-300)
    homes = np.argsort(-share_PK, axis=1, kind="stable")[:, :_HOMES]
    return {
        "words": [str(word) for word in model.vocabulary_[code]],
        "counts": total[code].astype(int).tolist(),
        "edges": [round(float(edge), 6) for edge in periods.edges],
        "totals": count_BP.sum(axis=1).astype(int).tolist(),
        "curves": count_BP[:, code].toarray().T.astype(int).tolist(),
        "homes": [
            [[int(k), round(float(share_PK[p, k]), 3)] for k in row if share_PK[p, k] >= 0.005]
            for p, row in enumerate(homes)
        ],
    }
