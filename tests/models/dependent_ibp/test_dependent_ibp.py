"""DependentIBP: the manners of an estimator, and features tied to a covariate."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from thincrm import DependentIBP, write_report
from thincrm.errors import InvalidInput

SEED = 7


@pytest.fixture(scope="module")
def table():
    """Return 60 rows of 4 columns: one feature where t < 0.5, one where it is not."""
    rng = np.random.default_rng(SEED)
    t = np.sort(rng.random(60))
    early = (t < 0.5)[:, None] * np.array([4.0, 4.0, 0.0, 0.0])
    late = (t >= 0.5)[:, None] * np.array([0.0, 0.0, 4.0, 4.0])
    values = pd.DataFrame(early + late + rng.normal(0, 0.3, (60, 4)), columns=list("abcd"))
    return values, pd.Series(t)


@pytest.fixture(scope="module")
def model(table):
    holes = table[0].mask(np.random.default_rng(SEED).random((60, 4)) < 0.2)
    return DependentIBP(max_features=4, n_sweeps=120, random_state=1, quiet=True).fit(
        holes, t=table[1]
    )


@pytest.mark.filterwarnings("ignore:No covariate t was given", "ignore:All .* features are in use")
@parametrize_with_checks([DependentIBP(max_features=3, n_sweeps=6, n_draws=2, random_state=0)])
def test_manners(estimator, check):
    check(estimator)


def test_new_rows_follow_their_covariate(model):
    new = pd.DataFrame(np.nan, index=["x", "y"], columns=list("abcd"))
    filled = model.impute(new, t=[0.1, 0.9])
    assert list(filled.mean.index) == ["x", "y"]
    assert filled.mean.loc["x"].to_numpy() == pytest.approx([4, 4, 0, 0], abs=0.8)
    assert filled.mean.loc["y"].to_numpy() == pytest.approx([0, 0, 4, 4], abs=0.8)
    assert (filled.lower < filled.upper).all(axis=None)


def test_a_seen_cell_outweighs_the_covariate(model):
    new = pd.DataFrame([[np.nan, 4.0, np.nan, 0.0]], columns=list("abcd"))
    assert model.impute(new, t=[0.55]).mean.loc[0, "a"] == pytest.approx(4.0, abs=1.2)


def test_activation_is_a_probability_that_varies(model):
    curves = model.activation(t=[0.1, 0.9])
    assert curves["mean"].between(0, 1).all()
    assert np.allclose(curves["mean"], curves["usage"])
    wide = curves.pivot_table(values="mean", index="t", columns="feature")
    assert (wide.loc[0.1] - wide.loc[0.9]).abs().max() > 0.4


def test_the_same_seed_gives_the_same_bits(table, model):
    again = DependentIBP(max_features=4, n_sweeps=120, random_state=1, n_threads=1, quiet=True)
    holes = table[0].mask(np.random.default_rng(SEED).random((60, 4)) < 0.2)
    again.fit(holes, t=table[1])
    assert (again.draws_[-1].feature == model.draws_[-1].feature).all()


def test_bad_grids_are_refused(table):
    with pytest.raises(InvalidInput, match="shares must be"):
        DependentIBP(shares=(0.0,)).fit(table[0], t=table[1])


def test_its_report_is_that_of_features(model, tmp_path):
    page = write_report(model, tmp_path / "report.html").read_text("utf-8")
    assert '"noun":"feature"' in page
    assert '"GaussianCopula","' in page
