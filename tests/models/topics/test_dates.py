import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from tiny_documents import (
    assert_mean,
    documents_of,
    draw_of,
    enumerate_topics,
    length_pmf,
    random_draw,
)

from thincrm.errors import InvalidInput
from thincrm.models.topics.predict import lengths
from thincrm.models.topics.predict.dates import (
    cheap_log_score,
    log_likelihood_at,
    time_distribution,
)
from thincrm.models.topics.predict.lengths import log_length
from thincrm.models.topics.usage import Usage
from thincrm.numerics.threads import using_threads

WORDS = [[0, 1, 2], [3, 3, 0, 1], [2, 0, 1, 3, 3]]
DISJOINT = np.array([[9, 0, 0], [0, 9, 0], [0, 0, 9], [0, 0, 0]])  # one word a topic


def exact(draw, log_odds_CK, word):
    return np.array([enumerate_topics(draw, row, word)[0] for row in log_odds_CK])


def with_sure_gates(log_odds_CK):
    """Make some gates always open or always shut, every candidate keeping an open topic."""
    sure = log_odds_CK.copy()
    sure[0, 0], sure[1, 1], sure[2, 2], sure[:, 0] = -np.inf, np.inf, -np.inf, [-np.inf, np.inf, 1]
    return sure


@pytest.mark.parametrize("n_particles", [1, 8])
@pytest.mark.parametrize("burstiness", [0.0, 0.4])
@pytest.mark.parametrize("sure", [False, True])
def test_particles_are_unbiased_at_every_candidate(n_particles, sure, burstiness):
    seed = 20130428 + n_particles
    n_copies = 30_000 // n_particles
    for i, word in enumerate(WORDS):
        draw = random_draw(seed + i, burstiness=burstiness)
        log_odds = with_sure_gates(draw.log_odds) if sure else draw.log_odds
        copies = documents_of([word] * n_copies)
        found = log_likelihood_at(seed, copies, log_odds, draw, n_particles, given_length=False)
        expected = exact(draw, log_odds, word)
        assert_mean(np.exp(found), expected, seed)


