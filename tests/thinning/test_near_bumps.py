"""Bumps proposed near rows: their weights give back the prior."""

import numpy as np
import pytest

from thincrm.thinning import Bump
from thincrm.thinning.near_bumps import NearBumps

SEED, SIZE = 20268, 20_000
T = np.random.default_rng(SEED).random((40, 2))
CASES = {
    "learned lengths": (Bump(length=(0.2, 0.6)), T[:, :1]),
    "one length": (Bump("exponential", length=0.3), T[:, :1]),
    "two columns": (Bump(length=(0.3, 0.5)), T),
}
COUNTS = {"nothing seen": lambda n: 0 * n, "late rows": lambda n: (n > 30).astype(int)}


def scores(thinning, t, count, weigh):
    """Return how far weighted means over q lie from the prior's, in standard errors."""
    prepared = thinning.prepare(t)
    law = NearBumps(thinning, prepared, count(np.arange(len(prepared.covariates.rows))))
    x = law.draw(np.random.default_rng(SEED), SIZE)
    middle = 0.5 * (prepared.low + prepared.high)
    values = np.column_stack(
        [np.ones(SIZE), 1.0 + x.location - middle, 1.0 + x.log_length - np.log(thinning._median)]
    )
    gap = weigh(law, x)[:, None] * values - 1.0
    return gap.mean(0) / np.maximum(gap.std(0) / np.sqrt(SIZE), 1e-12)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("case", CASES)
def test_weights_give_back_the_prior(case, count):
    found = scores(*CASES[case], COUNTS[count], lambda law, x: np.exp(law.log_prior_over(x)))
    assert np.abs(found).max() < 4.9  # 18 means share the level


def test_without_weights_they_lie_near_the_rows():
    found = scores(*CASES["learned lengths"], COUNTS["late rows"], lambda law, x: np.ones(SIZE))
    assert np.abs(found).max() > 4.9
