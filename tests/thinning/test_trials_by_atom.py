"""Atoms may have trials of their own: redraw leaves the posterior alone, whatever function."""

from functools import partial

import numpy as np
import pytest
from scipy.special import expit
from test_function import WAVE

from thincrm.ports import GateEvidence
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test
from thincrm.thinning import Bump, ProbitRVM, SigmoidGP
from thincrm.thinning.count_moves import move_counts
from thincrm.thinning.moves import move_precisions, move_weights, move_width, refresh

pytestmark = pytest.mark.joint
SEED = 20268
T = np.array([0.0, 0.3, 0.35, 1.0])
TRIALS_TM = np.array([[2, 0, 9], [1, 6, 0], [0, 3, 2], [3, 0, 30]])  # atom k has column k mod 3
LOG_Q = np.log([0.8, 0.3, 0.5, 0.9])
FUNCTIONS = {
    "rvm": ProbitRVM(widths=(2.0, 40.0), bias_mean=-0.7, shape=1.5, rate=0.8),
    "gp": SigmoidGP(widths=(2.0, 40.0)),
    "logistic": SigmoidGP(widths=(3.0, 30.0), link="logistic", bias_mean=-0.5),
    "bump": Bump(length=(0.2, 0.7), height=0.8),
    "box": Bump("box", length=(0.4, 0.5), height=0.9),
    "wave": WAVE,
}
GP_MOVES = (refresh, move_width, move_weights, move_counts)  # those of redraw, in its order
MOVES = {"rvm": (*GP_MOVES, move_precisions), "gp": GP_MOVES, "logistic": GP_MOVES}


def trials_of(n, shift=0):
    """Return the (T, n) trials of atoms."""
    return TRIALS_TM[:, (np.arange(n) + shift) % 3]


def draw_of(thinning, prepared):
    def draw(rng, n):
        x, trials = thinning.draw(rng, n, prepared), trials_of(n)
        opened = rng.binomial(trials, expit(thinning.log_odds(x, prepared)))
        positive = rng.binomial(opened, -np.expm1(LOG_Q)[:, None])
        return x, GateEvidence.of(positive, trials, np.repeat(LOG_Q[:, None], n, axis=1))

    return draw


def functionals_of(thinning, prepared):
    def functionals(state):
        x, evidence = state
        p = expit(thinning.log_odds(x, prepared))
        silent = evidence.trials - evidence.positive
        return {
            "p first": p[0],
            "p last": p[-1],
            "p squared": (p**2).sum(0),
            "p times positive": (p * evidence.positive).sum(0),
            "p times silent": (p * silent).sum(0),
            "p times trials": (p * evidence.trials).sum(0),
        }

    return functionals


def verdict(name, seen=lambda evidence: evidence, **options):
    """Test a redraw that is given what `seen` makes of the evidence: its moves, there and back."""
    thinning = FUNCTIONS[name]
    prepared = thinning.prepare(T)

    def block(*move):
        redraw = partial(thinning.move, moves=move) if move else thinning.redraw
        return lambda rng, both: (redraw(rng, both[0], seen(both[1]), prepared), both[1])

    blocks = [block(move) for move in MOVES[name]] if name in MOVES else [block()]
    given = draw_of(thinning, prepared), blocks, functionals_of(thinning, prepared)
    return exact_rank_test(*given, n_steps=3, n_first=4_000, rng=SEED, **options)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_redraw(name):
    assert_passed(verdict(name))


def of_another_atom(evidence):
    """Give each atom the trials of the one after it, or as many as it has been seen in."""
    n = evidence.positive.shape[1]
    other = np.maximum(trials_of(n, shift=1), evidence.positive)
    return GateEvidence(evidence.positive, other, evidence.log_q)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_trials_of_another_atom_are_rejected(name):
    assert_rejected(verdict(name, of_another_atom))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_trials_are_those_of_the_rows(name):
    """(T, K) trials that are the same for all atoms give the bits of (T,) trials."""
    thinning, rng = FUNCTIONS[name], np.random.default_rng(SEED)
    prepared = thinning.prepare(T)
    x, trials = thinning.draw(rng, 7, prepared), np.array([400, 0, 200, 900])
    wide = np.repeat(trials[:, None], 7, axis=1)
    positive, log_q = wide // 2, np.repeat(LOG_Q[:, None], 7, axis=1)
    found = [
        thinning.redraw(np.random.default_rng(1), x, GateEvidence.of(positive, n, log_q), prepared)
        for n in (trials, wide)
    ]
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
