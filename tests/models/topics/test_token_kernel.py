"""The token kernel against enumeration: all K^N labellings of small documents."""

import numpy as np
import pytest
from scipy import stats
from token_cases import (
    THETA_PK,
    WORDS,
    chi_square,
    exact_law,
    exact_scan,
    labellings,
    run,
    run_copies,
    usage_of,
)

from thincrm.models.topics.envelope import share_bounds
from thincrm.models.topics.kernel import redraw_documents
from thincrm.models.topics.lanes import LANES, find_topic, fold
from thincrm.models.topics.usage import token_rates

N_COPIES, K, N = 20_000, 3, WORDS.size
HOLES_PK = np.array([[0.5, 0.0, 0.2], [0.0, 1.0, 0.2], [0.5, 0.0, 0.0], [0.0, 0.0, 0.6]])
SHAPE, Q, ODDS = [0.7, 1.3, 0.2], [0.5, 0.3, 0.8], [0.4, -1.0, 2.0]
CASES = {  # shape, q, log odds of being open, topics, burstiness
    "thinned": (SHAPE, Q, ODDS, THETA_PK, 0.0),
    "always open": (SHAPE, Q, [np.inf] * 3, THETA_PK, 0.0),
    "background and thinned": (SHAPE, Q, [np.inf, -2.0, 0.3], THETA_PK, 0.0),
    "nearly shut": (SHAPE, Q, [-4.0, -6.0, -5.0], THETA_PK, 0.0),
    "one surely shut": (SHAPE, Q, [0.4, -300.0, 0.0], THETA_PK, 0.0),
    "one shut for sure": (SHAPE, Q, [0.4, -np.inf, 0.0], THETA_PK, 0.0),
    "q near 0": (SHAPE, [1e-7, 3e-7, 5e-7], ODDS, THETA_PK, 0.0),
    "q near 1": (SHAPE, [1 - 1e-9, 1 - 1e-6, 0.999], [14.0, 18.0, 2.0], THETA_PK, 0.0),
    "large shapes": ([40.0, 90.0, 7.0], [0.1, 0.02, 0.3], ODDS, THETA_PK, 0.0),
    "words with no place in a topic": (SHAPE, Q, ODDS, HOLES_PK, 0.0),
    "bursty": (SHAPE, Q, ODDS, THETA_PK, 0.5),
    "bursty, always open": (SHAPE, Q, [np.inf] * 3, THETA_PK, 0.05),
    "an urn smaller than the shapes": ([6.0, 9.0, 4.0], Q, [3.0, 9.0, np.inf], THETA_PK, 2.0),
}


def law_of(case, words=WORDS):
    shape, q, log_odds, theta, burstiness = CASES[case]
    return exact_law(words, theta, shape, q, log_odds, burstiness)


def scan(rng, start, case, words=WORDS, n_scans=1):
    shape, q, log_odds, theta, burstiness = CASES[case]
    usage, log_odds_TK = usage_of(shape, q), np.array([log_odds])
    return run_copies(
        rng, start, words, theta, usage, log_odds_TK, burstiness=burstiness, n_scans=n_scans
    )


def from_law(rng, law, n_copies=N_COPIES, n_topics=K):
    n_tokens = round(np.log(law.size) / np.log(n_topics)) if n_topics > 1 else N
    return labellings(n_tokens, n_topics)[rng.choice(law.size, n_copies, p=law)]


@pytest.mark.parametrize("case", CASES)
def test_one_scan_from_the_posterior_stays_there(case):
    rng = np.random.default_rng(1)
    law = law_of(case)
    start = from_law(rng, law)
    moved = scan(rng, start, case)
    assert np.any(moved != start)
    assert chi_square(moved, law, K) > 1e-5


@pytest.mark.parametrize("case", CASES)
def test_one_scan_has_the_exact_conditionals(case):
    """From one fixed labelling the law after a scan is a product of conditionals."""
    rng = np.random.default_rng(2)
    law = law_of(case)
    for first in rng.choice(law.size, 2, p=law):
        moved = scan(rng, np.tile(labellings(N, K)[first], (N_COPIES, 1)), case)
        assert chi_square(moved, exact_scan(law, first, N, K), K) > 1e-5


@pytest.mark.parametrize("case", ["thinned", "always open", "large shapes", "bursty"])
def test_scans_from_anywhere_converge(case):
    rng = np.random.default_rng(3)
    start = np.tile([0, 0, 0, 0, 2], (N_COPIES, 1))
    law = law_of(case)
    assert chi_square(scan(rng, start, case), law, K) < 1e-5
    assert chi_square(scan(rng, start, case, n_scans=60), law, K) > 1e-5


