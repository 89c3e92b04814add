"""Small documents whose posterior over labellings is known: every labelling is enumerated."""

import itertools

import numpy as np
from scipy import stats
from scipy.special import expit, factorial, gammaln

from thincrm.models.topics.kernel import Corpus, redraw_documents
from thincrm.models.topics.tally import Tally
from thincrm.models.topics.usage import Usage, padded, token_rates

WORDS = np.array([0, 0, 1, 1, 3])
THETA_PK = np.array([[0.5, 0.1, 0.2], [0.1, 0.6, 0.2], [0.3, 0.2, 0.1], [0.1, 0.1, 0.5]])


def labellings(n_tokens, n_topics):
    """Return the (K^N, N) labellings; the first token's label varies slowest."""
    return np.array(list(itertools.product(range(n_topics), repeat=n_tokens)))


def exact_law(words, theta_PK, shape_K, q_K, log_odds_K, burstiness=0.0):
    """Return the posterior probability of every labelling.

    p(z) ~ prod_k P_k(n_k) n_k! p(words in k), where P_k(n) is NB(shape, q) with probability a and
    a point at 0 otherwise; words are independent, or a Polya urn.
    """
    z_ZN = labellings(len(words), len(shape_K))
    weight_Z = np.exp(log_words(words, z_ZN, theta_PK, burstiness))
    for k, log_odds in enumerate(log_odds_K):
        n_Z = (z_ZN == k).sum(1)
        open_Z = stats.nbinom.pmf(n_Z, shape_K[k], 1.0 - q_K[k])
        share_Z = np.where(n_Z == 0, 1.0 - expit(log_odds), 0.0) + expit(log_odds) * open_Z
        weight_Z = weight_Z * share_Z * factorial(n_Z)
    return weight_Z / weight_Z.sum()


def log_words(words, z_ZN, theta_PK, burstiness):
    """Return log p(words | labels): Dirichlet-multinomial with urn s theta, s = 1 / burstiness."""
    if burstiness == 0.0:
        with np.errstate(divide="ignore"):
            return np.log(theta_PK[words, z_ZN]).sum(1)
    s, total = 1.0 / burstiness, np.zeros(len(z_ZN))
    for k in range(theta_PK.shape[1]):
        for p in np.unique(words):
            c = ((z_ZN == k) & (words == p)).sum(1)
            ball = s * theta_PK[p, k]
            total += gammaln(ball + c) - gammaln(ball)
        total -= gammaln(s + (z_ZN == k).sum(1)) - gammaln(s)
    return total


def exact_scan(law_Z, start, n_tokens, n_topics):
    """Return the law after one scan in order from labelling number `start`: conditionals, exact."""
    law = law_Z.reshape((n_topics,) * n_tokens)
    now = np.zeros(law.shape)
    now.flat[start] = 1.0
    for n in range(n_tokens):
        total = law.sum(n, keepdims=True)
        given = np.divide(law, total, out=np.zeros(law.shape), where=total > 0)
        now = now.sum(n, keepdims=True) * given
    return now.ravel()


def run_copies(
    rng, labels_DN, words, theta_PK, usage, log_odds_TK, *, row_D=None, burstiness=0.0, n_scans=1,
    change=lambda rates: rates,
):  # fmt: skip
    """Scan copies of one document, a copy a row of `labels_DN`; return the new labels."""
    n_copies, n_tokens = labels_DN.shape
    row_D = np.zeros(n_copies, np.int32) if row_D is None else row_D
    start_D = np.arange(n_copies + 1) * n_tokens
    topic, word = labels_DN.ravel().astype(np.int16), np.tile(words, n_copies)
    for _ in range(n_scans):
        run(
            rng, start_D, word, topic, row_D, theta_PK, usage, log_odds_TK, burstiness,
            change=change,
        )  # fmt: skip
    return topic.reshape(labels_DN.shape).astype(int)


def run(
    rng, start_D, word_N, topic_N, row_D, theta_PK, usage, log_odds_TK, burstiness=0.0,
    redraw=redraw_documents, change=lambda rates: rates,
):  # fmt: skip
    """Scan any documents in place; return (fresh draws, number of topics, those, sizes)."""
    n_words, n_topics = theta_PK.shape
    theta = np.zeros((n_words, padded(n_topics)), np.float32)
    theta[:, :n_topics] = theta_PK
    longest = int(np.diff(start_D).max())
    rates = change(token_rates(usage, log_odds_TK, theta, burstiness, longest))
    n_documents = start_D.size - 1
    order = np.argsort(row_D, kind="stable").astype(np.int32)
    word_N = word_N.astype(np.int32)
    corpus = Corpus(order, row_D, np.arange(n_documents), start_D, word_N)
    n_used = np.zeros(n_documents, np.int32)
    used, size = np.zeros((2, word_N.size), np.int32)
    key = rng.integers(0, 2**64, dtype=np.uint64)
    tally = Tally.none(theta.shape, int(row_D.max()) + 1, n_topics, longest)
    redraw(0, n_documents, key, corpus, rates, topic_N, n_used, used, size, tally)
    return tally.fresh(), n_used, used, size


def usage_of(shape, q):
    """Return the usage NB(shape, q) of every topic."""
    shape, q = np.asarray(shape, float), np.asarray(q, float)
    return Usage(shape, q, np.log1p(-q))


def numbers(labels_DN, n_topics):
    """Return the number of each labelling, as `labellings` counts them."""
    place = n_topics ** np.arange(labels_DN.shape[1])[::-1]
    return labels_DN @ place


def chi_square(labels_DN, law_Z, n_topics):
    """Return the p-value of drawn labellings; cells expected below 10 are taken together."""
    seen_Z = np.bincount(numbers(labels_DN, n_topics), minlength=law_Z.size)
    if np.any(seen_Z[law_Z == 0.0] > 0):
        return 0.0
    expected_Z = law_Z * seen_Z.sum()
    rank = np.argsort(expected_Z)[::-1]
    lumps = np.minimum(np.cumsum(expected_Z[rank][::-1])[::-1] // 10, 1)  # 0: a tail below 10
    n_cells = max(1, int(min(np.sum(expected_Z >= 10), np.sum(lumps > 0))))
    cell = np.empty(law_Z.size, int)
    cell[rank] = np.minimum(np.arange(law_Z.size), n_cells - 1)
    seen, expected = np.bincount(cell, seen_Z), np.bincount(cell, expected_Z)
    return 1.0 if n_cells == 1 else stats.chisquare(seen, expected, sum_check=False).pvalue
