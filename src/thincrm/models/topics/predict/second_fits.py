"""Fits without some documents, to learn from these how far evidence of their dates can be trusted.

A document that was in a fit is dated too well by it: its topics were shaped by the document.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from thincrm.data.counts import CountMatrix, lengths_of
from thincrm.models.topics.predict.time_curves import TimeCurves, time_curves
from thincrm.models.topics.predict.word_dates import WordDates, fit_word_dates, log_frequency
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import sweep_generator

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["VARIANCES", "SecondFit", "few", "final_words", "second_fits"]

VARIANCES = (1.0, 4.0, 16.0)  # of words' log multipliers: the best one is taken
_FEWEST = 20  # documents that weights are learned from
_PARTS, _ENOUGH = 5, 500  # a fifth is held out, as often as needed for so many documents
_SWEEPS, _DRAWS = 60, 5
_FOLDS = 5  # the address of the random stream
# At most so many of the documents are held out, teach topics, and teach words: documents, tokens
_HELD, _FOR_TOPICS, _FOR_WORDS = (1_000, 100_000), (10_000, 1_000_000), (20_000, 4_000_000)


@dataclass(frozen=True, slots=True)
class SecondFit:
    """A fit to some documents, and others of known rows that it has not seen.

    Attributes
    ----------
    model : TopicModel or None
        None: topics do not depend on the covariate.
    words : tuple of WordDates
        One for each of `VARIANCES`.
    counts, row : (H, P) counts, (H,) int
        The documents held out.
    log_prior : (T,) float
        Log shares of the rows among the others.
    """

    model: TopicModel | None
    words: tuple[WordDates, ...]
    counts: CountMatrix
    row: Int
    log_prior: Float


def second_fits(model: TopicModel) -> list[SecondFit]:
    """Return fits without a fifth of the documents each; none if there is little to learn."""
    n_documents = model.counts_.shape[0]
    if n_documents < _FEWEST or len(model.covariates_.rows) == 1:
        return []
    order = sweep_generator(model.seed_, _FOLDS).permutation(n_documents)
    size = -(-n_documents // _PARTS)
    n_fits = min(_PARTS, -(-_ENOUGH // size))
    return [
        _second_fit(model, order[i * size : (i + 1) * size], np.roll(order, -i * size)[size:])
        for i in range(n_fits)
    ]


def _second_fit(model: TopicModel, held: Int, others: Int) -> SecondFit:
    held = few(model.counts_, held, _HELD)
    others = few(model.counts_, others, _FOR_WORDS)
    row_D = model.covariates_.row
    return SecondFit(
        _topics(model, few(model.counts_, others, _FOR_TOPICS)),
        _words_path(model, others),
        model.counts_[held],
        row_D[held],
        log_frequency(row_D[others], len(model.covariates_.rows)),
    )


def few(counts: CountMatrix, chosen: Int, most: tuple[int, int]) -> Int:
    """Return the first documents, as many as are allowed, a hundred whatever their length."""
    size = lengths_of(counts)[chosen]
    fits = int(np.searchsorted(np.cumsum(size), most[1], side="right"))
    return chosen[: max(min(fits, most[0]), 100)]


def _topics(model: TopicModel, others: Int) -> TopicModel | None:
    if not model.thinning_.varies:
        return None
    used = max(draw.words.shape[1] for draw in model.draws_)
    room = used + used // 5 + 10
    again: TopicModel = clone(model).set_params(
        max_topics=room if model.max_topics == "grow" else min(room, model.max_topics),
        n_sweeps=min(model.n_sweeps_, _SWEEPS),
        n_draws=_DRAWS,
        n_chains=1,
        random_state=model.seed_,
        vectorizer=None,
        quiet=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is worth a note was said of the fit itself
        return again.fit(model.counts_[others], t=model.covariates_.observed()[others])


def _words_path(model: TopicModel, others: Int) -> tuple[WordDates, ...]:
    """Return fits of growing variance, each from the one before."""
    curves, place_D = _places(model, others)
    found: list[WordDates] = []
    for variance in VARIANCES:
        first = found[-1].weight_PR if found else None
        found.append(fit_word_dates(model.counts_[others], place_D, curves, variance, first))
    return tuple(found)


def final_words(model: TopicModel, variance: float) -> WordDates:
    """Return the regression of all documents, or of as many as are needed."""
    order = sweep_generator(model.seed_, _FOLDS).permutation(model.counts_.shape[0])
    chosen = few(model.counts_, order, _FOR_WORDS)
    curves, place_D = _places(model, chosen)
    return fit_word_dates(model.counts_[chosen], place_D, curves, variance)


def _places(model: TopicModel, chosen: Int) -> tuple[TimeCurves, Int]:
    """Return curves through the covariate, and the place of each chosen document among theirs."""
    rows = model.covariates_.rows
    curves = time_curves(rows)
    return curves, curves.nearest(rows)[model.covariates_.row[chosen]]
