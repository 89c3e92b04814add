import numpy as np
import pytest
from scipy.special import expit, softmax
from tiny_documents import (
    assert_mean,
    documents_of,
    draw_of,
    enumerate_topics,
    length_pmf,
    random_draw,
)

from thincrm.errors import InvalidInput
from thincrm.inference.engine import Serial
from thincrm.models.topics.predict.dater import Method
from thincrm.models.topics.predict.dates import log_likelihood_at
from thincrm.models.topics.predict.new_documents import date_topics, infer_usage, mean_rates
from thincrm.models.topics.predict.shards import dates_of, new_shards, shares_of
from thincrm.models.topics.usage import Usage
from thincrm.numerics.threads import using_threads

WORDS = [[0], [3, 1, 3], [2, 0, 1, 3]]
EVEN = np.zeros(5)  # log prior of five candidates


def exact_rates(draw, log_odds_CK, prior_C, word):
    """Return the (K,) posterior mean rates of a document from one of the candidates."""
    parts = [enumerate_topics(draw, row, word) for row in log_odds_CK]
    total = sum(p * chance for p, (chance, _) in zip(prior_C, parts, strict=True))
    return sum(p * rate for p, (_, rate) in zip(prior_C, parts, strict=True)) / total


@pytest.mark.parametrize("burstiness", [0.0, 0.1])
@pytest.mark.parametrize("word", WORDS)
def test_rates_at_a_known_covariate_equal_enumeration(word, burstiness):
    seed, n_copies = 11, 4000
    draw = random_draw(seed, burstiness=burstiness)
    rows = np.arange(n_copies) % 2
    copies = documents_of([word] * n_copies)
    found = mean_rates(seed, copies, draw.log_odds[rows], draw, 200, known=True)
    pairs = np.concatenate([found[::2], found[1::2]], axis=1)
    expected = [exact_rates(draw, draw.log_odds[[row]], [1.0], word) for row in (0, 1)]
    assert_mean(pairs, np.concatenate(expected), seed)


@pytest.mark.parametrize("burstiness", [0.0, 0.1])
@pytest.mark.parametrize("word", WORDS)
def test_rates_at_an_unknown_covariate_equal_enumeration(word, burstiness):
    seed, n_copies, prior = 12, 2000, np.array([0.2, 0.5, 0.3])
    draw = random_draw(seed, burstiness=burstiness)
    copies = documents_of([word] * n_copies)
    found = mean_rates(
        seed, copies, draw.log_odds, draw, 200, known=False, log_prior_C=np.log(prior)
    )
    assert_mean(found, exact_rates(draw, draw.log_odds, prior, word), seed)


def test_shares_are_normalised_rates():
    draw = random_draw(1)
    documents = documents_of([*WORDS, []])
    found = infer_usage(5, documents, draw.log_odds, draw, known=False)
    rates = mean_rates(5, documents, draw.log_odds, draw, known=False)
    np.testing.assert_allclose(found, rates / rates.sum(axis=1, keepdims=True))


def test_threads_do_not_change_a_bit():
    draw = random_draw(1, n_topics=20, n_rows=5)
    rng = np.random.default_rng(1)
    documents = documents_of([rng.integers(0, 4, n) for n in rng.integers(0, 30, 50)])
    rows = rng.integers(0, 5, 50)
    for known, log_odds in ((False, draw.log_odds), (True, draw.log_odds[rows])):
        found = []
        for n_threads in (1, 2):
            with using_threads(n_threads):
                found.append(infer_usage(9, documents, log_odds, draw, known=known))
        np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(found[0].sum(axis=1), 1.0)


def test_empty_documents_have_the_prior_mean():
    draw = random_draw(2)
    mean = expit(draw.log_odds) * draw.usage.shape * draw.usage.q / (1 - draw.usage.q)
    documents = documents_of([[], [0, 1], []])
    found = infer_usage(0, documents, draw.log_odds, draw, known=True)
    expected = mean / mean.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[[0, 2]], expected[[0, 2]])
    prior = np.array([0.2, 0.5, 0.3])
    found = infer_usage(0, documents, draw.log_odds, draw, known=False, log_prior_C=np.log(prior))
    np.testing.assert_allclose(found[[0, 2]], np.tile(prior @ mean / (prior @ mean).sum(), (2, 1)))
    none = infer_usage(0, documents_of([]), draw.log_odds, draw, known=False)
    assert none.shape == (0, 3)


def test_sure_gates_give_no_nan_and_shut_topics_no_share():
    draw = random_draw(4)
    words = [[9, 0, 0], [0, 9, 0], [0, 0, 9], [0, 0, 0]]
    draw = draw_of(words, draw.usage, draw.log_odds, 1e-60)
    log_odds = np.array([[np.inf, -np.inf, 800.0], [-np.inf] * 3, [-800.0, 0.0, np.inf]])
    documents = documents_of([[0, 1, 2, 2], [0, 2], [3, 3]])
    found = infer_usage(0, documents, log_odds, draw, known=True)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found[0, 1] == 0.0
    np.testing.assert_allclose(found[1], 1 / 3)  # all topics shut
    found = infer_usage(0, documents, log_odds, draw, known=False)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found[1, 0] > 0.1  # only the first candidate has word 0
    assert found[1, 1] == 0.0


