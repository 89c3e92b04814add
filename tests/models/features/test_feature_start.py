"""Where chains start: guesses of usages, and the score that picks one of two starts."""

from itertools import product

import numpy as np
import pytest
from feature_world import World, cells_of, problem_of, used_of, weight_of, with_usages
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

from thincrm.inference.updates import redraw_activations
from thincrm.levy import BetaProcess
from thincrm.models.features.guess import _principal, guess_usages, guess_weights, runs_of
from thincrm.models.features.kernel import as_table
from thincrm.models.features.laws import NOISE_PRIOR
from thincrm.models.features.likelihood import FeatureLikelihood
from thincrm.models.features.score import log_score
from thincrm.models.features.start import start_state
from thincrm.models.features.state import BACKGROUND_PRECISION
from thincrm.models.features.sweep import redraw_usages
from thincrm.thinning import Always, ProbitRVM


def gated_table(rng, share, n_each=100):
    """Four features of ten columns, each open at half of 20 covariates, used there by a share."""
    gate_TK = np.arange(20)[:, None] // np.array([1, 2, 5, 10]) % 2
    used_NK = rng.random((20 * n_each, 4)) < share * np.repeat(gate_TK, n_each, axis=0)
    feature_KP = rng.standard_normal((4, 10)) * 2.0
    value_NP = used_NK @ feature_KP + 0.5 * rng.standard_normal((20 * n_each, 10))
    return value_NP, used_NK, np.full(20, n_each)


def agreement(guess_ND, used_NK):
    """Return, for every true feature, the largest share of rows on which a guess agrees."""
    return (guess_ND[:, :, None] == used_NK[:, None, :]).mean(0).max(0)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_usages_are_guessed_where_features_come_and_go(share):
    """At 0.5 third cumulants vanish, near 0.2 and 0.8 fourth ones."""
    value, used, trials = gated_table(np.random.default_rng(5), share)
    guess = guess_usages(as_table(value, trials, True), runs_of(trials), 10, False)
    assert agreement(guess, used).min() > 0.97


def test_usages_are_guessed_in_an_exchangeable_table_with_holes():
    rng = np.random.default_rng(6)
    used = rng.random((2_000, 4)) < np.array([0.1, 0.3, 0.4, 0.2])
    value = used @ rng.normal(0.0, 2.0, (4, 20)) + rng.normal(7.0, 0.5, (2_000, 20))
    value[rng.random(value.shape) < 0.1] = np.nan
    trials = np.array([2_000])
    guess = guess_usages(as_table(value, trials, False), runs_of(trials), 10, True)
    assert agreement(guess, used).min() > 0.95


def test_noise_alone_has_no_features():
    rng = np.random.default_rng(7)
    table = as_table(
        rng.standard_normal((500, 8)) * [1, 2, 3, 4, 1, 1, 1, 1], np.array([500]), True
    )
    assert guess_usages(table, np.zeros(500, int), 10, True).shape == (500, 0)


@pytest.mark.parametrize("n_rows", [9, 40])
def test_principal_components_are_those_of_the_covariance(n_rows):
    rng = np.random.default_rng(11)
    value_NP, spread_P = rng.standard_normal((n_rows, 30)), rng.uniform(1.0, 3.0, 30)
    covariance_PP = (value_NP / spread_P).T @ (value_NP / spread_P) / n_rows
    size_P, direction_PP = np.linalg.eigh(covariance_PP)
    size_M, direction_PM, median = _principal(value_NP / spread_P)
    n_found = min(n_rows, 30)
    np.testing.assert_allclose(size_M, size_P[-n_found:], atol=1e-12)
    same = np.abs((direction_PM * direction_PP[:, -n_found:]).sum(0))
    np.testing.assert_allclose(same, 1.0, atol=1e-9)
    np.testing.assert_allclose(median, np.median(size_P), atol=1e-12)


def test_a_wide_table_costs_no_cube_of_its_columns(monkeypatch):
    """20 rows of 5,000 columns took minutes before the first sweep."""
    largest, eigh = [], np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda a: largest.append(len(a)) or eigh(a))
    value_NP = np.random.default_rng(3).standard_normal((20, 300))
    table = as_table(value_NP, np.full(20, 1), True)
    guess_weights(table, 15)
    guess_usages(table, np.zeros(20, int), 10, True)
    assert max(largest) == 20


