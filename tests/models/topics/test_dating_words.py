"""Words that date a page, for the report: against a slow plain twin."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from thincrm.data.counts import as_counts
from thincrm.data.covariates import covariates
from thincrm.models.topics.predict.time_curves import time_curves
from thincrm.models.topics.predict.word_dates import WordDates
from thincrm.models.topics.report.dating_words import dating_words, reasons
from thincrm.models.topics.report.periods import periods_of


def test_reasons_are_the_mean_feature_times_the_change_of_the_curve():
    rng = np.random.default_rng(1)
    curves = time_curves(np.arange(4.0)[:, None])
    basis = curves.at(curves.rows)
    words = WordDates(curves, np.ones(3), rng.normal(size=(3, basis.shape[1])))
    x = np.array([[0.5, 0.0, 0.0], [0.1, 0.9, 0.0]])
    share = np.array([0.1, 0.2, 0.3, 0.4])
    found = reasons(words, sparse.csc_array(x), share)
    for w, size in enumerate([0.3, 0.9, 0.0]):
        curve = [float(basis[t] @ words.weight_PR[w]) for t in range(4)]
        mean = sum(p * value for p, value in zip(share, curve, strict=True))
        for t in range(4):
            assert found[w, t] == pytest.approx(size * (curve[t] - mean))


def fashions(n_documents=200):
    """Word 0 is of the first half of the time, word 1 of the second, word 2 of all of it."""
    rng = np.random.default_rng(2)
    year = np.sort(rng.integers(1900, 1920, n_documents))
    counts = np.column_stack([year < 1910, year >= 1910, np.ones(n_documents)]).astype(int)
    known = covariates(year.astype(float))
    return SimpleNamespace(counts_=as_counts(counts), covariates_=known, seed_=0)


def test_words_stand_where_they_were_in_fashion():
    model = fashions()
    spans = dating_words(model, periods_of(model.covariates_), np.arange(3))
    assert [span["from"] for span in spans[1:]] == [span["to"] + 1 for span in spans[:-1]]
    at = {word: span["from"] for span in spans for word, factor in span["words"] if factor > 1.0}
    assert at[0] < 10 <= at[1]
    assert 2 not in at
    later = dating_words(model, periods_of(model.covariates_), np.array([1, 2]))
    assert {word for span in later for word, _ in span["words"]} == {0}  # places among the known


def test_nothing_is_said_of_few_documents_or_of_one_time():
    few = fashions(10)
    assert dating_words(few, periods_of(few.covariates_), np.arange(3)) == []
    alike = covariates(np.zeros(200))
    assert dating_words(fashions(), periods_of(alike), np.arange(3)) == []
