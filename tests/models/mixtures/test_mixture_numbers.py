"""Every number a mixture tells, against a slow and plain twin."""

import numpy as np
import pandas as pd
import pytest
from mixture_rows import come_and_go, small
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import multivariate_normal, norm, poisson

from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.mixed import MixedClusters
from thincrm.models.mixtures.regression import RegressionClusters
from thincrm.models.mixtures.weights import draw_gates, seen_weights

Y, T, *_ = come_and_go(5)
GATES = ("shared", "weighted", "observation")
SHORT = {"n_sweeps": 15, "n_draws": 3}


@pytest.fixture(scope="module", params=GATES)
def fitted(request):
    return small(gates=request.param, **SHORT).fit(Y, t=T)


@pytest.fixture(scope="module")
def plain():
    return small(gates="weighted", **SHORT).fit(Y, t=T)


def parts_of(model, draw, t):
    """Return a draw's weights at t, means and covariances in the columns' units."""
    weight = model._weights(draw, np.array([[t]]))[0]
    unit, level = model.layout_.scale.spread_P, model.layout_.scale.level_P
    mean = draw.params.mean * unit + level
    cov = np.linalg.inv(draw.params.precision) * np.outer(unit, unit)
    return weight, mean, cov


def tilted(rng, mass, open_chance, used, n_rows, size):
    """Return (weights, gates' means): by drawing gates from their prior, weighed by 1 / B^n."""
    gates = (rng.random((size, mass.size)) < open_chance) | used
    total = gates @ mass
    heavy = np.where(total > 0, np.maximum(total, 1e-300) ** -float(n_rows), 0.0)
    share = gates * mass / np.maximum(total, 1e-300)[:, None]
    weight = (heavy[:, None] * share).sum(0)
    return weight / weight.sum(), (heavy[:, None] * gates).sum(0) / heavy.sum()


@pytest.mark.parametrize("n_rows", [1, 2, 7])
def test_weights_where_gates_have_been_heard_of(n_rows):
    print("seed 3")
    rng = np.random.default_rng(3)
    mass = np.array([0.5, 1.0, 0.2, 0.7])
    log_odds = np.array([[np.inf, 0.3, -0.5, 1.0]])
    used = np.array([[False, True, False, False]])
    found = seen_weights(np.log(mass), log_odds, used, np.array([n_rows]))[0]
    twin, opened = tilted(rng, mass, expit(log_odds[0]), used[0], n_rows, 400_000)
    np.testing.assert_allclose(found, twin, atol=0.006)
    drawn = np.mean(
        [draw_gates(rng, np.log(mass), log_odds[0], used[0], n_rows) for _ in range(20_000)], axis=0
    )
    np.testing.assert_allclose(drawn, opened, atol=0.025)
    ignorant, _ = tilted(rng, mass, expit(log_odds[0]), used[0] & False, 0, 400_000)
    assert np.abs(ignorant - twin).max() > 0.02  # broken twin: nothing heard


def test_weights_at_new_covariates_by_drawing_gates(fitted):
    print("seed 4")
    rng, draw = np.random.default_rng(4), fitted.draws_[-1]
    row = np.array([[0.4321]])
    found, chance = fitted._weights(draw, row)[0], expit(fitted._atom_log_odds(draw, row)[0])
    mass = np.exp(draw.log_mass)
    if fitted.gates == "weighted":
        twin = chance * mass / (chance * mass).sum()
    else:
        twin, _ = tilted(rng, mass, chance, np.zeros(mass.size, bool), 0, 400_000)
    np.testing.assert_allclose(found, twin, atol=0.006)


def test_score_samples_is_the_log_of_the_mean_density(fitted):
    t, y = 0.625, np.array([1.0, 2.0])
    density = []
    for draw in fitted.draws_:
        parts = zip(*parts_of(fitted, draw, t), strict=True)
        density.append(sum(w * multivariate_normal(m, c).pdf(y) for w, m, c in parts))
    assert fitted.score_samples([y], t=[t])[0] == pytest.approx(np.log(np.mean(density)), abs=1e-8)
    half = np.array([[1.0, np.nan]])
    density = []
    for draw in fitted.draws_:
        parts = zip(*parts_of(fitted, draw, t), strict=True)
        density.append(sum(w * norm(m[0], c[0, 0] ** 0.5).pdf(1.0) for w, m, c in parts))
    assert fitted.score(half, t=[t]) == pytest.approx(np.log(np.mean(density)), abs=1e-8)