@pytest.mark.parametrize("trials", [[1], [3, 500, 2], [1] * 130, [100] * 20, [1, 1_000_000]])
def test_runs_are_whole_covariates_in_order(trials):
    runs = runs_of(np.array(trials))
    assert runs.size == sum(trials)
    assert np.isin(np.diff(runs), [0, 1]).all()
    ends = np.cumsum(trials)
    assert all(np.unique(part).size == 1 for part in np.split(runs, ends)[:-1])
    assert runs[-1] < 30


def start_problem(value, trials, **options):
    """Return a problem of six features, one gate a covariate, no level."""
    thinning = Always()
    return problem_of(
        as_table(value, trials, True), trials, levy=BetaProcess(0.8, 3.0), thinning=thinning,
        prepared=thinning.prepare(np.arange(20)), n_atoms=6, learn_levy=False,
        likelihood=FeatureLikelihood(shared=True, background=False), **options,
    )  # fmt: skip


def test_the_better_of_two_starts_is_taken():
    value, _, trials = gated_table(np.random.default_rng(8), 0.5, 10)
    problem = start_problem(value, trials)
    seen = []

    def score(problem, state):
        seen.append(log_score(problem, state))
        return seen[-1]

    state = start_state(np.random.default_rng(1), problem, score=score)
    assert len(seen) == 2
    assert log_score(problem, state) == max(seen)


def direct_score(world, problem, state):
    """The score by its definition: a normal law for each column, and gates one by one."""
    own, used_NK = state.own, used_of(state)
    value_NP, seen_NP = cells_of(problem)
    prior = np.full(len(own.feature), own.scale)
    prior[problem.n_atoms :] = BACKGROUND_PRECISION
    usage = used_NK * (weight_of(state) if world.real else 1.0)
    usage = np.column_stack([usage, np.ones((len(usage), len(prior) - usage.shape[1]))])
    total = 0.0
    for p, precision in enumerate(own.noise):
        seen = seen_NP[:, p] > 0
        u, y = usage[seen], value_NP[seen, p]
        covariance = u @ np.diag(1 / prior) @ u.T + np.eye(len(y)) / precision
        total += multivariate_normal.logpdf(y, np.zeros(len(y)), covariance) if len(y) else 0.0
        total += NOISE_PRIOR[0] * np.log(precision) - NOISE_PRIOR[1] * precision
    log_odds = problem.thinning.log_odds(state.x, None)
    mass = np.exp(state.log_mass)
    table = problem.shards[0].table
    group = table.row_G if world.shared else np.arange(len(usage))
    row = np.repeat(table.row_G, np.diff(table.start_G))
    for g, k in product(range(group.size), range(problem.n_atoms)):
        rows = np.arange(table.start_G[g], table.start_G[g + 1])
        p_open = expit(log_odds[row[rows[0]], k])
        used = used_NK[rows, k] > 0
        opened = p_open * np.prod(np.where(used, mass[k], 1 - mass[k]))
        total += np.log(opened + (0.0 if used.any() else 1 - p_open))
    if world.real:
        total += norm.logpdf(weight_of(state)[used_NK > 0]).sum()
    return total


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("real", [True, False])
def test_the_score_is_the_law_of_table_and_usages(shared, real):
    """Up to a constant: so differences between states are compared."""
    rng = np.random.default_rng(11)
    world = World(ProbitRVM(widths=(2.0,)), shared, real, n_replicates=1, n_features=3)
    problem, first = world.draw(rng)
    states = [first]
    for _ in range(3):
        states.append(redraw_usages(rng, problem, redraw_activations(rng, problem, states[-1])))
    states.append(with_usages(problem, first, np.zeros_like(used_of(first)), weight_of(first)))
    gap = [log_score(problem, one) - direct_score(world, problem, one) for one in states]
    assert np.allclose(gap, gap[0], atol=1e-8)
