"""New documents whose level is one more unknown: every answer against enumeration."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from tiny_documents import (
    assert_mean,
    documents_of,
    enumerate_topics,
    length_pmf,
    random_draw,
)

from thincrm.models.topics.factors import GammaNegativeBinomialFactor
from thincrm.models.topics.predict.dates import cheap_log_score, log_likelihood_at
from thincrm.models.topics.predict.inputs import mean_words
from thincrm.models.topics.predict.lengths import log_length
from thincrm.models.topics.predict.new_documents import date_topics, infer_usage, mean_rates
from thincrm.models.topics.usage import Usage
from thincrm.numerics.threads import using_threads

WORDS = [[0], [3, 1, 3], [2, 0, 1, 3]]
ODDS, SHARE = np.array([0.2, 1.0, 7.0]), np.array([0.2, 0.5, 0.3])


def draw_with_levels(seed, burstiness=0.0):
    draw = random_draw(seed, burstiness=burstiness)
    usage = GammaNegativeBinomialFactor(tuple(ODDS)).usage(None, np.log(draw.usage.shape))
    return replace(draw, usage=usage._replace(log_share=np.log(SHARE)))


def plain_draws(draw):
    """Return the draw as it is for documents of each level."""
    for odds in ODDS:
        q = np.full(draw.usage.shape.size, odds / (1 + odds))
        yield replace(draw, usage=Usage(draw.usage.shape, q, np.log1p(-q)))


def exact(draw, log_odds_K, word):
    """Return p(w) and the sums of p(w, z) E[rate | z] at one covariate, over all levels."""
    parts = [enumerate_topics(one, log_odds_K, word) for one in plain_draws(draw)]
    return sum(share * part[0] for share, part in zip(SHARE, parts, strict=True)), sum(
        share * part[1] for share, part in zip(SHARE, parts, strict=True)
    )


def exact_lengths(draw, log_odds_K, n_most):
    parts = [length_pmf(one.usage, log_odds_K, n_most) for one in plain_draws(draw)]
    return SHARE @ np.array(parts)


@pytest.mark.parametrize("burstiness", [0.0, 0.1])
@pytest.mark.parametrize("word", WORDS)
def test_rates_at_a_known_covariate(word, burstiness):
    seed, n_copies = 21, 4000
    draw = draw_with_levels(seed, burstiness)
    rows = np.arange(n_copies) % 2
    found = mean_rates(
        seed, documents_of([word] * n_copies), draw.log_odds[rows], draw, 200, known=True
    )
    expected = [exact(draw, row, word) for row in draw.log_odds[:2]]
    pairs = np.concatenate([found[::2], found[1::2]], axis=1)
    assert_mean(pairs, np.concatenate([rate / total for total, rate in expected]), seed)


@pytest.mark.parametrize("word", WORDS)
def test_rates_at_an_unknown_covariate(word):
    seed, prior = 22, np.array([0.2, 0.5, 0.3])
    draw = draw_with_levels(seed)
    copies = documents_of([word] * 2000)
    found = mean_rates(
        seed, copies, draw.log_odds, draw, 200, known=False, log_prior_C=np.log(prior)
    )
    total, rate = zip(*(exact(draw, row, word) for row in draw.log_odds), strict=True)
    assert_mean(found, prior @ np.array(rate) / (prior @ np.array(total)), seed)


@pytest.mark.parametrize("word", WORDS)
def test_chances_of_times(word):
    seed, draw = 23, draw_with_levels(23)
    words = [exact(draw, row, word)[0] for row in draw.log_odds]
    lengths = [exact_lengths(draw, row, len(word))[-1] for row in draw.log_odds]
    expected = np.divide(words, lengths)
    found = date_topics(seed, documents_of([word] * 2000), draw.log_odds, draw, 200).chance
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert_mean(found, expected / expected.sum(), seed)


@pytest.mark.parametrize("given_length", [False, True])
def test_particles_are_unbiased(given_length):
    seed, word, n_particles = 24, WORDS[2], 8
    draw = draw_with_levels(seed)
    expected = np.array([exact(draw, row, word)[0] for row in draw.log_odds])
    if given_length:
        expected /= [exact_lengths(draw, row, len(word))[-1] for row in draw.log_odds]
    copies = documents_of([word] * 4000)
    found = log_likelihood_at(seed, copies, draw.log_odds, draw, n_particles, given_length)
    assert_mean(np.exp(found), expected, seed)


def test_lengths_are_mixtures():
    draw, n_most = draw_with_levels(25), 60
    found = log_length(draw.usage, draw.log_odds, np.arange(n_most + 1))
    expected = [np.log(exact_lengths(draw, row, n_most)) for row in draw.log_odds]
    np.testing.assert_allclose(found, np.transpose(expected), atol=1e-7)


def test_expected_words_are_means_over_levels():
    draw = draw_with_levels(26)
    mean = expit(draw.log_odds) * draw.usage.shape * (SHARE @ ODDS)
    np.testing.assert_allclose(mean_words(draw.usage, draw.log_odds), mean)
    documents = documents_of([[], [0, 1]])
    found = infer_usage(0, documents, draw.log_odds[:2], draw, known=True)
    np.testing.assert_allclose(found[0], mean[0] / mean[0].sum())
    share = mean / mean.sum(axis=1, keepdims=True)
    cheap = np.log(share @ draw.theta[:2].T.astype(float)).sum(axis=1)
    np.testing.assert_allclose(cheap_log_score(documents, draw.log_odds, draw)[1], cheap, rtol=1e-6)


def test_threads_do_not_change_a_bit():
    draw, rng = draw_with_levels(27), np.random.default_rng(1)
    documents = documents_of([rng.integers(0, 4, n) for n in rng.integers(0, 30, 50)])
    for known, log_odds in ((False, draw.log_odds), (True, draw.log_odds[np.arange(50) % 3])):
        found = []
        for n_threads in (1, 2):
            with using_threads(n_threads):
                found.append(infer_usage(9, documents, log_odds, draw, known=known))
        np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(found[0].sum(axis=1), 1.0)


def test_sure_gates_give_no_nan():
    draw = draw_with_levels(28)
    log_odds = np.array([[np.inf, -np.inf, 800.0], [-np.inf] * 3, [-800.0, 0.0, np.inf]])
    documents = documents_of([[0, 1, 2, 2], [0, 2], [3, 3]])
    for known in (True, False):
        found = infer_usage(0, documents, log_odds, draw, known=known)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
    chance = date_topics(0, documents, log_odds, draw, 8).chance
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
