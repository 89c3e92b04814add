"""Dates by words and topics together, against slow plain twins."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit

from thincrm.data.counts import as_counts
from thincrm.errors import InvalidInput
from thincrm.models.topics.model import TopicModel
from thincrm.models.topics.predict.dated_documents import interval
from thincrm.models.topics.predict.dater import Method
from thincrm.models.topics.predict.evidence import (
    USUAL,
    Weights,
    learn_weights,
    log_topic_evidence,
    weigh,
)
from thincrm.models.topics.predict.second_fits import second_fits
from thincrm.models.topics.predict.time_curves import WIDTHS, time_curves
from thincrm.models.topics.predict.word_dates import fit_word_dates, word_rarity

FASHION = [20, 21]  # a word of the first ten years, and the one that replaced it


def corpus(seed, n_documents):
    """Two lasting topics, and in both of them a word that another one replaces in 1910.

    A model with room for these two topics cannot tell the times apart by them.
    """
    rng = np.random.default_rng(seed)
    year = np.sort(rng.integers(1900, 1920, n_documents))
    X = np.zeros((n_documents, 22), int)
    for d in range(n_documents):
        topic = int(rng.integers(2))
        X[d, 10 * topic : 10 * topic + 10] = rng.multinomial(30, np.ones(10) / 10)
        X[d, FASHION[int(year[d] >= 1910)]] = rng.poisson(1.5)
    return X, year


X, YEAR = corpus(0, 150)
NEW, NEW_YEAR = corpus(1, 40)


@pytest.fixture(scope="module")
def fitted():
    settings = {"max_topics": 2, "n_sweeps": 24, "n_draws": 4, "random_state": 2, "quiet": True}
    with pytest.warns(UserWarning, match="All 2 topics"):
        return TopicModel(n_threads=1, **settings).fit(X, t=YEAR)


@pytest.fixture(scope="module")
def dates(fitted):
    return fitted.date_documents(NEW)


def plain_covariance(a, b, span):
    return sum(np.exp(-abs(a - b) / span / width) for width in WIDTHS) / len(WIDTHS)


def test_curves_are_the_gaussian_process():
    rows = np.array([[0.0], [1.0], [4.0], [10.0]])
    curves, new = time_curves(rows), np.array([[2.0], [12.0]])
    cov = np.array([[plain_covariance(a, b, 10.0) for b in rows[:, 0]] for a in rows[:, 0]])
    basis = curves.at(rows)
    np.testing.assert_allclose(basis @ basis.T, cov, atol=1e-10)
    there = np.array([[plain_covariance(a, b, 10.0) for b in rows[:, 0]] for a in new[:, 0]])
    values = np.random.default_rng(0).normal(size=basis.shape[1])
    expected = there @ np.linalg.solve(cov, basis @ values)  # what a process says of other times
    np.testing.assert_allclose(curves.at(new) @ values, expected, atol=1e-10)


def test_many_days_share_places():
    rng = np.random.default_rng(6)
    rows = np.sort(rng.choice(9000, 400, replace=False))[:, None].astype(float)
    counts, row = rng.poisson(0.5, (3000, 5)), rng.integers(0, 400, 3000)
    counts[:, 0] += rng.poisson(rows[row, 0] / 3000)
    counts, found = as_counts(counts), []
    for most in (200, 400):
        curves = time_curves(rows, most)
        assert len(curves.rows) == most
        place = curves.nearest(rows)
        gap = abs(rows - curves.rows[:, 0])
        np.testing.assert_array_equal(gap[np.arange(400), place], gap.min(axis=1))
        found.append(fit_word_dates(counts, place[row], curves, 4.0).log_evidence(counts, rows))
    near, exact = (one - one.mean(axis=1, keepdims=True) for one in found)
    assert np.sqrt(np.mean((near - exact) ** 2)) < 0.1 * exact.std()


def plain_features(counts):
    n_documents, n_words = counts.shape
    out = np.zeros(counts.shape)
    for d in range(n_documents):
        for w in range(n_words):
            if counts[d, w] > 0:
                seen = sum(counts[e, w] > 0 for e in range(n_documents))
                rarity = np.log((1 + n_documents) / (1 + seen)) + 1
                out[d, w] = (1 + np.log(counts[d, w])) * rarity
        out[d] /= max(np.sqrt((out[d] ** 2).sum()), 1e-300)
    return out


def plain_objective(weight, basis, counts, row, variance):
    """Return sum_d log P(row_d | words of d) and the log prior, term by term."""
    x, n_rows = plain_features(counts), len(basis)
    total = -0.5 * (weight**2).sum() / variance
    for d in range(len(row)):
        odds = []
        for t in range(n_rows):
            beta = weight @ basis[t]
            odds.append(((row == t).sum() + 0.5) * np.exp((x[d] * beta).sum()))
        total += np.log(odds[row[d]] / sum(odds))
    return total


def test_words_curves_are_the_most_probable():
    rng = np.random.default_rng(5)
    counts, row = rng.poisson(0.7, (30, 6)), rng.integers(0, 4, 30)
    counts[:, 0] += 3 * (row > 1)
    counts[7] = 0
    curves = time_curves(np.array([[0.0], [1.0], [2.0], [5.0]]))
    found = fit_word_dates(as_counts(counts), row, curves, 4.0)
    basis, best = curves.at(curves.rows), found.weight_PR
    top = plain_objective(best, basis, counts, row, 4.0)
    for _ in range(20):
        step = rng.normal(size=best.shape)
        step *= 0.2 / np.linalg.norm(step)
        assert plain_objective(best + step, basis, counts, row, 4.0) < top
    assert top > plain_objective(0 * best, basis, counts, row, 4.0) + 3.0
    evidence = found.log_evidence(as_counts(counts), curves.rows)
    x = plain_features(counts)
    for d in range(30):
        for t in range(4):
            said = sum(x[d, w] * (best[w] @ basis[t]) for w in range(6))
            assert evidence[d, t] == pytest.approx(said, abs=1e-12)
    assert (evidence[7] == 0.0).all()
    assert word_rarity(as_counts(counts)).shape == (6,)


def test_evidence_is_weighed_and_weights_are_the_best():
    rng = np.random.default_rng(3)
    row = rng.integers(0, 5, 300)
    topics, words = rng.normal(size=(2, 300, 5))
    topics[np.arange(300), row] += 1.0
    words[np.arange(300), row] += 2.0
    prior = np.log([0.1, 0.2, 0.3, 0.2, 0.2])

    def plain(weights):
        total = 0.0
        for d in range(300):
            odds = np.exp(prior + weights[0] * topics[d] + weights[1] * words[d])
            total += np.log(odds[row[d]] / odds.sum())
        pull = (2.0 * (weights[0] - USUAL.topics)) ** 2 + (weights[1] - USUAL.words) ** 2
        return total - 0.5 * pull

    weights, score = learn_weights(prior, topics, words, row)
    assert score == pytest.approx(plain(weights))
    for step in ((0.02, 0.0), (-0.02, 0.0), (0.0, 0.02), (0.0, -0.02), (0.02, -0.02)):
        assert plain(np.add(weights, step)) < score
    chance = weigh(Weights(0.5, 2.0), prior, topics, words)
    odds = np.exp(prior + 0.5 * topics[4] + 2.0 * words[4])
    np.testing.assert_allclose(chance[4], odds / odds.sum())
    against, _ = learn_weights(prior, -topics, words, row)
    assert against.topics == 0.0  # evidence that misleads is left out, never turned round


def test_intervals_hold_a_probability_as_near_to_the_level_as_can_be():
    cases = [
        ([0.03, 0.6, 0.26, 0.11], 0.9, (1, 2)),  # 0.86 is nearer than 0.97
        ([0.08, 0.6, 0.2, 0.12], 0.9, (1, 3)),
        ([0.0, 1.0, 0.0], 0.9, (1, 1)),
        ([0.45, 0.0, 0.0, 0.55], 0.9, (0, 3)),
        ([0.25, 0.25, 0.25, 0.25], 0.5, (0, 1)),
    ]
    for chance, level, expected in cases:
        assert interval(np.array(chance), level) == expected


def test_second_fits_have_not_seen_what_is_held_out(fitted):
    found = second_fits(fitted)
    assert len(found) == 5  # each a fifth of 150 documents
    for fit in found:
        together = fit.model.counts_.sum(axis=0) + fit.counts.sum(axis=0)
        np.testing.assert_array_equal(together, X.sum(axis=0))
        assert fit.counts.shape[0] == 30
    every = sparse.vstack([fit.counts for fit in found]).toarray()
    np.testing.assert_array_equal(np.unique(every, axis=0), np.unique(X, axis=0))


def test_words_date_what_topics_cannot(fitted, dates):
    truth = NEW_YEAR >= 1910
    late = dates.chance.to_numpy()[:, dates.chance.columns >= 1910].sum(axis=1)
    told = NEW[:, FASHION].any(axis=1)
    assert np.mean((late > 0.5)[told] == truth[told]) > 0.95
    topics = fitted.predict_time(NEW, evidence="topics")
    unsure = topics.to_numpy()[:, topics.columns >= 1910].sum(axis=1)
    assert np.mean((unsure > 0.5)[told] == truth[told]) < 0.9
    pd.testing.assert_frame_equal(fitted.predict_time(NEW), dates.chance)


def test_reasons_are_what_words_and_topics_add(fitted, dates):
    dates = replace(dates, learned=dates.learned._replace(weights=Weights(0.5, 0.7)))
    table = dates.evidence(3)
    assert (table["evidence"] > 0).all()
    assert (table.groupby(["document", "kind"]).size() <= 3).all()
    words, weights = dates.learned
    best = dates.chance.to_numpy().argmax(axis=1)
    basis = words.curves.at(fitted.covariates_.rows)
    prior = fitted.covariates_.trials / len(YEAR)
    x = words.features(as_counts(NEW)).toarray()
    for d in range(5):
        said = []
        for w in range(22):
            curve = [basis[t] @ words.weight_PR[w] for t in range(len(basis))]
            mean = sum(p * value for p, value in zip(prior, curve, strict=True))
            said.append(weights.words * x[d, w] * (curve[best[d]] - mean))
        found = table[(table["document"] == d) & (table["kind"] == "word")]
        top = [w for w in np.argsort(said)[::-1][:3] if said[w] > 0]
        assert found["name"].tolist() == top
        np.testing.assert_allclose(found["evidence"], np.array(said)[top])
    spoken = set(table[(table["kind"] == "word")].groupby("document")["name"].first())
    assert spoken >= set(FASHION)
    for d in range(5):
        said = np.zeros(fitted._tables.n_topics)
        for part, (draw, match) in zip(dates.topics, fitted._tables.spread_out(5), strict=True):
            for topic, k in enumerate(match):
                if k >= 0:
                    open_T = np.log(np.maximum(expit(draw.log_odds[:, k]), np.exp(-30)))
                    change = open_T[best[d]] - (prior * open_T).sum()
                    said[topic] += weights.topics * part.used[d, topic] * change / len(dates.topics)
        found = table[(table["document"] == d) & (table["kind"] == "topic")]
        np.testing.assert_allclose(found["evidence"], [v for v in np.sort(said)[::-1][:3] if v > 0])


def test_dates_have_the_same_bits_on_any_number_of_threads(fitted):
    first = fitted.predict_time(NEW[:6])
    topics = fitted.predict_time(NEW[:6], evidence="topics")
    kept, fitted._dater = fitted._dater, None
    try:
        fitted.set_params(n_threads=2)
        pd.testing.assert_frame_equal(fitted.predict_time(NEW[:6]), first, rtol=0, atol=0)
        again = fitted.predict_time(NEW[:6], evidence="topics")
        pd.testing.assert_frame_equal(again, topics, rtol=0, atol=0)
    finally:
        fitted.set_params(n_threads=1)
        fitted._dater = kept


def test_candidates_may_be_other_times(fitted):
    chance = fitted.predict_time(NEW[:4], [1890, 1904.5, 1930])
    assert list(chance.columns) == [1890, 1904.5, 1930]
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)


def test_a_document_without_words_has_the_prior(fitted):
    chance = fitted.predict_time(np.zeros((1, 22), int)).to_numpy()[0]
    prior = fitted.covariates_.trials / len(YEAR)
    np.testing.assert_allclose(chance, prior, rtol=1e-6)


def test_too_few_documents_teach_no_weights(fitted):
    few = TopicModel(
        max_topics=30, n_sweeps=6, n_draws=2, random_state=0, n_threads=1, quiet=True
    ).fit(X[::10], t=YEAR[::10])
    few.predict_time(NEW[:2])
    assert few._dater.learned(Method("gibbs", 5, 20)).weights == USUAL
    with pytest.raises(InvalidInput, match="evidence must be"):
        few.predict_time(NEW[:2], evidence="words")


def test_evidence_of_topics_is_never_quite_certain():
    """Of every hundred parts one says nothing, log(0.99 p / prior + 0.01), whatever the scale."""
    rng = np.random.default_rng(3)
    prior, chance = rng.dirichlet(np.ones(5)), rng.dirichlet(np.full(5, 0.3), 4)
    chance[0] = [1.0, 0.0, 0.0, 0.0, 0.0]
    found = log_topic_evidence(chance, np.log(prior) - 3.0)
    for d in range(4):
        for c in range(5):
            assert found[d, c] == pytest.approx(np.log(0.99 * chance[d, c] / prior[c] + 0.01))
