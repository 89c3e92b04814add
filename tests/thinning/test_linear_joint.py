"""Every move on an activation curve leaves prior x gates invariant; wrong ones are rejected."""

from dataclasses import replace

import pytest
from linear_cases import (
    FEW,
    FLAT,
    HIDDEN,
    LOGISTIC,
    MANY,
    PROBIT,
    RVM,
    SEEN,
    block,
    functionals,
    prior_and_gates,
)

from thincrm.testing import assert_passed, assert_rejected, exact_rank_test, two_sample_test
from thincrm.thinning.augment import augment
from thincrm.thinning.count_moves import move_counts
from thincrm.thinning.moves import move_precisions, move_weights, move_width, refresh

pytestmark = pytest.mark.joint
SEED = 20260


@pytest.mark.parametrize("move", [refresh, move_width, move_weights, move_precisions, augment])
@pytest.mark.parametrize("q", [SEEN, HIDDEN], ids=["seen", "hidden"])
def test_each_rvm_move_with_few_gates(move, q):
    others = [] if move is move_precisions else [block(RVM, move_precisions)]
    verdict = exact_rank_test(
        prior_and_gates(RVM, FEW, q), [block(RVM, move), *others], functionals(RVM), rng=SEED
    )
    assert_passed(verdict)


@pytest.mark.parametrize(
    "thinning", [RVM, FLAT, PROBIT, LOGISTIC], ids=["rvm", "flat", "gp", "log"]
)
@pytest.mark.parametrize("q", [SEEN, HIDDEN], ids=["seen", "hidden"])
@pytest.mark.parametrize("trials", [FEW, MANY], ids=["few", "many"])
def test_counts_move(thinning, trials, q):
    blocks = [block(thinning, move_counts), block(thinning, move_weights)]
    draw = prior_and_gates(thinning, trials, q)
    assert_passed(exact_rank_test(draw, blocks, functionals(thinning), rng=SEED))


def test_scale_move_without_bias_mean():
    blocks = [block(FLAT, augment), block(FLAT, move_precisions)]
    draw = prior_and_gates(FLAT, FEW, HIDDEN)
    assert_passed(exact_rank_test(draw, blocks, functionals(FLAT), rng=SEED))


@pytest.mark.parametrize("thinning", [RVM, PROBIT, LOGISTIC], ids=["rvm", "gp", "logistic"])
@pytest.mark.parametrize("trials", [FEW, 30 * MANY], ids=["few", "many"])
def test_whole_redraw(thinning, trials):
    draw = prior_and_gates(thinning, trials, HIDDEN)
    verdict = two_sample_test(draw, [block(thinning)], functionals(thinning), rng=SEED)
    assert_passed(verdict)


@pytest.mark.parametrize("trials", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("wrong", [{"shape": 1.65}, {"rate": 0.88}, {"bias_mean": -0.77}])
def test_ten_percent_errors_are_rejected(trials, wrong):
    draw = prior_and_gates(RVM, trials, HIDDEN)
    moves = (move_width, move_weights, augment if trials is FEW else move_counts, move_precisions)
    blocks = [block(replace(RVM, **wrong), move) for move in moves]
    assert_rejected(exact_rank_test(draw, blocks, functionals(RVM), n_first=80_000, rng=SEED))
