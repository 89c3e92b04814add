"""A topic's words by period: how many tokens of each the draws give to the topic."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from thincrm.models.topics.report.periods import Periods
from thincrm.numerics.arrays import Int

__all__ = ["words_by_period"]

_WORDS = 16


def words_by_period(
    counts: sparse.csr_array,
    cells: sparse.csr_array,
    periods: Periods,
    words: pd.DataFrame,
    known: Int,
) -> list[dict[str, object]]:
    """Return, per topic, tokens in each period, and those of its words that occur most.

    Parameters
    ----------
    counts : (D, P) sparse
        Of the fit.
    cells : (C, K) sparse
        Tokens of each cell in each topic (`allocated`).
    periods : Periods
        Of the documents.
    words : DataFrame
        topic, code (the column of counts).
    known : (W,) int
        The codes of the words the page knows, in order: it counts from these.
    """
    document = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    n_words, by_topic = counts.shape[1], sparse.csc_array(cells)
    shown = words.groupby("topic")["code"]
    out: list[dict[str, object]] = []
    for k in range(cells.shape[1]):
        mine = slice(by_topic.indptr[k], by_topic.indptr[k + 1])
        cell, tokens = by_topic.indices[mine], by_topic.data[mine]
        period, word = periods.period[document[cell]], counts.indices[cell]
        count = sparse.coo_array((tokens, (period, word)), shape=(periods.number, n_words)).tocsc()
        code = shown.get_group(k).to_numpy()
        code = code[np.argsort(-count[:, code].sum(axis=0), kind="stable")[:_WORDS]]
        out.append(
            {
                "through": np.rint(count.sum(axis=1)).astype(int).tolist(),
                "codes": np.searchsorted(known, code).tolist(),
                "counts": np.rint(count[:, code].toarray().T).astype(int).tolist(),
            }
        )
    return out
