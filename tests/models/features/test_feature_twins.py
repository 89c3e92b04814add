"""Numbers of a feature model's results against sums over all usages of a row, and plain loops."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import thincrm as tc
from thincrm.models.features.draw import FeatureDraw

FEATURE = np.array([[2.0, 1.0, 0.0], [0.0, -1.5, 2.0]])
T = np.array([0.0, 0.5, 1.0])


@pytest.fixture(scope="module")
def fitted():
    """A model whose draws are then made up: two, told apart, ten times each."""
    rng = np.random.default_rng(0)
    t = np.repeat(T, 8)
    used = rng.random((t.size, 2)) < 0.5
    table = (used @ FEATURE + 0.3 * rng.standard_normal((t.size, 3))) * [1, 10, 1] + [0, 5, 0]
    model = tc.FeatureModel(
        weights="binary",
        max_features=5,
        n_sweeps=12,
        n_draws=4,
        n_threads=1,
        random_state=3,
        quiet=True,
    ).fit(table, t=t)
    last = model.draws_[-1]
    kinds = [
        FeatureDraw(
            chain=0, sweep=0, feature=factor * np.vstack([FEATURE, np.zeros((3, 3))]),
            noise=np.array([4.0, 2.0, 3.0]) * factor, x=last.x,
            log_mass=np.log([0.6 / factor, 0.4, 1e-9, 1e-9, 1e-9]),
            hits=np.ones((3, 5), int) * [9, 5, 0, 0, 0], scalars=last.scalars,
        )
        for factor in (1.0, 1.3)
    ]  # fmt: skip
    model.draws_ = kinds * 10
    return model


def usages(model, draw, row, t):
    """Return the (U, 3) means of a row, and the log joints of its seen cells and usages."""
    opened = expit(model._log_odds(draw, model.covariates_.encode([t])))[0]
    chance = opened[:2] * np.exp(draw.log_mass[:2])
    scale, seen = model.scale_, ~np.isnan(row)
    value = (row - scale.level_P) / scale.spread_P
    means, joints = [], []
    for z in itertools.product((0, 1), repeat=2):
        means.append(np.array(z) @ draw.feature[:2])
        cells = stats.norm.logpdf(value, means[-1], draw.noise**-0.5)[seen]
        joints.append(np.log(np.where(z, chance, 1 - chance)).sum() + cells.sum())
    return np.array(means), np.array(joints)


ROWS = np.array([[1.9, np.nan, 0.2], [np.nan, 8.0, np.nan], [0.1, -9.0, np.nan]])


def test_holes_have_the_law_of_a_new_value(fitted):
    """Over draws and usages a mixture of normals: its mean, and its 10 % and 90 % points."""
    found = fitted.impute(ROWS, t=T, level=0.8)
    spread, level = fitted.scale_.spread_P, fitted.scale_.level_P
    for n, p in np.argwhere(np.isnan(ROWS)):
        mean, below = 0.0, np.zeros(2)
        ends = (np.array([found.lower[n, p], found.upper[n, p]]) - level[p]) / spread[p]
        for draw in fitted.draws_[:2]:
            means, joints = usages(fitted, draw, ROWS[n], T[n])
            weight = np.exp(joints) / np.exp(joints).sum()
            mean += weight @ means[:, p] / 2
            for at, w in zip(means[:, p], weight, strict=True):
                below += w * stats.norm.cdf(ends, at, draw.noise[p] ** -0.5) / 2
        gap = (found.mean[n, p] - level[p]) / spread[p] - mean
        assert abs(gap) < 0.25  # 400 draws of usages, whose spread is at most 1
        np.testing.assert_allclose(below, [0.1, 0.9], atol=0.08)


def test_a_score_is_the_mean_log_likelihood_of_rows(fitted):
    """In nats of the columns' units; likelihoods are averaged over draws, not their logarithms."""
    total = 0.0
    for row, t in zip(ROWS, T, strict=True):
        likelihood = np.mean(
            [np.exp(usages(fitted, draw, row, t)[1]).sum() for draw in fitted.draws_[:2]]
        )
        total += np.log(likelihood) - np.log(fitted.scale_.spread_P[~np.isnan(row)]).sum()
    assert fitted.score(ROWS, t=T) == pytest.approx(total / 3, abs=0.1)


def test_tables_are_those_of_plain_loops(fitted):
    tables = type(fitted._tables)(fitted.draws_, fitted.columns_, fitted.scale_, False)
    entries, shares = tables.features(0.8), tables.shares(0.8)
    opened = tables.activation(fitted.covariates_, fitted.covariates_.rows, 0.8, fitted._log_odds)
    for k in range(2):
        for p in range(3):
            values = [draw.feature[k, p] * fitted.scale_.spread_P[p] for draw in fitted.draws_]
            expected = [np.mean(values), *np.quantile(values, [0.1, 0.9])]
            np.testing.assert_allclose(entries.loc[(k, fitted.columns_[p])], expected, atol=1e-12)
        share = [draw.hits[:, k].sum() / draw.hits.sum() for draw in fitted.draws_]
        expected = [np.mean(share), *np.quantile(share, [0.1, 0.9]), 1.0]
        np.testing.assert_allclose(shares.loc[k], expected)
        mine = opened[opened["feature"] == k]
        for i, t in enumerate(T):
            odds = [
                fitted._log_odds(d, fitted.covariates_.encode([t]))[0, k] for d in fitted.draws_
            ]
            usage = [
                expit(o) * np.exp(d.log_mass[k]) for o, d in zip(odds, fitted.draws_, strict=True)
            ]
            expected = [expit(odds).mean(), *np.quantile(expit(odds), [0.1, 0.9])]
            expected += [np.mean(usage), *np.quantile(usage, [0.1, 0.9])]
            names = ["mean", "lower", "upper", "usage", "usage_lower", "usage_upper"]
            np.testing.assert_allclose(mine.iloc[i][names].astype(float), expected)
