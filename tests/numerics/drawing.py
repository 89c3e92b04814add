"""Draws of compiled variates, and tests of them with a false-alarm rate of 1e-6 a case."""

from __future__ import annotations

import numpy as np
from scipy import stats

from thincrm.numerics.streams import new_stream, open_stream

SMALLEST_P = 1e-6


def draws(seed, variate, *arguments, n=40_000):
    """Half from one long stream, half the first draws of neighbouring streams."""
    key = np.uint64(seed)
    state = new_stream(key, 0)
    out = [variate(state, *arguments) for _ in range(n // 2)]
    for item in range(1, n - n // 2 + 1):
        open_stream(state, key, item)
        out.append(variate(state, *arguments))
    return np.array(out)


def assert_law(x, cdf):
    """Kolmogorov and Smirnov, for a continuous law."""
    assert np.all(np.isfinite(x))
    assert stats.kstest(x, cdf).pvalue > SMALLEST_P


def assert_discrete_law(x, dist, n_bins=40):
    """Pearson's chi-square, in bins of about equal probability."""
    levels = np.linspace(0, 1, n_bins + 1)[1:-1]
    edges = np.unique(np.concatenate([[-1.0], dist.ppf(levels), [np.inf]]))
    cdf = np.concatenate([[0.0], dist.cdf(edges[1:-1]), [1.0]])
    expected = x.size * np.diff(cdf)
    seen = np.histogram(x, np.append(edges[:-1] + 0.5, np.inf))[0]  # bins are (a, b], whole numbers
    impossible = expected == 0
    assert not np.any(seen[impossible])
    _assert_counts(seen[~impossible], expected[~impossible])


def assert_pmf(x, pmf):
    """Pearson's chi-square against a table of probabilities of 0, 1, ..."""
    assert x.min() >= 0
    assert x.max() < pmf.size
    seen = np.bincount(x, minlength=pmf.size)
    assert not np.any(seen[pmf == 0])
    _assert_counts(seen, x.size * pmf / pmf.sum())


def assert_mean(x, mean, sd):
    """Normal law of an average of many draws: |z| < 4.9 has probability 1 - 1e-6."""
    z = (np.mean(x) - mean) / (sd / np.sqrt(np.size(x)))
    assert abs(z) < 4.9, z


def _assert_counts(seen, expected):
    seen, expected = _pooled(seen, expected)
    if seen.size > 1:
        assert stats.chisquare(seen, expected).pvalue > SMALLEST_P


def _pooled(seen, expected, least=25.0):
    """Join neighbouring bins until each expects enough for the chi-square law to hold."""
    out_seen, out_expected, s, e = [], [], 0.0, 0.0
    for one_seen, one_expected in zip(seen, expected, strict=True):
        s, e = s + one_seen, e + one_expected
        if e >= least:
            out_seen.append(s)
            out_expected.append(e)
            s = e = 0.0
    if out_seen:
        out_seen[-1] += s
        out_expected[-1] += e
    return np.array(out_seen), np.array(out_expected)
