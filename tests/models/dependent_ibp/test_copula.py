"""The dependent Indian buffet process: every move leaves its law alone, wrong ones are rejected."""

from dataclasses import replace
from functools import partial

import copula_world as world
import numpy as np
import pytest
from copula_world import COPULA, KNOWN_MOVES, PREPARED, ROWS, TRIALS, K

from thincrm.errors import InvalidInput
from thincrm.models.dependent_ibp.copula import (
    GaussianCopula,
    draw_hidden,
    move_fields,
    move_grid,
    move_mass,
    move_sticks,
)
from thincrm.models.dependent_ibp.copula_fields import CopulaState, fields
from thincrm.models.features.sweep import SWEEP, redraw_variances
from thincrm.ports import GateEvidence
from thincrm.testing import (
    assert_passed,
    assert_rejected,
    exact_rank_test,
    looped,
    two_sample_test,
)

SEED = 20264
N_DRAWS = 40_000


def block(move):
    return lambda rng, state: (move(rng, *state, PREPARED), state[1])


def rank(moves, n_first=1_600, n_steps=4):
    blocks = [block(move) for move in moves]
    given = looped(world.draw, blocks, world.functionals)
    return exact_rank_test(*given, n_first=n_first, n_steps=n_steps, rng=SEED)


@pytest.mark.joint
@pytest.mark.parametrize("move", KNOWN_MOVES, ids=["fields", "grid", "sticks", "mass"])
def test_each_move(move):
    assert_passed(rank([move]))


@pytest.mark.joint
def test_all_moves():
    assert_passed(rank(KNOWN_MOVES, n_first=3_000))


@pytest.mark.joint
def test_whole_sweep():
    """Indicators, features, noise and the copula: the feature model's sweep with masses of 1."""
    prior = world.PRECISION_PRIOR
    variances = partial(redraw_variances, noise_prior=prior, feature_prior=prior)
    sweep = [variances if update is redraw_variances else update for update in SWEEP]
    blocks = [lambda rng, both, u=update: (both[0], u(rng, *both)) for update in sweep]
    given = looped(world.draw_table, blocks, world.table_functionals)
    assert_passed(two_sample_test(*given, n_steps=1, n_first=1_600, rng=SEED))


def one_row_one_vote(rng, x, evidence, prepared):
    """Forget, in the spectra, that several observations share a covariate."""
    once = COPULA.prepare(ROWS)
    spectra = replace(prepared, size_MT=once.size_MT, direction_MTT=once.direction_MTT)
    moved = move_fields(rng, x, evidence, spectra)
    shape = fields(moved, replace(spectra, covariates=once.covariates))
    root = np.sqrt(prepared.share_R[moved.share])
    weight = [
        world.whitened(shape[:, k] / root[k] * np.sqrt(world.SHARES[moved.share[k]]),
                       moved.width[k], moved.share[k])
        for k in range(K)
    ]  # fmt: skip
    return moved._replace(weight=np.array(weight))


def within_rows_forgotten(rng, x, evidence, prepared):
    """Take the hidden normals at a row for equal to their mean."""

    def hidden(*given):
        return draw_hidden(*given)[0], np.zeros(K)

    return move_fields(rng, x, evidence, prepared, hidden=hidden)


def grid_of_hidden_spread(rng, x, evidence, prepared):
    """Choose the grid with fields that keep their size, whatever share they have."""
    fixed = fields(x, prepared)
    return move_grid(rng, x, evidence, prepared, shapes_of=lambda *_: fixed)


def own_threshold_only(rng, x, evidence, prepared):
    """Move a stick as if no later feature stood on it."""
    for k in rng.permutation(K):
        part = CopulaState(*(value[: k + 1] for value in x[:4]), x.mass)
        seen = GateEvidence.from_counts(evidence.positive[:, : k + 1], TRIALS)
        stick = np.array(x.stick)
        stick[k] = move_sticks(rng, part, seen, prepared).stick[k]
        x = x._replace(stick=stick)
    return x


