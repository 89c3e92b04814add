"""The report of features as a file: its numbers are those of the tables."""

import numpy as np
from page_outline import read
from report_cases import fitted_features

import thincrm as tc


def test_features_have_a_page_with_the_numbers_of_the_tables(tmp_path):
    model = fitted_features([f"column {p}" for p in range(9)])
    _, _, data = read(tc.write_report(model, tmp_path / "f.html"))
    assert data["noun"] == "feature"
    assert data["time"]["name"] == "income"
    assert data["side"] == 0
    assert len(data["features"]) == len(model.shares_)
    curve = model.activation()
    for k, feature in enumerate(data["features"]):
        entries = np.array(feature["entries"])[:, 0] * model.scale_.spread_P
        np.testing.assert_allclose(entries, model.features_.loc[k]["mean"], rtol=1e-3)
        mine = curve[curve["feature"] == k]["usage"]
        unit = feature["used"]["unit"]
        np.testing.assert_allclose(np.array(feature["used"]["mean"]) * unit, mine, atol=unit)
    pixels = read(tc.write_report(fitted_features(), tmp_path / "p.html"))[2]
    assert pixels["side"] == 4


def test_several_covariates_have_the_plain_page(tmp_path):
    rng = np.random.default_rng(0)
    t, table = rng.random((20, 2)), rng.standard_normal((20, 3))
    model = tc.FeatureModel(n_sweeps=6, random_state=0, quiet=True).fit(table, t=t)
    _, _, data = read(tc.write_report(model, tmp_path / "f.html"))
    assert data["noun"] == "feature"
    assert len(data["covariates"]) == 2