@pytest.mark.parametrize("burstiness", [0.0, 0.3])
def test_rows_have_weights_of_their_own(burstiness):
    """Documents at three rows in turn, so that the kernel has to follow their order."""
    rng = np.random.default_rng(4)
    log_odds_TK = np.array([[0.4, -1.0, 2.0], [-3.0, 3.0, 0.0], [np.inf, -5.0, -np.inf]])
    row = np.resize([2, 0, 1, 1], N_COPIES).astype(np.int32)
    laws = [exact_law(WORDS, THETA_PK, SHAPE, Q, odds, burstiness) for odds in log_odds_TK]
    start = np.empty((N_COPIES, N), int)
    for t, law in enumerate(laws):
        start[row == t] = from_law(rng, law, np.sum(row == t))
    usage = usage_of(SHAPE, Q)
    moved = run_copies(
        rng, start, WORDS, THETA_PK, usage, log_odds_TK, row_D=row, burstiness=burstiness
    )
    for t, law in enumerate(laws):
        assert chi_square(moved[row == t], law, K) > 1e-5
    assert chi_square(moved[row == 0], laws[1], K) < 1e-5


def one_bin(rates):
    return share_bounds(rates, len(rates.bin_T), np.inf)


def all_proposals_accepted(rates):
    """Let every row weigh what its bin's bound does."""
    rates = one_bin(rates)
    return rates._replace(unused_TK=rates.bound_BK[rates.bin_T])


@pytest.mark.parametrize("case", CASES)
def test_rows_that_share_bounds_have_weights_of_their_own(case):
    """Beside each case's row others that bound it loosely; one where nothing is open at all."""
    rng = np.random.default_rng(13)
    shape, q, log_odds, theta, burstiness = CASES[case]
    log_odds_TK = np.array([log_odds, [-3.0, 3.0, 0.0], [2.0, -5.0, 4.0], [-np.inf] * 3])
    row = np.resize([2, 0, 1, 0], N_COPIES).astype(np.int32)
    row[:5] = 3
    laws = [exact_law(WORDS, theta, shape, q, odds, burstiness) for odds in log_odds_TK[:3]]
    start = np.zeros((N_COPIES, N), int)
    for t, law in enumerate(laws):
        start[row == t] = from_law(rng, law, np.sum(row == t))
    arguments = start, WORDS, theta, usage_of(shape, q), log_odds_TK
    options = {"row_D": row, "burstiness": burstiness}
    moved = run_copies(rng, *arguments, **options, change=one_bin)
    for t, law in enumerate(laws):
        assert chi_square(moved[row == t], law, K) > 1e-5
    wrong = run_copies(rng, *arguments, **options, n_scans=3, change=all_proposals_accepted)
    assert min(chi_square(wrong[row == t], law, K) for t, law in enumerate(laws)) < 1e-5


def test_bins_have_no_more_rows_than_asked_for_and_bounds_are_not_loose():
    usage, theta = usage_of(SHAPE, Q), np.zeros((4, 16), np.float32)
    log_odds_TK = np.cumsum(np.random.default_rng(14).normal(0, 0.2, (40, 3)), axis=0)
    rates = token_rates(usage, log_odds_TK, theta, 0.0, 3)
    assert share_bounds(rates, 1) is rates
    for most, loosest in ((3, np.inf), (40, 1.2), (40, 1.0)):
        shared = share_bounds(rates, most, loosest)
        n_bins = len(shared.bound_BK)
        np.testing.assert_array_equal(np.unique(shared.bin_T), np.arange(n_bins))
        assert np.all(np.diff(shared.bin_T) >= 0)
        assert np.bincount(shared.bin_T).max() <= most
        for b in range(n_bins):
            rows = rates.unused_TK[shared.bin_T == b]
            np.testing.assert_array_equal(shared.bound_BK[b], rows.max(axis=0))
            assert shared.bound_BK[b].sum() <= loosest * rows.sum(axis=1).min() * (1 + 1e-6)
        assert n_bins == {np.inf: 14, 1.0: 40}.get(loosest, n_bins)
    assert 1 < len(share_bounds(rates, 40, 1.2).bound_BK) < 40