def sticks_of_another_mass(rng, x, evidence, prepared):
    """Count the Jacobian of logit v twice."""
    return move_sticks(rng, x._replace(mass=x.mass + 1.0), evidence, prepared)._replace(mass=x.mass)


def mass_of_what_is_left(rng, x, evidence, prepared):
    """Take 1 - v for v."""
    turned = x._replace(stick=-x.stick)
    moved = move_mass(rng, turned, evidence, prepared, world.MASS_PRIOR)
    return moved._replace(stick=x.stick)


TWINS = {
    "one row one vote": one_row_one_vote,
    "spread within rows forgotten": within_rows_forgotten,
    "grid of another spread": grid_of_hidden_spread,
    "own threshold only": own_threshold_only,
    "Jacobian twice": sticks_of_another_mass,
    "the other part of a stick": mass_of_what_is_left,
}


@pytest.mark.joint
@pytest.mark.parametrize("twin", TWINS)
def test_wrong_moves_are_rejected(twin):
    assert_rejected(rank([TWINS[twin]]))


def test_indicators_are_bernoulli_wherever_they_are():
    """The copula leaves each indicator alone: P(z = 1) = b at every covariate."""
    rng = np.random.default_rng(SEED)
    x = COPULA.draw(rng, N_DRAWS, PREPARED)
    for b in (0.2, 0.7):
        stick = np.full(N_DRAWS, 50.0)  # 1, but for the first
        stick[0] = np.log(b / (1 - b))
        now = x._replace(stick=stick)
        for t in (None, [0.5, 3.0]):
            chance = 1.0 / (1.0 + np.exp(-COPULA.log_odds(now, PREPARED, t)))
            score = (chance.mean(1) - b) / (chance.std(1) / np.sqrt(N_DRAWS))
            assert np.abs(score).max() < 4.9, (SEED, b, t, score)


def test_fields_have_the_covariance_of_the_process():
    rng = np.random.default_rng(SEED)
    width, share = np.zeros(N_DRAWS, int), np.ones(N_DRAWS, int)
    x = COPULA.draw(rng, N_DRAWS, PREPARED)._replace(width=width, share=share)
    field = fields(x, PREPARED)
    for i, s in enumerate(ROWS):
        for j, t in enumerate(ROWS):
            product = field[i] * field[j]
            gap = product.mean() - 0.9 * np.exp(-((t - s) ** 2))
            assert abs(gap) < 5.0 * product.std() / np.sqrt(N_DRAWS), (SEED, s, t)


def test_elsewhere_meets_the_fitted_rows():
    x = COPULA.draw(SEED, 5, PREPARED)
    there = COPULA.log_odds(x, PREPARED, ROWS)
    assert np.allclose(there, COPULA.log_odds(x, PREPARED), atol=1e-6)
    far = COPULA.log_odds(x, PREPARED, [1e6])[0]
    b = np.cumprod(1.0 / (1.0 + np.exp(-x.stick)))
    assert np.allclose(far, np.log(b) - np.log1p(-b), atol=1e-6)


def test_hidden_normals_far_in_a_tail_are_finite():
    x = COPULA.draw(SEED, 2, PREPARED)._replace(stick=np.array([-800.0, 30.0]))
    evidence = GateEvidence.from_counts(np.tile(TRIALS[:, None], (1, 2)), TRIALS)
    mean, within = draw_hidden(np.random.default_rng(SEED), x, evidence, PREPARED)
    assert np.isfinite(mean).all()
    assert np.isfinite(within).all()
    assert (mean[:, 0] < -20).all()


def test_bad_grids_are_refused_in_a_sentence():
    with pytest.raises(InvalidInput, match="shares must be one or more numbers strictly between"):
        GaussianCopula((1.0,), (0.5, 1.0))
    with pytest.raises(InvalidInput, match="widths must be one or more positive numbers"):
        GaussianCopula((), (0.5,))
    with pytest.raises(InvalidInput, match="3001 distinct values"):
        GaussianCopula((1.0,), (0.5,)).prepare(np.arange(3001.0))
