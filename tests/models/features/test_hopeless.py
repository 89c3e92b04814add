"""Features that no row can use: left out, with the same bits; and a prior that is sparing."""

import numpy as np
import pytest

import thincrm as tc
from thincrm.models.features.kernel import Features, Sums, as_table, redraw_rows

N_ROWS, N_COLUMNS = 60, 5


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("n_dense", [0, 2])
def test_features_too_rare_for_any_row_change_nothing(shared, n_dense):
    rng = np.random.default_rng(8)
    value = 2.0 * rng.standard_normal((N_ROWS, N_COLUMNS))
    value[rng.random(value.shape) < 0.2] = np.nan
    table = as_table(value, np.full(20, 3), shared)
    feature = rng.standard_normal((4 + n_dense + 1, N_COLUMNS))
    used = (rng.random((N_ROWS, 4)) < 0.3).astype(np.int8)
    used[:, [0, 2]] = 0
    weight, dense = rng.standard_normal((N_ROWS, 4)), rng.standard_normal((N_ROWS, n_dense))

    def redrawn(kept):
        rows = [*kept, *range(4, len(feature))]
        odds = np.zeros((20, len(kept)))
        mass = np.array([-1e3, -1.0, -500.0, -2.0])[kept]
        features = Features(
            feature[rows], np.ones(N_COLUMNS), odds - np.log(2), odds - np.log(2),
            mass, np.log1p(-np.exp(mass)), True,
        )  # fmt: skip
        new = used[:, kept].copy(), weight[:, kept].copy(), dense.copy()
        sums = Sums.zero(len(rows), N_COLUMNS)
        redraw_rows(0, table.row_G.size, np.uint64(7), table, features, *new, sums)
        return new

    every, some = redrawn([0, 1, 2, 3]), redrawn([1, 3])
    assert not every[0][:, [0, 2]].any()
    assert some[0].any()
    np.testing.assert_array_equal(every[0][:, [1, 3]], some[0])
    np.testing.assert_array_equal((every[0] * every[1])[:, [1, 3]], some[0] * some[1])
    np.testing.assert_array_equal(every[2], some[2])


def test_beside_factors_features_are_sparing_unless_a_law_is_given():
    table = np.random.default_rng(2).standard_normal((30, 4))
    short = {"n_sweeps": 6, "n_draws": 2, "quiet": True, "random_state": 0, "n_threads": 1}

    def law(**options):
        model = tc.FeatureModel(**short, **options).fit(table, t=np.arange(30))
        problem = model._problem()
        return problem.levy.mass, problem.levy.concentration, problem.learn_levy

    assert law() == (1e-12, 1e12, False)
    assert law(levy=tc.BetaProcess(0.5)) == (0.5, 1.0, True)
    assert law(weights="binary") == (2.0, 1.0, True)
    assert law(weights="binary", learn=False) == (2.0, 1.0, False)
    assert law(weights="binary", n_factors=2) == (2.0, 1.0, True)


def test_beside_factors_cells_far_out_are_no_features():
    rng = np.random.default_rng(4)
    table = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 6))
    table += 0.3 * rng.standard_normal(table.shape)
    table[::20, 3] += 2.0  # six cells, nearly seven times the noise
    short = {"n_sweeps": 90, "n_draws": 30, "n_chains": 2, "n_threads": 1, "quiet": True}
    model = tc.FeatureModel(random_state=0, **short).fit(table, t=np.arange(120))
    assert model.n_features_.max() == 0
