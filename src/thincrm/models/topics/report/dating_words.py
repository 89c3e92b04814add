"""Words that date a page: what dating by words (`predict_time`) learns, for periods of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from thincrm.data.counts import rows_of
from thincrm.models.topics.predict.second_fits import VARIANCES, few
from thincrm.models.topics.predict.time_curves import time_curves
from thincrm.models.topics.predict.word_dates import WordDates, fit_word_dates
from thincrm.models.topics.report.periods import Periods
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import one_blas_thread

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["dating_words", "reasons"]

_ORDER = 6  # the address of the random stream
_FEWEST, _MOST = 20, (5_000, 500_000)  # documents; documents and tokens: written in seconds
_SPANS, _WORDS, _LEAST = 8, 12, 1.3  # of the page; words of a span; how much likelier at least


def dating_words(model: TopicModel, periods: Periods, known: Int) -> list[dict[str, object]]:
    """Return spans of periods, each with the words that speak most for one of its periods.

    `words` holds [place among the `known` words, factor]: so many times the word raises the odds
    that a page is of the word's best period, exp of what `reasons` says.
    """
    if model.counts_.shape[0] < _FEWEST or periods.number == 1:
        return []
    order = sweep_generator(model.seed_, _ORDER).permutation(model.counts_.shape[0])
    chosen = few(model.counts_, order, _MOST)
    counts, period_D = rows_of(model.counts_, chosen), periods.period[chosen]
    middle_B = 0.5 * (periods.edges[1:] + periods.edges[:-1])
    with one_blas_thread():
        found = fit_word_dates(counts, period_D, time_curves(middle_B[:, None]), VARIANCES[1])
    share_B = np.bincount(period_D, minlength=periods.number) / period_D.size
    factor_PB = np.exp(reasons(found, sparse.csc_array(found.features(counts)), share_B))[known]
    best_P, most_P = factor_PB.argmax(axis=1), factor_PB.max(axis=1)
    spans = np.array_split(np.arange(periods.number), min(_SPANS, periods.number))
    return [
        {"from": int(span[0]), "to": int(span[-1]), "words": _strongest(span, best_P, most_P)}
        for span in spans
    ]


def reasons(found: WordDates, x_DP: sparse.csc_array, share_B: Float) -> Float:
    """Return (P, B): x_w (beta_w(t) - mean of beta_w), x_w the mean of x_dw where it occurs."""
    basis_BR = found.curves.at(found.curves.rows)
    curve_PB = found.weight_PR @ (basis_BR - share_B @ basis_BR).T
    total_P = np.asarray(x_DP.sum(axis=0)).reshape(-1)
    many_P = np.diff(x_DP.indptr)
    return np.asarray((total_P / np.maximum(many_P, 1))[:, None] * curve_PB)


def _strongest(span: Int, best_P: Int, most_P: Float) -> list[list[float]]:
    here = np.flatnonzero(np.isin(best_P, span) & (most_P >= _LEAST))
    first = here[np.argsort(-most_P[here], kind="stable")][:_WORDS]
    return [[int(place), round(float(most_P[place]), 1)] for place in first]