@pytest.mark.parametrize("burstiness", [0.0, 0.4])
@pytest.mark.parametrize(
    ("word", "n_particles"), [([1, 1, 2, 0, 0, 2], 4), ([0, 0, 1, 1, 3, 3, 2], 10)]
)
def test_resampling_leaves_no_bias(word, n_particles, burstiness):
    """Word 0 is in all topics, which are hardly ever open: what it chose first is seldom right.

    Particles die, and moves, which cannot open two topics at once, hardly mend what is wrong.
    """
    seed = 17
    words = np.array([[10, 10, 10], [60, 2, 10], [2, 30, 10], [5, 5, 60]])
    usage = Usage(np.full(3, 0.3), np.array([0.8, 0.9, 0.9]), np.log([0.2, 0.1, 0.1]))
    log_odds = np.array([[-1.5, 0, 0.5], [0, -1, 1], [-1, 1, -2]]) - 12
    draw = draw_of(words, usage, log_odds, 1.0, burstiness)
    copies = documents_of([word] * (80_000 // n_particles))
    found = log_likelihood_at(seed, copies, log_odds, draw, n_particles, given_length=False)
    assert_mean(np.exp(found), exact(draw, log_odds, word), seed)


def test_given_length_divides_by_the_chance_of_the_length():
    seed = 3
    draw = random_draw(seed)
    word = WORDS[2]
    copies = documents_of([word] * 3000)
    found = log_likelihood_at(seed, copies, draw.log_odds, draw, 10)
    chance = [length_pmf(draw.usage, row, len(word))[-1] for row in draw.log_odds]
    assert_mean(np.exp(found), exact(draw, draw.log_odds, word) / chance, seed)


def test_likelihoods_given_length_sum_to_one_over_all_documents():
    draw = random_draw(11, n_words=3)
    bags = [[a, b, c] for a in range(3) for b in range(a, 3) for c in range(b, 3)]
    log_odds = draw.log_odds[:1]  # one candidate, so that the sum has a small error
    total = [
        np.exp(log_likelihood_at(r, documents_of(bags, 3), log_odds, draw, 50)).sum()
        for r in range(40)
    ]
    share = draw.theta.astype(float).sum(axis=0)
    np.testing.assert_allclose(share, 1.0, rtol=1e-6)
    assert_mean(np.array(total)[:, None], [1.0], "0..39")


def test_posterior_of_the_candidates_equals_enumeration():
    seed, n_copies = 5, 4000
    draw, word, prior = random_draw(seed), WORDS[1], np.array([0.2, 0.5, 0.3])
    found = log_likelihood_at(
        seed, documents_of([word] * n_copies), draw.log_odds, draw, 5, given_length=False
    )
    joint = prior * exact(draw, draw.log_odds, word)
    posterior = joint / joint.sum()
    weight = prior * np.exp(found)
    assert_mean(
        weight / joint.sum() - posterior * weight.sum(1)[:, None] / joint.sum(), [0] * 3, seed
    )
    averaged = time_distribution(found[:, None, :], np.log(prior))  # copies in the place of draws
    np.testing.assert_allclose(averaged[0], weight.mean(0) / weight.mean(0).sum(), rtol=1e-10)


@pytest.mark.parametrize(
    ("shape", "q", "log_odds"),
    [
        ([0.5, 1.5, 3.0], [0.6, 0.9, 0.2], [-1.0, 0.3, 2.0]),
        ([0.02, 0.5], [0.999, 0.5], [-8.0, np.inf]),
        ([1.0, 2.0, 0.3], [0.97, 0.97, 1e-6], [np.inf, -np.inf, 0.0]),
        ([40.0, 0.7], [0.5, 0.95], [0.0, -3.0]),
    ],
)
def test_length_equals_brute_force_convolution(shape, q, log_odds):
    """Down to chances of 1e-100 and below."""
    usage = Usage(np.array(shape), np.array(q), np.log1p(-np.array(q)))
    n_most = 700
    length = np.random.default_rng(0).permutation(n_most + 1)
    found = log_length(usage, np.array([log_odds]), length)[:, 0]
    expected = length_pmf(usage, np.array(log_odds), n_most)[length]
    assert expected.min() > 1e-290
    np.testing.assert_allclose(found, np.log(expected), atol=1e-7)


def test_candidates_that_share_a_circle_have_their_own_lengths(monkeypatch):
    """Means from 0.4 to 500 words; some candidates lack topics; room for three at a time."""
    rng = np.random.default_rng(3)
    q = np.array([0.999, 0.97, 0.6, 0.2, 1e-3])
    usage = Usage(np.array([0.5, 4.0, 30.0, 2.0, 0.1]), q, np.log1p(-q))
    log_odds = rng.normal(0.0, 4.0, (12, 5))
    log_odds[2, :2], log_odds[5, 2:], log_odds[7], log_odds[8, 0] = -np.inf, -np.inf, -9.0, np.inf
    n_most = 700
    length = rng.permutation(n_most + 1)
    expected = np.log([length_pmf(usage, row, n_most)[length] for row in log_odds]).T
    seen = expected > np.log(1e-290)
    assert seen.mean() > 0.8
    for room in (lengths._ROOM, 3 * 8 * n_most):
        monkeypatch.setattr(lengths, "_ROOM", room)
        found = log_length(usage, log_odds, length)
        np.testing.assert_allclose(found[seen], expected[seen], atol=1e-7)


def test_length_of_very_long_documents():
    """One negative binomial, whose chances are known in logs; q within 1e-12 of one."""
    shape, rest, n = 0.3, 1e-12, np.array([0, 1, 50_000])
    usage = Usage(np.array([shape]), np.array([1 - rest]), np.array([np.log(rest)]))
    expected = gammaln(shape + n) - gammaln(shape) - gammaln(n + 1) + shape * np.log(rest)
    found = log_length(usage, np.array([[np.inf]]), n)[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_document_longer_than_all_shut_topics_allow_is_impossible():
    usage = random_draw(0).usage
    found = log_length(usage, np.full((1, 3), -np.inf), np.array([0, 1, 9]))
    np.testing.assert_array_equal(found[:, 0], [0.0, -np.inf, -np.inf])


def test_threads_do_not_change_a_bit():
    draw = random_draw(1, burstiness=0.1)
    rng = np.random.default_rng(1)
    documents = documents_of([rng.integers(0, 4, n) for n in rng.integers(0, 30, 50)])
    found = []
    for n_threads in (1, 2):
        with using_threads(n_threads):
            found.append(log_likelihood_at(9, documents, draw.log_odds, draw, 20))
    np.testing.assert_array_equal(*found)
    assert np.isfinite(found[0]).all()


PLAIN = """
import numpy as np
from tiny_documents import documents_of, random_draw
from thincrm.models.topics.predict.dates import log_likelihood_at
with np.errstate(over="ignore"):
    draw = random_draw(2, n_topics=6, burstiness=0.1)
    word = np.random.default_rng(0).integers(0, 4, 25)
    documents = documents_of([word, word[:9]])
    print(log_likelihood_at(3, documents, draw.log_odds, draw, 12).tobytes().hex())
"""


def test_compiled_particles_equal_their_plain_body_bit_for_bit():
    found = [
        subprocess.run(
            [sys.executable, "-c", PLAIN],
            cwd=Path(__file__).parent,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for environment in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert len(found[0]) > 90
    assert found[0] == found[1]


def test_empty_documents_say_nothing_given_their_length_and_silence_otherwise():
    draw = random_draw(2)
    documents = documents_of([[], [0], []])
    given = log_likelihood_at(0, documents, draw.log_odds, draw)
    np.testing.assert_array_equal(given[[0, 2]], 0.0)
    prior = np.log([0.2, 0.3, 0.5])
    np.testing.assert_allclose(time_distribution(given[None], prior)[0], np.exp(prior))
    silent = log_likelihood_at(0, documents, draw.log_odds, draw, given_length=False)
    np.testing.assert_allclose(np.exp(silent[0]), exact(draw, draw.log_odds, []))
    none = log_likelihood_at(0, documents_of([]), draw.log_odds, draw)
    assert none.shape == (0, 3)


def test_sure_gates_give_no_nan_and_impossible_dates_are_minus_infinity():
    log_odds = np.array([[np.inf, -np.inf, -np.inf], [np.inf, np.inf, -np.inf], [-800.0, 800, 0]])
    draw = draw_of(DISJOINT, random_draw(4).usage, log_odds, 1e-60)
    documents = documents_of([[0], [0, 1], [1, 3], [3], [0, 2], [0, 1, 2]])
    for given_length in (False, True):
        found = log_likelihood_at(0, documents, log_odds, draw, 20, given_length)
        assert not np.isnan(found).any()
        np.testing.assert_array_equal(
            np.isfinite(found),
            [[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]],
        )
        chance = time_distribution(found[None], np.zeros(3))
        np.testing.assert_allclose(chance.sum(axis=1), 1.0)
        np.testing.assert_allclose(chance[[4, 5]], 1 / 3)  # impossible everywhere
    cheap = cheap_log_score(documents, log_odds, draw)
    assert not np.isnan(cheap).any()
    np.testing.assert_array_equal(np.isfinite(cheap), np.isfinite(found))


def test_all_gates_shut_give_no_nan():
    draw = random_draw(4)
    log_odds = draw.log_odds.copy()
    log_odds[1] = -np.inf
    documents = documents_of([[0, 1], []])
    for given_length in (False, True):
        found = log_likelihood_at(0, documents, log_odds, draw, 20, given_length)
        np.testing.assert_array_equal(np.isfinite(found), [[1, 0, 1], [1, 1, 1]])
        nowhere = log_likelihood_at(0, documents, log_odds[[1]], draw, 20, given_length)
        np.testing.assert_array_equal(nowhere, 0.0)  # no word is known, so both are empty
    np.testing.assert_array_equal(
        np.isfinite(cheap_log_score(documents, log_odds, draw)), [[1, 0, 1], [1, 1, 1]]
    )


def test_cheap_score_is_the_plug_in_multinomial():
    draw = random_draw(6)
    usage = draw.usage
    mean = usage.shape * usage.q / (1 - usage.q) / (1 + np.exp(-draw.log_odds))
    chance = draw.theta.astype(float) @ (mean / mean.sum(axis=1, keepdims=True)).T
    expected = [np.log(chance[word]).sum(axis=0) for word in WORDS]
    np.testing.assert_allclose(cheap_log_score(documents_of(WORDS), draw.log_odds, draw), expected)


def test_time_distribution_averages_likelihoods_not_logs():
    rng = np.random.default_rng(0)
    log_likelihood = rng.normal(-5000.0, 3.0, (4, 5, 3))
    prior = np.log([0.5, 0.25, 0.25])
    joint = logsumexp(log_likelihood + prior, axis=0)
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(time_distribution(log_likelihood, prior), expected)


def test_bad_input_is_one_sentence():
    draw = random_draw(0)
    documents = documents_of(WORDS)
    with pytest.raises(InvalidInput, match="vocabulary of the fit"):
        log_likelihood_at(0, documents_of(WORDS, 9), draw.log_odds, draw)
    with pytest.raises(InvalidInput, match="column for each of the draw's 3 topics"):
        log_likelihood_at(0, documents, draw.log_odds[:, :2], draw)
    with pytest.raises(InvalidInput, match="NaN"):
        cheap_log_score(documents, np.full((2, 3), np.nan), draw)
    with pytest.raises(InvalidInput, match="n_particles"):
        log_likelihood_at(0, documents, draw.log_odds, draw, 0)
    with pytest.raises(InvalidInput, match="each of the 3 candidates"):
        time_distribution(np.zeros((1, 2, 3)), np.zeros(2))
    with pytest.raises(InvalidInput, match="finite somewhere"):
        time_distribution(np.zeros((1, 2, 3)), np.full(3, -np.inf))
    with pytest.raises(InvalidInput, match="at least one draw"):
        time_distribution(np.zeros((2, 3)), np.zeros(3))
    with pytest.raises(InvalidInput, match="not NaN"):
        time_distribution(np.full((1, 2, 3), np.nan), np.zeros(3))