def test_no_token_starts_where_its_topic_is_shut():
    """Two tokens in a shut topic would keep each other there for ever."""
    draw = random_draw(3)
    log_odds = np.tile([1.0, -np.inf, 0.5], (200, 1))
    documents = documents_of([[0, 0, 1, 1, 2]] * 200)
    found = infer_usage(0, documents, log_odds, draw, 4, known=True)
    assert np.all(found[:, 1] == 0.0)


def test_long_documents_do_not_start_in_a_topic_of_a_few_words():
    """One of a token that suits badly, opened by chance, would keep two hundred that follow it."""
    shape, q = np.array([2.0, 0.03]), np.full(2, 60 / 61)
    log_odds = np.array([[-6.9, 0.5], [2.7, -1.0]])
    words = [[250, 1], [250, 0], [250, 0], [250, 0]]
    draw = draw_of(words, Usage(shape, q, np.log1p(-q)), log_odds)
    word = np.repeat(np.arange(4), 60)
    documents = documents_of([word] * 200)
    found = infer_usage(0, documents, log_odds[np.ones(200, int)], draw, 8, known=True)
    assert found[:, 0].min() > 0.5
    expected = softmax(log_likelihood_at(0, documents_of([word]), log_odds, draw, 4000)[0])
    chances = date_topics(0, documents, log_odds, draw, 40).chance.mean(axis=0)
    np.testing.assert_allclose(chances, expected, atol=0.03)


def test_bad_input_is_one_sentence():
    draw = random_draw(0)
    documents = documents_of(WORDS)
    with pytest.raises(InvalidInput, match="vocabulary of the fit"):
        infer_usage(0, documents_of(WORDS, 9), draw.log_odds, draw, known=False)
    with pytest.raises(InvalidInput, match="one row for each document"):
        infer_usage(0, documents, draw.log_odds[:2], draw, known=True)
    with pytest.raises(InvalidInput, match="n_sweeps"):
        infer_usage(0, documents, draw.log_odds, draw, 0, known=False)
    with pytest.raises(InvalidInput, match="each of the 3 candidates"):
        infer_usage(0, documents, draw.log_odds, draw, known=False, log_prior_C=[0.0])


@pytest.mark.parametrize("burstiness", [0.0, 0.1])
@pytest.mark.parametrize("word", WORDS)
def test_chances_of_times_equal_enumeration(word, burstiness):
    """p(t | w) ~ prior(t) p(w | t) / p(length | t), every piece by brute force."""
    seed, n_copies, prior = 13, 2000, np.array([0.2, 0.5, 0.3])
    draw = random_draw(seed, burstiness=burstiness)
    words = [enumerate_topics(draw, row, word)[0] for row in draw.log_odds]
    lengths = [length_pmf(draw.usage, row, len(word))[-1] for row in draw.log_odds]
    copies = documents_of([word] * n_copies)
    for prior_C, log_prior in ((np.ones(3), None), (prior, np.log(prior))):
        expected = prior_C * np.divide(words, lengths)
        chance = date_topics(seed, copies, draw.log_odds, draw, 200, log_prior_C=log_prior).chance
        np.testing.assert_allclose(chance.sum(axis=1), 1.0)
        assert_mean(chance, expected / expected.sum(), seed)


def test_chances_of_times_are_uniform_for_empty_and_impossible_documents():
    draw = random_draw(4)
    draw = draw_of([[9, 0, 0], [0, 9, 0], [0, 0, 9], [0, 0, 0]], draw.usage, draw.log_odds, 1e-60)
    log_odds = np.array([[np.inf, -np.inf, 800.0], [-np.inf] * 3, [-800.0, 0.0, np.inf]])
    found = date_topics(0, documents_of([[], [0, 2], [3]]), log_odds, draw, 8).chance
    np.testing.assert_allclose(found[[0, 2]], 1 / 3)
    np.testing.assert_allclose(found[1], [1.0, 0.0, 0.0], atol=1e-6)


def test_shards_say_what_all_documents_say_together():
    draw = random_draw(1, n_topics=20, n_rows=5)
    rng = np.random.default_rng(1)
    documents = documents_of([rng.integers(0, 4, n) for n in rng.integers(0, 30, 50)])
    how = Method("gibbs", 1, 8)
    for row in (None, rng.integers(0, 5, 50)):
        found = [
            shares_of(
                Serial(), new_shards(documents, row, size), draw, draw.log_odds, EVEN, (9, 1, 0)
            )
            for size in (7, 50)
        ]
        np.testing.assert_allclose(*found, rtol=1e-12)
    few, whole = (
        dates_of(
            Serial(), new_shards(documents, None, size), draw, draw.log_odds, EVEN, (9, 2, 0), how
        )
        for size in (7, 50)
    )
    np.testing.assert_allclose(few.chance, whole.chance, rtol=1e-12)
    np.testing.assert_array_equal(few.used.toarray(), whole.used.toarray())
    nothing = shares_of(
        Serial(), new_shards(documents_of([])), draw, draw.log_odds, EVEN, (9, 1, 0)
    )
    assert nothing.shape == (0, 20)
