"""A topic's words by period: how many tokens of each the draws give to the topic."""

from __future__ import annotations

import numpy as np
import pandas as pd

from thincrm.models.topics.report.allocation import Allocation
from thincrm.models.topics.report.periods import Periods
from thincrm.numerics.arrays import Int

__all__ = ["words_by_period"]

_WORDS = 16


def words_by_period(
    allocation: Allocation, periods: Periods, words: pd.DataFrame, known: Int
) -> list[dict[str, object]]:
    """Return, per topic, tokens in each period, and those of its words that occur most.

    Parameters
    ----------
    allocation : Allocation
        Of the tokens of the fit.
    periods : Periods
        Of the documents.
    words : DataFrame
        topic, code (the column of counts).
    known : (W,) int
        The codes of the words the page knows, in order: it counts from these.
    """
    counts, n_periods = allocation.counts, periods.number
    topic, code = words["topic"].to_numpy(int), words["code"].to_numpy(int)
    row_PK = np.full((counts.shape[1], allocation.n_topics), -1, np.int32)
    row_PK[code, topic] = np.arange(len(words))
    through_KB = np.zeros((allocation.n_topics, n_periods))
    count_WB = np.zeros((len(words), n_periods))
    for start, stop in allocation.blocks():
        first = counts.indptr[start]
        period_C = np.repeat(periods.period[start:stop], np.diff(counts.indptr)[start:stop])
        for cell, k, tokens in allocation.shares(start, stop):
            period = period_C[cell - first]
            _add(through_KB, k * n_periods + period, tokens)
            row = row_PK[counts.indices[cell], k].astype(np.int64)
            shown = row >= 0
            _add(count_WB, row[shown] * n_periods + period[shown], tokens[shown])
    through_KB /= allocation.n_found[:, None]
    count_WB /= allocation.n_found[topic, None]
    return [
        _of_topic(through_KB[k], count_WB[topic == k], code[topic == k], known)
        for k in range(allocation.n_topics)
    ]


def _add(total: np.ndarray, place: Int, tokens: np.ndarray) -> None:
    total += np.bincount(place, tokens, total.size).reshape(total.shape)


def _of_topic(
    through_B: np.ndarray, count_WB: np.ndarray, code_W: Int, known: Int
) -> dict[str, object]:
    most = np.argsort(-count_WB.sum(axis=1), kind="stable")[:_WORDS]
    return {
        "through": np.rint(through_B).astype(int).tolist(),
        "codes": np.searchsorted(known, code_W[most]).tolist(),
        "counts": np.rint(count_WB[most]).astype(int).tolist(),
    }
