"""Predictions are means over draws of probabilities: not of their logarithms, topics matched."""

import numpy as np
import pytest
from scipy import sparse

from thincrm.models.topics.model import TopicModel
from thincrm.models.topics.predict import shards
from thincrm.models.topics.predict.new_documents import DatedTopics

X = np.random.default_rng(0).poisson(1.0, (40, 8))
YEAR = np.repeat([1900, 1901, 1902, 1903], 10)
NEW = np.random.default_rng(1).poisson(1.0, (3, 8))


@pytest.fixture(scope="module")
def fitted():
    model = TopicModel(
        max_topics=40, n_sweeps=12, n_draws=6, n_threads=1, random_state=0, quiet=True
    )
    return model.fit(X, t=YEAR)


def tables_of(n_draws, seed=2):
    """Return a (B, D, C) table of log-likelihoods that differ much."""
    return np.random.default_rng(seed).normal(-8.0, 3.0, (n_draws, len(NEW), 4))


@pytest.mark.parametrize(
    ("method", "name"),
    [("gibbs", "date_topics"), ("particles", "log_likelihood_at"), ("cheap", "cheap_log_score")],
)
def test_dates_are_averaged_over_draws(fitted, monkeypatch, method, name):
    """Gibbs: the mean chance of a draw; the others: chances of the mean likelihood."""
    made_up, given = tables_of(5), iter(range(5))
    chance = np.exp(made_up)
    if method == "gibbs":
        chance /= chance.sum(axis=2, keepdims=True)

    def draw_says(*arguments):
        if method != "gibbs":
            return made_up[next(given)]
        n_topics = arguments[3].words.shape[1]
        return DatedTopics(chance[next(given)], sparse.csr_array((len(NEW), n_topics)))

    monkeypatch.setattr(shards, name, draw_says)
    found = fitted.predict_time(NEW, evidence="topics", method=method, n_draws=5)
    expected = np.zeros((len(NEW), 4))
    for b in range(5):
        expected += chance[b]
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12)
    assert list(found.columns) == sorted(set(YEAR))


def test_shares_of_new_documents_are_averaged_over_draws(fitted, monkeypatch):
    """The rates of a topic are added over five draws wherever it is in them, then normalised."""
    seen = []

    def rates(rng, documents, odds, draw, **_):
        seen.append(
            (draw, np.random.default_rng(len(seen)).random((len(NEW), draw.words.shape[1])))
        )
        return seen[-1][1]

    monkeypatch.setattr(shards, "infer_usage", rates)
    found = fitted.transform(NEW, t=[1900, 1901, 1902])
    places = np.linspace(len(fitted.draws_) - 1, 0, 5).round().astype(int)
    assert [draw.sweep for draw, _ in seen] == [fitted.draws_[i].sweep for i in places]
    expected = np.zeros(found.shape)
    for i, (_, rate) in zip(places, seen, strict=True):
        for topic, k in enumerate(fitted._tables.found[i]):
            if k >= 0:
                expected[:, topic] += rate[:, k]
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True))


def test_documents_without_a_time_may_come_from_every_date_alike(monkeypatch):
    """Where dates are pooled, a row is as likely as the dates it stands for are many."""
    day = np.repeat([0, 1, 2, 50, 51, 90, 91, 92, 93, 94], 4)
    model = TopicModel(
        max_topics=40, max_rows=3, n_sweeps=12, n_draws=3, n_chains=1, random_state=0, quiet=True
    ).fit(X, t=day)
    asked = []

    def rates(rng, documents, odds, draw, **given):
        asked.append(given)
        return np.ones((len(NEW), draw.words.shape[1]))

    monkeypatch.setattr(shards, "infer_usage", rates)
    model.transform(NEW)
    row_of = dict(zip(day.tolist(), model.covariates_.row.tolist(), strict=True))
    many = [sum(row == r for row in row_of.values()) for r in range(len(model.covariates_.rows))]
    assert sum(many) == 10
    assert len(set(many)) > 1
    for given in asked:
        assert not given["known"]
        np.testing.assert_allclose(np.exp(given["log_prior_C"]), many)