def test_densities_probabilities_and_quantiles_of_a_column(plain):
    t, y = 0.3, 1.5

    def value(of):
        found = []
        for draw in plain.draws_:
            parts = zip(*parts_of(plain, draw, t), strict=True)
            found.append(sum(w * of(norm(m[1], c[1, 1] ** 0.5)) for w, m, c in parts))
        return np.array(found)

    one = plain.density(y=[y], t=[t], level=0.5, column=1).iloc[0]
    np.testing.assert_allclose(one["mean"], value(lambda law: law.pdf(y)).mean(), rtol=1e-9)
    ends = np.quantile(value(lambda law: law.pdf(y)), [0.25, 0.75], method="weibull")
    np.testing.assert_allclose(one[["lower", "upper"]].astype(float), ends, rtol=1e-9)
    below = plain.probability_below(y, t=[t], column=1).iloc[0]
    np.testing.assert_allclose(below["mean"], value(lambda law: law.cdf(y)).mean(), rtol=1e-9)
    table = plain.quantiles(q=[0.2, 0.9], t=[t], column=1)
    for q, row in zip((0.2, 0.9), table.itertuples(), strict=True):
        pooled = brentq(lambda a, q=q: value(lambda law: law.cdf(a)).mean() - q, -50, 50)
        assert row.predictive == pytest.approx(pooled, abs=1e-6)
        each = [
            brentq(lambda a, b=b, q=q: value(lambda law: law.cdf(a))[b] - q, -50, 50)
            for b in range(len(plain.draws_))
        ]
        assert row.mean == pytest.approx(np.mean(each), abs=1e-6)
    grid = plain.density(column=1, t=[t])
    assert np.trapezoid(grid["mean"], grid["y"]) == pytest.approx(1.0, abs=0.1)


def test_imputed_means_are_conditional_means(plain):
    t, seen = 0.3, 5.0
    total = []
    for draw in plain.draws_:
        weight, mean, cov = parts_of(plain, draw, t)
        chance = weight * [
            norm(m[0], c[0, 0] ** 0.5).pdf(seen) for m, c in zip(mean, cov, strict=True)
        ]
        given = [m[1] + c[1, 0] / c[0, 0] * (seen - m[0]) for m, c in zip(mean, cov, strict=True)]
        total.append(np.sum(chance / chance.sum() * given))
    filled = plain.impute([[seen, np.nan]], t=[t])
    assert filled.mean[0, 1] == pytest.approx(np.mean(total), rel=1e-7)
    assert filled.mean[0, 0] == filled.lower[0, 0] == filled.upper[0, 0] == seen
    assert filled.lower[0, 1] < filled.mean[0, 1] < filled.upper[0, 1]


def test_clusters_are_described_in_the_columns_units(plain):
    table = plain.clusters()
    draw, home = plain.draws_[-1], plain._tables.homes[-1]
    mine = np.flatnonzero(home == 0)
    size = draw.counts.sum(0)[mine]
    _, mean, cov = parts_of(plain, draw, 0.3)
    share = size / size.sum()
    centre = share @ mean[mine, 1]
    spread = np.sqrt(share @ (cov[mine, 1, 1] + mean[mine, 1] ** 2) - centre**2)
    alone = small(gates="weighted", **SHORT)
    alone.__dict__.update(plain.__dict__)
    alone.draws_ = [draw]
    tables = type(plain._tables)([draw])
    tables.partition = plain._tables.partition
    alone._tables = tables
    found = alone.clusters().loc[(0, "1")]
    assert found["mean"] == pytest.approx(centre)
    assert found["sd"] == pytest.approx(spread)
    assert set(table.columns) == {"mean", "lower", "upper", "sd", "sd_lower", "sd_upper"}


