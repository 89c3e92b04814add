"""The first guess: its passes, its learned pull and its merges, against plain loops."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binomtest

from thincrm.data.counts import as_counts, tokens
from thincrm.models.topics.first_guess import _Guess, guess_topics
from thincrm.models.topics.guess_kernel import redraw_guess
from thincrm.models.topics.usage import padded
from thincrm.numerics.streams import fresh_key

A = 0.3


def guess_of(X, topic_N, pull):
    return _Guess(tokens(as_counts(X)), np.asarray(topic_N, np.int16), np.asarray(pull, float), A)


def blocks(seed, n_documents=60, n_blocks=3):
    """Return documents of one block of four words each, and whose block each is."""
    rng = np.random.default_rng(seed)
    block = rng.integers(0, n_blocks, n_documents)
    owner = np.arange(4 * n_blocks) // 4
    return rng.poisson(np.where(owner == block[:, None], 3.0, 0.0)), block


def test_counts_follow_the_tokens():
    rng = np.random.default_rng(1)
    guess = guess_of(X := rng.poisson(1.0, (30, 7)), rng.integers(0, 5, X.sum()), np.ones(5))
    count_PK = guess.counted()[0]
    number_PK = np.zeros((7, padded(5)), np.float32)
    number_PK[:, :5] = count_PK + np.float32(A)
    total_K = (count_PK.sum(axis=0) + 7 * A).astype(np.float32)
    documents = guess.documents
    redraw_guess(
        fresh_key(rng), documents.start, documents.word, guess.topic_N, number_PK, total_K,
        np.ones(5, np.float32), np.zeros(1),
    )  # fmt: skip
    now_PK = np.zeros((7, 5))
    np.add.at(now_PK, (documents.word, guess.topic_N), 1)
    assert not np.array_equal(now_PK, count_PK)
    np.testing.assert_allclose(number_PK[:, :5], now_PK + A, rtol=1e-5)
    np.testing.assert_allclose(total_K, now_PK.sum(axis=0) + 7 * A, rtol=1e-5)


def test_a_token_goes_by_its_document_its_word_and_the_pull():
    """Two documents "w" and "ww", the first token's chance given the others, once in 100,000."""
    rng, n, first = np.random.default_rng(2), 4_000, 0
    pull, given = np.array([0.7, 1.8]), np.array([1, 1])  # of the other two tokens, both in topic 1
    other_K = np.bincount(given, minlength=2)
    weight_K = pull * (other_K + A) / (other_K + 2 * A)
    for _ in range(n):
        guess = guess_of([[1, 0], [2, 0]], [0, *given], pull)
        number_PK = np.zeros((2, padded(2)), np.float32)
        number_PK[:, :2] = guess.counted()[0] + np.float32(A)
        total_K = (guess.counted()[0].sum(axis=0) + 2 * A).astype(np.float32)
        alone = np.array([0, 1]), guess.documents.word[:1]
        redraw_guess(
            fresh_key(rng), *alone, guess.topic_N[:1], number_PK, total_K,
            pull.astype(np.float32), np.zeros(1),
        )  # fmt: skip
        first += int(guess.topic_N[0] == 0)
    assert binomtest(first, n, weight_K[0] / weight_K.sum()).pvalue > 1e-5


def test_the_pull_is_learned_by_its_fixed_point():
    rng = np.random.default_rng(3)
    guess = guess_of(X := rng.poisson(1.5, (20, 4)), rng.integers(0, 3, X.sum()), [0.5, 1.0, 2.0])
    size_DK = np.zeros((20, 3), int)
    np.add.at(size_DK, (np.repeat(np.arange(20), X.sum(axis=1)), guess.topic_N), 1)
    pull_K = guess.pull_K.copy()
    for _ in range(5):
        fall = sum(1.0 / (pull_K.sum() + j) for n in X.sum(axis=1) for j in range(n))
        rise_K = [
            sum(1.0 / (pull_K[k] + j) for n in size_DK[:, k] for j in range(n)) for k in range(3)
        ]
        pull_K = pull_K * rise_K / fall
    guess.learn_pull(guess.counted()[2])
    np.testing.assert_allclose(guess.pull_K, pull_K, rtol=1e-10)


def log_joint(X, topic_N, pull_K):
    """Return log p(words, topics of tokens) but for what does not depend on the topics."""
    word_N = np.concatenate([np.repeat(np.arange(X.shape[1]), row) for row in X])
    document_N = np.repeat(np.arange(len(X)), X.sum(axis=1))
    fit = 0.0
    for k, pull in enumerate(pull_K):
        count_P = np.bincount(word_N[topic_N == k], minlength=X.shape[1])
        fit += gammaln(X.shape[1] * A) - gammaln(X.shape[1] * A + count_P.sum())
        fit += (gammaln(A + count_P) - gammaln(A)).sum()
        size_D = np.bincount(document_N[topic_N == k], minlength=len(X))
        fit += (gammaln(pull + size_D) - gammaln(pull)).sum()
    return fit


@pytest.mark.parametrize("alike", [True, False])
def test_two_topics_become_one_where_that_is_likelier(alike):
    """Halves at random of one topic are one; one half for each kind of document is two."""
    X, block = blocks(4, n_blocks=2)
    n_D, rng = X.sum(axis=1), np.random.default_rng(5)
    topic_N = rng.integers(0, 2, n_D.sum()) if alike else np.repeat(block, n_D)
    if alike:
        X = np.concatenate([X[:, :4] + X[:, 4:]], axis=1)  # all documents of one block
        topic_N = rng.integers(0, 2, X.sum())
    guess = guess_of(X, topic_N, [0.4, 0.4])
    gain = log_joint(X, np.zeros_like(topic_N), [0.8]) - log_joint(X, topic_N, [0.4, 0.4])
    assert (gain > X.sum() * np.log(2)) == alike  # the entropy is at most that of fair coins
    guess.merge(guess.counted()[0])
    assert (np.unique(guess.topic_N).size == 1) == alike
    assert guess.pull_K.sum() == pytest.approx(0.8)


def test_the_ways_to_share_tokens_out_count_for_two_topics():
    """One way alone is less likely than one topic; all of them together are likelier."""
    rng, lean = np.random.default_rng(1), 0.9
    theta_KP = np.repeat([[9.0, 1.0], [1.0, 9.0]], 4, axis=1) / 40.0
    X, topic_N = np.zeros((60, 8), int), []
    for d in range(60):
        z = (rng.random(12) < (lean if d % 2 else 1.0 - lean)).astype(int)
        word = np.array([rng.choice(8, p=theta_KP[k]) for k in z])
        X[d] = np.bincount(word, minlength=8)
        topic_N.extend(z[np.argsort(word, kind="stable")])
    topic_N = np.array(topic_N)
    guess = guess_of(X, topic_N, [0.4, 0.4])
    assert log_joint(X, np.zeros_like(topic_N), [0.8]) > log_joint(X, topic_N, [0.4, 0.4])
    guess.merge(guess.counted()[0])
    assert np.unique(guess.topic_N).size == 2


def test_plain_blocks_are_found_and_the_rest_of_the_room_is_given_up():
    X, block = blocks(6)
    topic_N = guess_topics(np.random.default_rng(7), tokens(as_counts(X)), 20, 0.1)
    owner = np.repeat(block, X.sum(axis=1))
    table = np.zeros((3, 20))
    np.add.at(table, (owner, topic_N), 1)
    assert (table > 0).sum() == 3
    assert topic_N.max() == 2  # the most used come first
