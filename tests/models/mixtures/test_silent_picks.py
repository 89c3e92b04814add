"""Clusters of rows that have gates of their own: drawn by rejection with the right chances."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chisquare

from thincrm.models.mixtures.kernel import _opens, _pick_silent
from thincrm.numerics.streams import new_stream

SEED, LEVEL, SIZE = 20269, 1e-5, 40_000
INF = np.inf
CASES = {  # log f, log odds of being open, clock times masses
    "all near": ([0.0, -1.0, 0.5, -2.0], [INF, 0.5, -1.0, 2.0], [0.2, 0.5, 1.5, 3.0]),
    "shut for sure": ([0.0, 9.0, 0.5, 0.0], [0.0, -INF, 1.0, INF], [0.2, 0.5, 0.1, 2.0]),
    "never silent so long": ([9.0, 0.0, 0.5, -60.0], [40.0, 1.0, 3.0, INF], [900.0, 0.5, 1.5, 0.1]),
    "all long silent": ([0.0, 1.0, 3.0], [2.0, 1.0, 0.0], [41.0, 42.0, 45.0]),
}


def chances(log_f, log_odds, missed):
    """Return f π s(u), normalised."""
    log_odds, missed = np.array(log_odds), np.array(missed)
    log_s = np.where(log_odds == INF, 0.0, -np.logaddexp(0.0, missed - log_odds))
    log_w = np.array(log_f) + np.log(missed) + log_s
    return np.exp(log_w - np.logaddexp.reduce(log_w))


def picked(log_f, log_odds, missed, size=SIZE):
    """Return how often each cluster is drawn; the clock is 2."""
    log_odds, mass = np.array(log_odds), np.array(missed) / 2.0
    odds, scratch = np.exp(log_odds), np.empty(mass.size)
    log_prior = np.array(log_f) + np.log(mass) - np.logaddexp(0.0, -log_odds)
    count = np.zeros(mass.size, int)
    for n in range(size):
        state = new_stream(np.uint64(SEED), n)
        count[_pick_silent(state, log_prior.copy(), odds, 2.0, mass, scratch)] += 1
    return count


@pytest.mark.parametrize("name", CASES)
def test_clusters(name):
    count, chance = picked(*CASES[name]), chances(*CASES[name])
    seen = chance > 1e-4
    assert count[~seen].sum() <= 10 + 10 * SIZE * chance[~seen].sum()
    expected = chance[seen] / chance[seen].sum() * count[seen].sum()
    assert seen.sum() == 1 or chisquare(count[seen], expected).pvalue > LEVEL
    wrong = chances(CASES[name][0], np.where(np.isfinite(CASES[name][1]), INF, 0.0), CASES[name][2])
    wrong = np.maximum(wrong, 1e-12)  # broken twin: silence says nothing
    assert seen.sum() == 1 or chisquare(count, wrong / wrong.sum() * SIZE).pvalue < LEVEL


def test_many_clusters_that_are_far_off():
    """4,000 of them together have a chance of 1 %; proposed are they three times as often."""
    log_f = np.concatenate([[0.0], np.full(4000, -13.0)])
    parts = log_f, np.full(4001, INF), np.full(4001, 0.5)
    far, share = picked(*parts, 20_000)[1:].sum(), 1.0 - chances(*parts)[0]
    error = np.sqrt(20_000 * share * (1.0 - share))
    assert abs(far - 20_000 * share) < 4.5 * error
    assert far < 0.5 * 20_000 * 4000 * np.exp(-12.0)  # what is proposed


@pytest.mark.parametrize("log_odds", [-3.0, 0.5, 4.0])
@pytest.mark.parametrize("missed", [0.01, 0.7, 6.0])
def test_gates(log_odds, missed):
    opened = sum(
        _opens(new_stream(np.uint64(SEED), n), np.exp(log_odds), missed) for n in range(SIZE)
    )
    chance = expit(log_odds - missed)
    assert abs(opened - SIZE * chance) < 4.5 * np.sqrt(SIZE * chance * (1.0 - chance))
    assert _opens(new_stream(np.uint64(0), 0), INF, 1e9)
    assert not _opens(new_stream(np.uint64(0), 0), 0.0, 0.1)
