"""A fit in which no row uses a feature says so, and what would look for features."""

import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.errors import InvalidInput, in_shell

QUICK = {"n_sweeps": 9, "n_draws": 4, "random_state": 0, "quiet": True}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    t = np.linspace(-1.0, 1.0, 40)
    values = np.outer(t, [1.0, -1.0, 0.5, 2.0]) + 0.3 * rng.standard_normal((40, 4))
    values[rng.random(values.shape) < 0.1] = np.nan
    return pd.DataFrame(values, columns=list("abcd")).assign(t=t, u=t**2)


def fitted(table, t="t", **settings):
    return tc.FeatureModel(**QUICK | settings).fit(table[list("abcd")], t=table[t])


@pytest.mark.parametrize("t", ["t", ["t", "u"]])
def test_the_default_says_that_it_has_no_features(table, t):
    model = fitted(table, t)
    assert model.n_features_.max() == 0
    with pytest.warns(UserWarning, match='FeatureModel.weights="binary", n_factors=20, level='):
        features = model.features_
    assert features.empty
    assert list(features.columns) == ["mean", "lower", "upper"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.tables()
        assert model.transform(table[list("abcd")], t=table[t]).shape == (40, 0)
        assert model.activation().empty
    assert [len(found[name]) for name in ("features", "shares", "activation")] == [0, 0, 0]


def test_the_setting_that_it_names_is_a_setting(table):
    said = str(fitted(table).nothing_found())
    call = said[said.index("FeatureModel(") :].removesuffix(".")
    other = eval(call, {"FeatureModel": tc.FeatureModel})
    other.set_params(**QUICK).fit(table[list("abcd")], t=table["t"])
    assert "FeatureModel" not in other.nothing_found()
    assert fitted(table, weights="binary").nothing_found() == "No features are in use."


@pytest.mark.parametrize("t", ["t", ["t", "u"]])
def test_the_page_says_so(table, t, tmp_path):
    model = fitted(table, t)
    page = tc.write_report(model, tmp_path / "page.html").read_text()
    assert "To look for features beside them" in page


def test_pictures_refuse_in_a_sentence(table):
    plots = pytest.importorskip("thincrm.plots")
    model = fitted(table)
    with (
        pytest.warns(UserWarning, match="No features are in use"),
        pytest.raises(InvalidInput, match="no features to draw"),
    ):
        plots.features(model)
    with pytest.raises(InvalidInput, match="no features to draw"):
        plots.activation(model)


def test_the_terminal_says_so(table, tmp_path):
    table.drop(columns="u").assign(name="x").to_csv(tmp_path / "table.csv", index=False)
    words = ["features", tmp_path / "table.csv", "--covariate", "t", "--out", tmp_path / "run"]
    done = CliRunner().invoke(app, [*map(str, words), "--sweeps", "9", "--chains", "1"])
    assert done.exit_code == 0
    said = in_shell(fitted(table).nothing_found())
    assert "--weights binary --factors 20 --level smooth" in said
    assert said in " ".join(done.stdout.split())
    assert "are shown" not in done.stdout
    assert "Left out, as they hold no numbers: name." in done.stdout
