"""Perplexity and its error, against loops over documents, words and topics."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from tiny_documents import documents_of, random_draw

from thincrm.inference.engine import Serial
from thincrm.models.topics.predict.heldout_shards import HeldoutWords
from thincrm.models.topics.predict.perplexity import (
    PerplexitySoFar,
    heldout_log_likelihoods,
    perplexity,
)
from thincrm.models.topics.state import shards_of

N_WORDS, N_TOPICS, N_DRAWS = 4, 3, 7
WORDS = [[0, 0, 1, 3], [2, 2, 2], [], [0, 1, 1, 1, 3, 3]]
ROW = np.array([0, 2, 1, 2])
HELDOUT = sparse.csr_array([[2, 0, 1, 1], [0, 3, 1, 0], [1, 0, 0, 0], [0, 2, 0, 5]])
LEVELS = np.array([[0.3], [0.7]])
CASES = {"plain": (0.0, False), "bursts": (0.4, False), "levels, bursts": (0.4, True)}


def kept(case):
    """Return kept draws whose documents use some of the topics."""
    burstiness, with_levels = CASES[case]
    rng, draws = np.random.default_rng(3), []
    for b in range(N_DRAWS):
        draw = random_draw(b, N_WORDS, N_TOPICS, burstiness=burstiness)
        labels = [rng.integers(0, 2, len(words)) for words in WORDS]  # topic 2 is used nowhere
        if burstiness == 0.0:  # then only numbers are kept
            labels = [np.sort(label) for label in labels]
        numbers = [np.bincount(label, minlength=N_TOPICS) for label in labels]
        draw = replace(
            draw,
            documents=sparse.csr_array(np.array(numbers)),
            labels=np.concatenate(labels).astype(np.int32) if burstiness > 0.0 else None,
        )
        if with_levels:
            usage = draw.usage._replace(
                q=LEVELS, log_rest=np.log1p(-LEVELS), log_share=np.log([0.4, 0.6])
            )
            draw = replace(draw, usage=usage, level=rng.integers(0, 2, 4).astype(np.int32))
        draws.append((draw, labels))
    return draws


def plain_rates(draw, labels):
    """Return the (D, P) rates of words: sum_k R_dk P(p | k)."""
    theta, usage = draw.theta.astype(float), draw.usage
    rate = np.zeros((len(WORDS), N_WORDS))
    for d, words in enumerate(WORDS):
        q = usage.q if draw.level is None else np.repeat(usage.q[draw.level[d]], N_TOPICS)
        for k in range(N_TOPICS):
            here = [p for p, z in zip(words, labels[d], strict=True) if z == k]
            opened = expit(draw.log_odds[ROW[d], k])
            silence = opened * (1 - q[k]) ** usage.shape[k]
            expected = q[k] * (usage.shape[k] + len(here))
            if not here:
                expected *= silence / (1 - opened + silence)
            for p in range(N_WORDS):
                urn = theta[p, k] + draw.burstiness * here.count(p)
                rate[d, p] += expected * urn / (1 + draw.burstiness * len(here))
    return rate


def plain_log_perplexity(rates):
    """Return - sum y log f / sum y, f a ratio of sums over draws."""
    rate = np.sum(rates, axis=0)
    share = rate / rate.sum(axis=1, keepdims=True)
    counts = HELDOUT.toarray()
    return -(counts * np.log(share)).sum() / counts.sum()


@pytest.mark.parametrize("case", CASES)
def test_perplexity_is_that_of_the_plain_twin(case):
    draws = kept(case)
    rates = [plain_rates(*pair) for pair in draws]
    given = ROW, HELDOUT, documents_of(WORDS)
    found = perplexity([draw for draw, _ in draws], *given)
    value = np.exp(plain_log_perplexity(rates))
    left = [plain_log_perplexity([r for i, r in enumerate(rates) if i % 5 != b]) for b in range(5)]
    error = value * np.sqrt(4 / 5 * np.square(np.subtract(left, np.mean(left))).sum())
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.error == pytest.approx(error, rel=1e-4)
    assert (found.n_words, found.n_draws) == (HELDOUT.sum(), N_DRAWS)


@pytest.mark.parametrize("case", CASES)
def test_perplexity_so_far_and_of_single_draws(case):
    draws = kept(case)
    rates = [plain_rates(*pair) for pair in draws]
    given = ROW, HELDOUT, documents_of(WORDS)
    so_far = PerplexitySoFar(*given)
    for n, (draw, _) in enumerate(draws, 1):
        expected = np.exp(plain_log_perplexity(rates[:n]))
        assert so_far.add(draw) == pytest.approx(expected, rel=1e-6)
    alone = [-plain_log_perplexity([rate]) for rate in rates]
    found = heldout_log_likelihoods([draw for draw, _ in draws], *given)
    np.testing.assert_allclose(found, alone, rtol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_rates_do_not_depend_on_shards(case):
    draws = [draw for draw, _ in kept(case)]
    some, one = (
        HeldoutWords(shards_of(documents_of(WORDS), ROW, size), HELDOUT, Serial())
        for size in (3, 100)
    )
    np.testing.assert_array_equal(some.rates(draws)[0], one.rates(draws)[0])
    np.testing.assert_array_equal(some.rates(draws)[1], one.rates(draws)[1])
    assert len(shards_of(documents_of(WORDS), ROW, 3)) > 2