WRONG = {
    "shape 10 % too large": lambda s, q, o, b: (np.multiply(s, 1.1), q, o, b),
    "q 10 % too large": lambda s, q, o, b: (s, np.multiply(q, 1.1), o, b),
    "log odds 0.1 too large": lambda s, q, o, b: (s, q, np.add(o, 0.1), b),
    "an unused topic weighs as if it were open": lambda s, q, o, b: (s, q, [np.inf] * 3, b),
    "burstiness 10 % too large": lambda s, q, o, b: (s, q, o, 1.1 * b),
    "no bursts": lambda s, q, o, b: (s, q, o, 0.0),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_weights_are_seen(name):
    rng = np.random.default_rng(5)
    shape, q, odds, theta, burstiness = CASES["bursty"]
    law = law_of("bursty")
    start = from_law(rng, law, 15 * N_COPIES)
    shape, q, odds, burstiness = WRONG[name](shape, q, odds, burstiness)
    usage, odds_TK = usage_of(shape, q), np.array([odds])
    moved = run_copies(rng, start, WORDS, theta, usage, odds_TK, burstiness=burstiness, n_scans=3)
    assert chi_square(moved, law, K) < 1e-5


def test_a_scan_in_topic_sorted_order_is_seen():
    """If only counts were kept, labels attached in order of topics would not do."""
    rng = np.random.default_rng(6)
    words = np.array([0, 0, 0, 1, 1])
    law = law_of("thinned", words)

    def in_order(labels_DN):
        return np.concatenate([np.sort(labels_DN[:, :3]), np.sort(labels_DN[:, 3:])], axis=1)

    place = in_order(labellings(N, K)) @ K ** np.arange(N)[::-1]
    law_in_order = np.bincount(place, weights=law, minlength=law.size)
    start = from_law(rng, law)
    right = in_order(scan(rng, start, "thinned", words))
    wrong = in_order(scan(rng, in_order(start), "thinned", words))
    assert chi_square(right, law_in_order, K) > 1e-5
    assert chi_square(wrong, law_in_order, K) < 1e-5


@pytest.mark.parametrize("burstiness", [0.0, 0.7])
@pytest.mark.parametrize("n_topics", [1, 2, LANES, LANES + 1, 40])
def test_any_number_of_topics(n_topics, burstiness):
    """Two tokens and K topics: the law of their topics is exact, whatever the padding."""
    rng = np.random.default_rng(7)
    theta = rng.dirichlet(np.ones(2), n_topics).T
    shape, q = rng.gamma(2.0, 0.5, n_topics), rng.uniform(0.05, 0.9, n_topics)
    log_odds = rng.normal(0.0, 2.0, n_topics)
    words = np.array([0, 0])
    law = exact_law(words, theta, shape, q, log_odds, burstiness)
    start = labellings(2, n_topics)[rng.choice(law.size, N_COPIES, p=law)]
    usage = usage_of(shape, q)
    moved = run_copies(rng, start, words, theta, usage, log_odds[None], burstiness=burstiness)
    assert moved.max() < n_topics
    assert chi_square(moved, law, n_topics) > 1e-5


@pytest.mark.parametrize("burstiness", [0.2, 3.0])
def test_fresh_draws_are_the_tables_of_a_restaurant(burstiness):
    """One topic: of four tokens of a word, l are fresh with probability ~ |s(4, l)| (s theta)^l."""
    rng, theta = np.random.default_rng(12), np.array([[0.4], [0.6]])
    start, word, row = np.array([0, 6]), np.array([0, 0, 0, 0, 1, 1]), np.zeros(1, np.int32)
    usage, topic, odds = usage_of([1.0], [0.5]), np.zeros(6, np.int16), np.zeros((1, 1))
    fresh = np.array([
        run(rng, start, word, topic, row, theta, usage, odds, burstiness)[0][:, 0]
        for _ in range(N_COPIES)
    ])  # fmt: skip
    ball = theta[:, 0] / burstiness
    law = np.array([6, 11, 6, 1]) * ball[0] ** np.arange(1, 5)
    seen = np.bincount(fresh[:, 0], minlength=5)[1:]
    assert stats.chisquare(seen, N_COPIES * law / law.sum()).pvalue > 1e-5
    twice = (fresh[:, 1] == 2).sum()
    assert stats.binomtest(int(twice), N_COPIES, ball[1] / (1 + ball[1])).pvalue > 1e-5
    z = np.corrcoef(fresh.T)[0, 1] * np.sqrt(N_COPIES)
    assert abs(z) < 4.42


def ragged_corpus(rng, n_topics, n_words, n_documents=300):
    """Documents of 0, 1, 2, 7 and 60 tokens, sorted by word, at four rows."""
    length = rng.choice([0, 0, 1, 1, 2, 7, 60], n_documents)
    start = np.concatenate([[0], np.cumsum(length)])
    word = np.concatenate([np.sort(rng.integers(0, n_words, n)) for n in length])
    topic = rng.integers(0, n_topics, start[-1]).astype(np.int16)
    row = rng.integers(0, 4, n_documents).astype(np.int32)
    theta = rng.dirichlet(np.full(n_words, 0.3), n_topics).T
    usage = usage_of(rng.gamma(1.0, 1.0, n_topics), rng.uniform(0.1, 0.9, n_topics))
    return start, word, topic, row, theta, usage, rng.normal(-1.0, 2.0, (4, n_topics))


@pytest.mark.parametrize("burstiness", [0.0, 0.4])
@pytest.mark.parametrize("n_topics", [1, 5, 17])
def test_what_is_added_up_is_what_was_drawn(n_topics, burstiness):
    rng = np.random.default_rng(8)
    start, word, topic, row, *globals_ = ragged_corpus(rng, n_topics, 6)
    for _ in range(3):
        fresh, n_used, used, size = run(rng, start, word, topic, row, *globals_, burstiness)
        most = np.zeros(fresh.shape, int)
        np.add.at(most, (word, topic), 1)
        document = np.repeat(np.arange(start.size - 1), np.diff(start))
        least = np.zeros(fresh.shape, int)
        first = np.unique(np.stack([document, word, topic]), axis=1)
        np.add.at(least, (first[1], first[2]), 1)
        assert np.all((least <= fresh) & (fresh <= most))
        assert np.array_equal(fresh, most) == (burstiness == 0.0)
        for d in range(start.size - 1):
            here = slice(start[d], start[d] + n_used[d])
            found = dict(zip(used[here].tolist(), size[here].tolist(), strict=True))
            labels, sizes = np.unique(topic[start[d] : start[d + 1]], return_counts=True)
            assert found == dict(zip(labels.tolist(), sizes.tolist(), strict=True))


@pytest.mark.parametrize("n_copies", [255, 256, 257, 1024, 70_000])
def test_counts_go_on_beyond_a_byte(n_copies):
    rng, start = np.random.default_rng(14), np.arange(n_copies + 1)
    word, row = np.zeros(n_copies, int), np.zeros(n_copies, np.int32)
    topic, usage = np.zeros(n_copies, np.int16), usage_of([1.0], [0.5])
    counts, *_ = run(rng, start, word, topic, row, np.ones((1, 1)), usage, np.zeros((1, 1)))
    assert counts[0, 0] == n_copies == counts.sum()


@pytest.mark.parametrize("burstiness", [0.0, 0.4])
def test_compiled_and_plain_loops_agree(burstiness):
    results = []
    for redraw in (redraw_documents, redraw_documents.py_func):
        rng = np.random.default_rng(9)
        start, word, topic, row, *globals_ = ragged_corpus(rng, 17, 6, 60)
        results.append((topic, *run(rng, start, word, topic, row, *globals_, burstiness, redraw)))
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_token_that_fits_nowhere_stays():
    """A total weight of 0: only rounding can bring it about, and it must not move anything."""
    rng = np.random.default_rng(10)
    theta = np.array([[0.0, 0.0], [1.0, 1.0]])
    topic = np.array([1, 0, 1], np.int16)
    start, word, row = np.array([0, 1, 3]), np.array([0, 0, 1]), np.zeros(2, np.int32)
    usage = usage_of([1.0, 1.0], [0.5, 0.5])
    run(rng, start, word, topic, row, theta, usage, np.array([[0.0, -np.inf]]))
    assert topic[:2].tolist() == [1, 0]
    assert topic[2] == 0  # the only one open


@pytest.mark.parametrize("n_lanes", [1, 4, 13])
def test_folds_add_up_and_find_topics(n_lanes):
    rng, width = np.random.default_rng(11), np.uint64(n_lanes * LANES)
    theta, u = rng.random((2, int(width))).astype(np.float32)
    theta[rng.random(int(width)) < 0.3] = 0.0
    half, quarter = np.empty(int(width) // 2, np.float32), np.empty(int(width) // 4, np.float32)
    lane, zero = np.empty(n_lanes, np.float32), np.uint64(0)
    total = fold(theta, zero, u, zero, width, half, quarter, lane, zero)
    exact = theta.astype(float) * u
    part_L = exact.reshape(LANES, n_lanes).sum(0)
    np.testing.assert_allclose(lane, np.cumsum(part_L), rtol=1e-6)
    assert total == pytest.approx(exact.sum(), rel=1e-6)
    heights = np.linspace(0.0, 1.0 + 1e-6, 4001) * total
    found = [find_topic(h, theta, zero, u, zero, width, lane, zero) for h in heights]
    assert np.all(theta[found] > 0.0)
    share = np.bincount(np.array(found, int), minlength=int(width)) / heights.size
    np.testing.assert_allclose(share, exact / exact.sum(), atol=1e-3)


def test_thousands_of_repeats_of_one_word_cost_no_more_than_other_words():
    """The echoes of a word are added up by topic, not token by token."""
    rng, n_tokens = np.random.default_rng(13), 200_000
    start, word = np.array([0, n_tokens]), np.zeros(n_tokens, int)
    topic, row = rng.integers(0, 3, n_tokens).astype(np.int16), np.zeros(1, np.int32)
    counts, *_ = run(
        rng, start, word, topic, row, THETA_PK, usage_of(SHAPE, Q), np.zeros((1, 3)), 0.1
    )
    assert 3 <= counts.sum() < 2_000  # a seat is rare: about s theta log(n / s theta) of them