def test_shares_of_clusters_add_up_to_those_of_rows(fitted):
    table = fitted.activation(t=[0.0, 0.4321, 1.0])
    assert [*table.columns] == [
        "cluster", "t", "mean", "lower", "upper", "share", "share_lower", "share_upper",
    ]  # fmt: skip
    draw = fitted.draws_[-1]
    weight = fitted._weights(draw, np.array([[0.4321]]))[0]
    shares = fitted._tables.together(
        lambda d: fitted._weights(d, np.array([[0.4321]])), weighed=False
    )
    assert np.nansum(shares[-1]) == pytest.approx(weight[: draw.n_used].sum())
    chance = fitted.predict_proba(Y, t=T)
    np.testing.assert_allclose(chance.sum(1), 1.0)
    np.testing.assert_array_equal(fitted.predict(Y, t=T), chance.argmax(1))


def test_probabilities_of_clusters_by_their_definition(plain):
    y, t = np.array([0.5, 0.5]), 0.3
    total = np.zeros(plain.labels_.max() + 1)
    for draw in plain.draws_:
        weight, mean, cov = parts_of(plain, draw, t)
        joint = weight * [multivariate_normal(m, c).pdf(y) for m, c in zip(mean, cov, strict=True)]
        for a, chance in enumerate(joint / joint.sum()):
            rows = draw.labels == a
            where = plain.labels_[rows] if rows.any() else plain.labels_
            total += chance * np.bincount(where, minlength=total.size) / where.size
    np.testing.assert_allclose(plain.predict_proba([y], t=[t])[0], total / 3, atol=1e-8)


def test_new_tables_have_the_predicted_law(fitted):
    print("seed of the fit: 1")
    new = fitted.sample_predictive(t=np.full(400, 0.4321), n_samples=30)
    assert new.shape == (30, 400, 2)
    if fitted.gates != "shared":  # whose rows are not independent
        below = fitted.probability_below(0.0, t=[0.4321], column=0)["mean"][0]
        assert (new[..., 0] <= 0).mean() == pytest.approx(below, abs=0.08)


def test_lines_in_the_covariate():
    rng = np.random.default_rng(6)
    t = rng.random(80)
    y = 10 + 30 * t + rng.standard_normal(80)
    model = small(likelihood=RegressionClusters(), gates="weighted", **SHORT).fit(y[:, None], t=t)
    when, value = 0.25, 17.0
    level, spread = t.mean(), t.std()
    found = []
    for draw in model.draws_:
        weight = model._weights(draw, np.array([[when]]))[0]
        line = draw.params.slope @ [1.0, (when - level) / spread]
        law = norm(line * y.std() + y.mean(), y.std() / np.sqrt(draw.params.precision))
        found.append((weight * law.pdf(value)).sum())
    assert model.density(y=[value], t=[when])["mean"][0] == pytest.approx(np.mean(found))
    assert model.score_samples([[value]], t=[when])[0] == pytest.approx(np.log(np.mean(found)))
    middle = model.quantiles(q=0.5, t=[0.25, 0.75])["mean"]
    assert middle[1] - middle[0] == pytest.approx(15, abs=3)
    filled = model.impute(np.array([[np.nan]]), t=[0.5]).mean[0, 0]
    assert filled == pytest.approx(25, abs=3)
    assert model.sample_predictive(t=[0.0, 1.0], n_samples=50).mean(0)[:, 0] == pytest.approx(
        [10, 40], abs=5
    )


def test_lines_in_columns():
    rng = np.random.default_rng(6)
    x = rng.random(80)
    table = pd.DataFrame({"y": 3 * x + 0.1 * rng.standard_normal(80), "x": x})
    model = small(likelihood=RegressionClusters(), **SHORT).fit(table, t=rng.integers(0, 4, 80))
    slope = model.clusters().loc[(0, "y per x"), "mean"]
    assert slope == pytest.approx(3, abs=0.6)
    table.loc[3, "y"] = np.nan
    filled = model.impute(table, t=np.zeros(80)).mean
    assert filled.loc[3, "y"] == pytest.approx(3 * x[3], abs=0.5)
    with pytest.raises(ValueError, match="needs the columns"):
        model.density(column="y")


