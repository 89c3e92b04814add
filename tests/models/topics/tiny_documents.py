"""Globals at random, and everything about a tiny document by adding up all topics of its tokens."""

import itertools

import numpy as np
from scipy import sparse
from scipy.special import expit, gammaln
from scipy.stats import nbinom, norm

from thincrm.data.counts import Tokens
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.usage import Usage

FALSE_ALARM = 1e-5


def random_draw(seed, n_words=4, n_topics=3, n_rows=3, burstiness=0.0):
    """Return globals whose topics and activations are far apart."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 12, (n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.6)
    words[0] += 1
    q = rng.uniform(0.3, 0.9, n_topics)
    usage = Usage(rng.uniform(0.3, 2.0, n_topics), q, np.log1p(-q))
    log_odds = rng.normal(-0.5, 2.0, (n_rows, n_topics))
    return draw_of(words, usage, log_odds, burstiness=burstiness)


def draw_of(words, usage, log_odds, concentration=0.05, burstiness=0.0):
    """Return a draw of given globals."""
    return TopicDraw(
        chain=0, sweep=0, words=sparse.csc_array(words), concentration=concentration, usage=usage,
        log_odds=log_odds, x=None, documents=None, scalars={}, burstiness=burstiness,
    )  # fmt: skip


def documents_of(words, n_words=4):
    """Return Tokens of lists of words."""
    start = np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int64)
    return Tokens(start, np.concatenate([*map(np.asarray, words), []]).astype(np.int32), n_words)


def usage_pmf(usage, log_odds_K, n_most):
    """Return the (K, n_most + 1) probabilities of n tokens in topic k."""
    n = np.arange(n_most + 1)
    opened = expit(log_odds_K)[:, None]
    pmf = opened * nbinom.pmf(n, usage.shape[:, None], np.exp(usage.log_rest)[:, None])
    pmf[:, 0] += 1 - opened[:, 0]
    return pmf


def length_pmf(usage, log_odds_K, n_most):
    """Return P(length = 0..n_most): one topic convolved after the other."""
    total = np.eye(1, n_most + 1)[0]
    for pmf in usage_pmf(usage, log_odds_K, n_most):
        total = np.convolve(total, pmf)[: n_most + 1]
    return total


def chance_of_words(theta, burstiness, word, z):
    """Return p(w | z): theta, or, of bursty words, a Polya urn of s = 1 / burstiness balls."""
    if burstiness == 0.0:
        return np.prod([theta[p, k] for p, k in zip(word, z, strict=True)])
    log_chance, s = 0.0, 1 / burstiness
    for k in set(z):
        n = np.bincount([p for p, j in zip(word, z, strict=True) if j == k], minlength=len(theta))
        urn = s * theta[:, k]
        log_chance += gammaln(urn.sum()) - gammaln(urn.sum() + n.sum())
        log_chance += np.sum(gammaln(urn + n) - gammaln(urn))
    return np.exp(log_chance)


def enumerate_topics(draw, log_odds_K, word):
    """Return p(w) and the (K,) sums of p(w, z) E[rate_k | z] over all z, at one covariate."""
    theta, usage = draw.theta.astype(float), draw.usage
    n_topics, n_words = theta.shape[1], theta.shape[0]
    pmf = usage_pmf(usage, log_odds_K, len(word))
    opened = expit(log_odds_K)
    unused = opened * (1 - usage.q) ** usage.shape / pmf[:, 0]  # P(open | no token)
    factorial = np.cumprod([1, *range(1, len(word) + 1)])
    total, rate = 0.0, np.zeros(n_topics)
    for z in itertools.product(range(n_topics), repeat=len(word)):
        n = np.bincount(z, minlength=n_topics) if z else np.zeros(n_topics, int)
        chance = np.prod(pmf[np.arange(n_topics), n] * factorial[n])
        chance *= chance_of_words(theta, draw.burstiness, word, z)
        total += chance
        rate += chance * np.where(n > 0, 1.0, unused) * usage.q * (usage.shape + n)
    repeats = np.prod(factorial[np.bincount(word, minlength=n_words)]) if len(word) else 1
    return total / repeats, rate / repeats


def assert_mean(sample_RJ, expected_J, seed):
    """Compare the means of independent rows with what is expected, all columns at once."""
    sample, expected = np.atleast_2d(sample_RJ), np.asarray(expected_J)
    gap = sample.mean(axis=0) - expected
    error = sample.std(axis=0, ddof=1) / np.sqrt(len(sample))
    most = norm.isf(FALSE_ALARM / 2 / expected.size)
    still = error < 1e-12 * np.abs(expected)  # columns without randomness
    np.testing.assert_allclose(
        gap[still] / np.maximum(np.abs(expected[still]), 1e-300), 0, atol=1e-9
    )
    z = gap[~still] / error[~still]
    assert np.all(np.abs(z) < most), f"seed {seed}: z = {np.round(z, 2)}, more than {most:.2f}"
