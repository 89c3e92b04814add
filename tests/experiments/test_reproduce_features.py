"""The experiments on latent features, small: what they return, and that it is what it says."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from thincrm.cli import app
from thincrm.data.un import Indicators, read_un
from thincrm.errors import InvalidInput
from thincrm.experiments import feature_pictures, imputers, synthetic, topic_pictures, un_folds
from thincrm.experiments.feature_settings import SyntheticSettings, UnSettings
from thincrm.experiments.synthetic_data import IMAGES, TIMES, draw_synthetic

pytestmark = pytest.mark.filterwarnings("ignore:All .* features are in use")
N_COUNTRIES = 45
PLAIN = ["column mean", "Gaussian, log GDP", "Gaussian, log GDP and seen", "chained regressions"]
PLAIN += ["nearest neighbours", "Gaussian process"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return the path of a table in which rich and poor differ, and the middle has both kinds."""
    rng = np.random.default_rng(11)
    wealth = rng.uniform(5.0, 11.0, N_COUNTRIES)
    rich = rng.random(N_COUNTRIES) < 1.0 / (1.0 + np.exp(-3.0 * (wealth - 8.0)))
    values = 50.0 + 30.0 * rich[:, None] * np.array([1, 1, -1, 1, -1]) + rng.normal(0, 3, (45, 5))
    table = pd.DataFrame(values, columns=list("abcde"))
    table = table.mask(rng.random(table.shape) < 0.05)
    table.insert(0, "country", [f"country {i}" for i in range(N_COUNTRIES)])
    path = tmp_path_factory.mktemp("un") / "small.csv"
    table.assign(log_gdp=wealth).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def settings(data):
    return UnSettings.of(quick=True, data=data, sweeps=60, max_features=4)


@pytest.fixture(scope="module")
def found(settings):
    rows = []
    return un_folds.run(settings, lambda table: rows.append(len(table))), rows


def test_settings_are_small_when_quick_unless_chosen():
    assert UnSettings.of(folds=None) == UnSettings()
    assert SyntheticSettings.of() == SyntheticSettings()
    quick = SyntheticSettings.of(quick=True, seeds=3, sweeps=None)
    assert (quick.seeds, quick.sweeps, quick.n_each) == (3, 150, 40)
    with pytest.raises(InvalidInput, match="folds must be at least 1, got 0"):
        UnSettings(folds=0)
    with pytest.raises(InvalidInput, match="max_features must be at least 8, got 7"):
        SyntheticSettings(max_features=7)


def test_folds_are_disjoint_and_show_one_seen_cell_a_country(data):
    table = read_un(data)
    folds = [*un_folds.hold_out(table, 3, 1)]
    every = np.concatenate([test for test, _ in folds])
    assert every.size == len(set(every)) == 3 * un_folds.TEST_COUNTRIES
    for test, shown in folds:
        assert (shown.sum(axis=1) == 1).all()
        assert table.values.iloc[test].notna().to_numpy()[shown].all()
    again = [test.tolist() for test, _ in un_folds.hold_out(table, 3, 1)]
    assert again == [test.tolist() for test, _ in folds]
    with pytest.raises(InvalidInput, match="folds must be at most 3"):
        next(un_folds.hold_out(table, 4, 1))


def test_un_has_a_row_for_every_fold_and_model(found):
    results, rows = found
    models = list(results.summary.index)
    assert models[0] == imputers.EXCHANGEABLE
    assert models[-8:] == [imputers.FACTORS, imputers.DEPENDENT, *PLAIN]
    assert len(results.folds) == 2 * len(models) == len(rows)
    assert rows == [*range(1, len(rows) + 1)]
    assert results.summary.loc[imputers.DEPENDENT, "paper_rmse"] == 0.73
    assert results.summary.loc[imputers.THINNED, "paper_spread"] == 0.11
    assert results.summary["rmse"].notna().all()


def test_cells_are_the_held_out_ones_and_give_the_scores(found, data):
    results, table = found[0], read_un(data)
    one = results.cells[(results.cells["fold"] == 1) & (results.cells["model"] == "column mean")]
    test, _ = next(un_folds.hold_out(table, 2, 0))
    assert (
        len(one) == int(table.values.iloc[test].notna().to_numpy().sum()) - un_folds.TEST_COUNTRIES
    )
    train = table.values.drop(index=table.values.index[test])
    error = (one["truth"] - one["indicator"].map(train.mean())) / one["indicator"].map(
        train.std(ddof=0)
    )
    score = results.folds.set_index(["fold", "model"])["rmse"]
    assert score[1, "column mean"] == pytest.approx(np.sqrt((error**2).mean()))


def test_models_that_know_the_wealth_are_better(found):
    rmse = found[0].summary["rmse"]
    assert rmse["column mean"] > 0.9
    assert (rmse[[imputers.THINNED, imputers.DEPENDENT]] < 0.8).all()