def test_a_response_is_told_where_the_clusters_rows_are():
    """Far from the mean of t a line's height there would say nothing of its rows."""
    rng = np.random.default_rng(8)
    t = np.linspace(0.0, 1.0, 90)
    y = np.where(t < 0.5, 20.0 * t, 30.0 - 20.0 * t) + 0.3 * rng.standard_normal(90)
    model = small(gates="weighted", likelihood=RegressionClusters(), **SHORT).fit(y[:, None], t=t)
    z = (t - t.mean()) / t.std()
    found = [[] for _ in range(model.labels_.max() + 1)]
    for draw in model.draws_:
        height, n_rows = np.zeros(len(found)), np.zeros(len(found))
        for k in range(draw.n_used):
            rows = np.flatnonzero(draw.labels == k)
            home = np.bincount(model.labels_[rows]).argmax()
            slope = draw.params.slope[k]
            height[home] += sum(slope[0] + slope[1] * z[row] for row in rows)
            n_rows[home] += rows.size
        for home in np.flatnonzero(n_rows):
            found[home].append(height[home] / n_rows[home] * y.std() + y.mean())
    told = model.clusters().xs(str(model.columns_[0]), level="column")["mean"]
    assert told.to_numpy() == pytest.approx([np.mean(values) for values in found])
    assert told[model.labels_[10]] == pytest.approx(
        y[model.labels_ == model.labels_[10]].mean(), abs=1
    )


def test_mixed_columns():
    rng = np.random.default_rng(7)
    kind = rng.integers(0, 2, 120)
    table = pd.DataFrame(
        {
            "size": np.where(kind, 5.0, -5.0) + rng.standard_normal(120),
            "visits": rng.poisson(np.where(kind, 9, 2)),
            "colour": np.where(rng.random(120) < 0.9, np.where(kind, "red", "blue"), "green"),
        }
    )
    table.loc[0, "visits"], table.loc[1, "colour"], table.loc[2, "size"] = np.nan, None, np.nan
    model = small(gates="weighted", **SHORT).fit(table, t=np.arange(120) % 5)
    assert isinstance(model.likelihood_, MixedClusters)
    assert model.layout_.kinds == ("number", "count", "category")
    draws = []
    for draw in model.draws_:
        weight = model._weights(draw, np.array([[1.0]]))[0]
        p = draw.params
        unit, level = model.layout_.scale.spread_P[0], model.layout_.scale.level_P[0]
        law = norm(p.mean[:, 0] * unit + level, unit / np.sqrt(p.precision[:, 0, 0]))
        red = np.exp(p.log_level[:, 2])
        draws.append((weight * law.pdf(5.0) * poisson(np.exp(p.log_rate[:, 0])).pmf(8) * red).sum())
    one = pd.DataFrame({"size": [5.0], "visits": [8.0], "colour": ["red"]})
    assert model.score_samples(one, t=[1])[0] == pytest.approx(np.log(np.mean(draws)), abs=1e-9)
    filled = model.impute(table, t=np.arange(120) % 5).mean
    assert filled.loc[1, "colour"] == ("red" if kind[1] else "blue")
    assert filled.loc[0, "visits"] == pytest.approx(9 if kind[0] else 2, abs=2.5)
    assert filled["colour"].drop(1).equals(table["colour"].drop(1))
    entries = [*model.clusters().index.get_level_values("column").unique()]
    assert entries == ["size", "visits", "colour = blue", "colour = green", "colour = red"]
    with pytest.raises(ValueError, match="not seen"):
        model.predict(one.assign(colour="mauve"), t=[1])


def test_student_rows_are_wider():
    model = small(likelihood=GaussianClusters("diagonal", student=True), **SHORT).fit(Y, t=T)
    sd = model.clusters().loc[(0, "0"), "sd"]
    assert 0.1 < sd < 20
