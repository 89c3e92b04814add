"""FeatureModel: what a user puts in and gets back."""

import numpy as np
import pandas as pd
import pytest

import thincrm as tc
from thincrm.errors import InvalidInput

SMALL = {
    "weights": "binary",
    "max_features": 6,
    "n_sweeps": 90,
    "n_draws": 30,
    "random_state": 3,
    "quiet": True,
}


def world(n_rows=120, seed=0):
    """Three features of six columns; the second is used late, the third not at the end."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 1.0, n_rows)).round(2)
    p = np.column_stack([np.full(n_rows, 0.5), t > 0.5, 0.6 * (t < 0.7)])
    used = rng.random((n_rows, 3)) < 0.9 * p
    feature = np.array([[3, 3, 0, 0, 0, 0], [0, 0, 3, 3, 0, 0], [0, 0, 0, 0, 3, 3.0]])
    table = used @ feature + 0.4 * rng.standard_normal((n_rows, 6))
    return table * [1, 10, 1, 1, 100, 1] + [0, 5, 0, -1000, 0, 0], t, used


def with_holes(table, share=0.2, seed=1):
    holes = np.random.default_rng(seed).random(table.shape) < share
    return np.where(holes, np.nan, table), holes


@pytest.fixture(scope="module")
def fitted():
    table, t, used = world()
    holed, holes = with_holes(table)
    names = pd.Index(list("abcdef"))
    frame = pd.DataFrame(holed, index=[f"row {n % 50}" for n in range(len(t))], columns=names)
    return tc.FeatureModel(**SMALL).fit(frame, t=t), frame, table, holes, t, used


def test_holes_are_filled_in_the_columns_units(fitted):
    model, frame, table, holes, t, _ = fitted
    found = model.impute(frame, t=t)
    for part in found:
        assert part.index.equals(frame.index)
        assert part.columns.equals(frame.columns)
        assert np.array_equal(part.to_numpy()[~holes], table[~holes])
        assert not part.isna().any(axis=None)
    inside = (found.lower <= table) & (table <= found.upper)
    assert inside.to_numpy()[holes].mean() > 0.75
    error = ((found.mean - table) / table.std(0)).to_numpy()[holes]
    assert np.sqrt(np.mean(error**2)) < 0.6


def test_wider_intervals_at_a_higher_level(fitted):
    model, frame, _, holes, t, _ = fitted
    narrow, wide = model.impute(frame, t=t, level=0.5), model.impute(frame, t=t, level=0.99)
    assert np.all((wide.upper - wide.lower).to_numpy()[holes] >= 0)
    gap = (wide.upper - wide.lower) - (narrow.upper - narrow.lower)
    assert np.all(gap.to_numpy()[holes] > 0)


def test_rows_without_holes_come_back_as_they_are(fitted):
    model, frame, table, _, t, _ = fitted
    names = frame.columns
    found = model.impute(pd.DataFrame(table[:5], columns=names), t=t[:5])
    assert all(np.array_equal(part, table[:5]) for part in found)


def test_a_new_row_without_values_has_its_covariate_to_go_by(fitted):
    model, frame, table, *_ = fitted
    nothing = pd.DataFrame(np.full((2, 6), np.nan), columns=frame.columns)
    found = model.impute(nothing, t=[0.1, 0.9]).mean.to_numpy()
    middle = np.median(table, axis=0)
    assert found[0, 4] > middle[4] - 50
    assert found[0, 4] > found[1, 4] + 50
    assert found[1, 2] > found[0, 2] + 0.5


def test_what_is_said_of_a_row_depends_on_it_alone(fitted):
    model, frame, _, _, t, _ = fitted
    whole, alone = model.transform(frame, t=t), model.transform(frame.iloc[7:9], t=t[7:9])
    assert np.array_equal(whole[7:9], alone)


def test_features_and_usages_are_the_truth(fitted):
    model, frame, _, _, t, used = fitted
    mean = model.features_["mean"].unstack("column").to_numpy()
    usage = model.transform(frame, t=t)
    assert np.all((usage >= 0) & (usage <= 1))
    assert usage.shape == (len(t), len(mean))
    match = np.abs(np.corrcoef(usage.T, used.T)[: len(mean), len(mean) :])
    assert np.all(match.max(0) > 0.85)
    bands = model.features_
    assert np.all((bands["lower"] <= bands["mean"]) & (bands["mean"] <= bands["upper"]))


def test_activation_is_a_table_at_any_covariates(fitted):
    model, *_ = fitted
    found = model.activation(t=[0.1, 0.9], level=0.8)
    assert list(found.columns) == [
        "feature", "t", "mean", "lower", "upper", "usage", "usage_lower", "usage_upper",
    ]  # fmt: skip
    assert len(found) == 2 * len(model.shares_)
    assert np.all((found["lower"] <= found["mean"]) & (found["mean"] <= found["upper"]))
    assert np.all(found["usage"] <= found["mean"])
    assert len(model.activation()) == len(model.shares_) * len(model.covariates_.rows)


def test_new_tables_look_like_the_old_one(fitted):
    model, _, table, _, t, _ = fitted
    drawn = model.sample_predictive(t=t, n_samples=20)
    assert drawn.shape == (20, *table.shape)
    assert np.all(np.abs(drawn.mean((0, 1)) - table.mean(0)) < 0.4 * table.std(0))
    assert np.all(np.abs(np.log(drawn.std((0, 1)) / table.std(0))) < 0.4)


def test_a_table_like_the_fitted_scores_above_a_scrambled_one(fitted):
    model, frame, *_ = fitted
    fresh, t, _ = world(seed=5)
    fresh = pd.DataFrame(fresh, columns=frame.columns)
    scrambled = fresh.apply(lambda column: np.random.default_rng(1).permutation(column) + 0.0)
    scrambled = scrambled.apply(lambda column: np.roll(column, ord(column.name)))
    assert model.score(fresh, t=t) > model.score(scrambled, t=t) + 1


def test_draws_are_kept_and_traced(fitted):
    model, *_ = fitted
    assert len(model.draws_) == 30 == len(model.n_features_)
    assert len(model.trace_) == 90
    assert {"mass", "concentration", "noise", "log_likelihood"} <= set(model.trace_)
    assert np.isfinite(model.trace_.to_numpy(float)).all()


@pytest.mark.filterwarnings("ignore:All 4 features")
@pytest.mark.parametrize(
    ("thinning", "gates", "weights"),
    [
        (tc.Always(), "row", "real"),
        (tc.Bump(), "row", "binary"),
        (tc.ProbitRVM(), "observation", "binary"),
    ],
    ids=["always", "bump", "rvm"],
)
def test_any_number_of_threads_gives_the_same_bits(thinning, gates, weights):
    table, t, _ = world(2200)  # more than one block
    table, t = with_holes(table)[0], t.round(1)
    options = {"n_sweeps": 4, "n_draws": 2, "max_features": 4, "random_state": 1, "quiet": True}
    found = []
    for n_threads in (1, 2, 4):
        model = tc.FeatureModel(
            thinning=thinning, gates=gates, weights=weights, n_threads=n_threads, **options
        )
        model.fit(table, t=t)
        mean = model.impute(table[:20], t=t[:20]).mean
        found.append((model.draws_[-1].feature, model.draws_[-1].noise, mean))
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_all_missing_rows_and_constant_columns_are_defined():
    table, t, _ = world()
    table[3] = np.nan
    table[:, 5] = 7.0
    table[10, 5] = np.nan
    model = tc.FeatureModel(**SMALL).fit(table, t=t)
    found = model.impute(table, t=t)
    assert found.mean[10, 5] == found.lower[10, 5] == found.upper[10, 5] == 7.0
    assert np.isfinite(found.mean).all()


BAD = {
    "holds no value at all": lambda table, t: (np.where([0, 0, 0, 0, 0, 1], np.nan, table), t),
    "contains infinity": lambda table, t: (np.where(table > 0, np.inf, table), t),
    "inconsistent numbers of samples": lambda table, t: (table, t[:-1]),
    "in another order": lambda table, t: (pd.DataFrame(table), pd.Series(t)[::-1]),
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_input_gets_a_sentence(sentence):
    table, t, _ = world()
    table, t = BAD[sentence](table, t)
    with pytest.raises(InvalidInput, match=sentence):
        tc.FeatureModel(**SMALL).fit(table, t=t)


def test_bad_settings_get_a_sentence():
    table, t, _ = world()
    for settings, sentence in (
        ({"gates": "none"}, "gates must be one of observation, row"),
        ({"weights": "heavy"}, "weights must be one of real, binary"),
        ({"levy": tc.GammaProcess()}, "masses in"),
        ({"max_features": 0}, "max_features must be at least 1"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            tc.FeatureModel(**(SMALL | settings)).fit(table, t=t)


def test_new_rows_need_their_covariate(fitted):
    model, frame, *_ = fitted
    with pytest.raises(InvalidInput, match="t is missing"):
        model.impute(frame)
    with pytest.raises(InvalidInput, match="level must lie strictly between"):
        model.impute(frame, t=fitted[4], level=1.0)


def test_without_a_covariate_there_is_a_warning():
    table, _, _ = world(40)
    with pytest.warns(UserWarning, match="No covariate t was given"):
        tc.FeatureModel(**(SMALL | {"n_sweeps": 3})).fit(table)