def test_regressions_are_least_squares():
    train = Indicators(
        pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan, 5.1], "b": [2.0, 1.0, 0.0, 7.0, 1.0]}),
        pd.Series([1.0, 2.0, 3.0, 4.0, 5.0]),
    )
    test = Indicators(pd.DataFrame({"a": [np.nan], "b": [3.0]}), pd.Series([6.0]))
    known = [0, 1, 2, 4]
    fit = np.polyfit(train.log_gdp[known], train.values["a"][known], 1)
    assert imputers.on_wealth(train, test).mean[0, 0] == pytest.approx(np.polyval(fit, 6.0))
    assert imputers.column_mean(train, test).mean[0, 0] == pytest.approx(11.1 / 4)
    both = imputers.on_wealth_and_seen(train, test)
    X = np.column_stack([np.ones(4), train.values["b"][known], train.log_gdp[known]])
    slope = np.linalg.lstsq(X, train.values["a"][known])[0]
    assert both.mean[0, 0] == pytest.approx(slope @ [1.0, 3.0, 6.0])
    assert both.lower[0, 0] < both.mean[0, 0] < both.upper[0, 0]
    assert np.isnan(both.mean[0, 1])


def test_synthetic_tables_are_what_they_say():
    truth = draw_synthetic(3, 50)
    assert IMAGES.shape == (8, 8, 8)
    assert np.linalg.matrix_rank(IMAGES.reshape(8, -1)) == 8
    assert truth.values.shape == (20 * 50, 64)
    assert (truth.gate_TK.sum(axis=0) >= 3).all()
    usage, *_ = np.linalg.lstsq(IMAGES.reshape(8, -1).T, truth.values.T)
    for t in TIMES:
        mean = usage[:, truth.t == t].mean(axis=1)
        assert mean == pytest.approx(truth.gate_TK[t - 1] * truth.mass_K, abs=0.35)
    left = truth.values - np.round(usage.T) @ IMAGES.reshape(8, -1)
    assert 0.2 < left.var() < 0.3
    assert (draw_synthetic(3, 50).values == truth.values).all()


def test_images_are_matched_whatever_their_order():
    order = np.random.default_rng(2).permutation(8)
    noisy = IMAGES.reshape(8, -1)[order] + np.random.default_rng(3).normal(0, 0.05, (8, 64))
    feature, correlation = synthetic.match_images(noisy)
    assert (order[feature] == np.arange(8)).all()
    assert (correlation > 0.95).all()
    few, _ = synthetic.match_images(noisy[:3])
    assert set(few) == {0, 1, 2}


@pytest.fixture(scope="module")
def recovered():
    return synthetic.run(SyntheticSettings.of(quick=True, sweeps=30, seed=2))


def test_synthetic_results_belong_together(recovered):
    seeds, features, curves = recovered.seeds, recovered.features, recovered.curves
    assert len(seeds) == 1
    assert len(features) == 8
    assert len(curves) == 160
    assert seeds["found"].iloc[0] == (features["correlation"] >= 0.95).sum()
    error = (curves["mean"] - curves["truth"]).abs().mean()
    assert seeds["curve_error"].iloc[0] == pytest.approx(error)
    inside = curves["truth"].between(curves["lower"], curves["upper"]).mean()
    assert seeds["coverage"].iloc[0] == pytest.approx(inside)
    assert recovered.images.shape == (8, 64)


def test_pictures_are_drawn(recovered, found, tmp_path):
    pytest.importorskip("matplotlib")
    for name, draw, results in (
        ("synthetic", feature_pictures.draw_synthetic, recovered),
        ("un", feature_pictures.draw_un, found[0]),
    ):
        path = tmp_path / f"{name}.png"
        assert topic_pictures.save(draw, results, path)
        assert path.read_bytes()[1:4] == b"PNG"


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("command", "said", "files"),
    [
        ("un", ("0.85 ± 0.11", "45 countries", "one indicator shown"), ("folds", "cells")),
        ("synthetic", ("of 8", "'usually'", "20 times, 40 images"), ("seeds", "curves")),
    ],
)
def test_commands_print_a_table_and_write_files(command, said, files, data, tmp_path):
    options = ("--data", data, "--max-features", 3) if command == "un" else ()
    done = call("reproduce", command, *options, "--sweeps", 6, "--quick", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    for text in (*said, "6 sweeps, 2 of them warm-up", "seed 0", "s in all"):
        assert text in done.stdout
    for file in files:
        assert len(pd.read_csv(tmp_path / f"{command}_{file}.csv")) >= 1


def test_bad_input_is_one_sentence(tmp_path):
    done = call("reproduce", "un", "--data", tmp_path / "none.csv", "--out", tmp_path)
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: ")
    assert "does not exist" in done.stderr
    assert call("reproduce", "synthetic", "--seeds", 0, "--out", tmp_path).exit_code == 2
