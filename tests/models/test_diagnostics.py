"""Tables and verdicts on convergence, from draws made up to agree or not, and of a small fit."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from thincrm.data.counts import split_words
from thincrm.data.covariates import covariates
from thincrm.errors import InvalidInput
from thincrm.inference.diagnostics import judge, label_free, summarise
from thincrm.models.features.model import FeatureModel
from thincrm.models.topics.model import TopicModel
from thincrm.thinning import Always

COLUMNS = ["mean", "sd", "rhat", "ess_bulk", "ess_tail", "n_chains", "n_draws"]


def made_up(values_CS, name="n_topics"):
    """Return a table of one quantity, as draws of a model would give it."""
    parts = [pd.DataFrame({name: row, "chain": c}) for c, row in enumerate(values_CS)]
    table = pd.concat(parts).rename_axis("sweep")
    return table.set_index("chain", append=True).swaplevel()


def noise(n_chains, n_draws, seed=0):
    return 40 + np.random.default_rng(seed).standard_normal((n_chains, n_draws))


def test_chains_that_agree_are_told_so():
    table = summarise(made_up(noise(4, 100)))
    assert list(table.columns) == COLUMNS
    said = judge(table)
    assert said.ok
    assert said.startswith("4 chains agree (R-hat at most 1.0")
    assert "400 draws are worth" in said
    assert "number of topics" in said
    assert pickle.loads(pickle.dumps(said)).ok


def test_chains_that_disagree_are_told_so():
    x = noise(4, 100)
    x[2] += 10
    said = judge(summarise(made_up(x)))
    assert not said.ok
    assert said.startswith("The chains disagree on the number of topics (R-hat 1.")
    assert "run longer" in said


def test_draws_worth_little_are_no_yes():
    said = judge(summarise(made_up(noise(4, 12), "log_joint")))
    assert not said.ok
    assert "worth only" in said
    assert "the log joint" in said


def test_one_chain_cannot_be_compared():
    still = judge(summarise(made_up(noise(1, 300))))
    assert not still.ok
    assert "One chain, whose halves agree" in still
    assert "n_chains=4" in still
    moving = judge(summarise(made_up(noise(1, 300) + np.linspace(0, 5, 300), "rate")))
    assert moving.startswith("The only chain is still drifting on the learned rate")


def test_what_a_yes_does_not_rest_on_is_told_beside_it():
    number = noise(4, 100, 1)
    number[2] += 10
    spread = made_up(noise(4, 100), "noise")
    table = summarise(spread.join(made_up(number, "n_features")))
    assert not judge(table).ok
    said = judge(table, ("n_features",))
    assert said.ok
    assert said.startswith("4 chains agree (R-hat at most 1.0")
    assert "the number of features has not settled (R-hat 1." in said
    assert said.endswith("so do not read features.")
    split = summarise(made_up(noise(4, 100)).join(made_up(number, "n_factors")))
    assert judge(split, ("n_factors",)).endswith("so do not read that.")
    settled = summarise(spread.join(made_up(noise(4, 100, 1), "n_features")))
    assert "settled" not in judge(settled, ("n_features",))


def test_few_draws_and_constants():
    assert "Too few draws" in judge(summarise(made_up(noise(4, 5))))
    assert "nothing to judge" in judge(summarise(made_up(np.ones((4, 50)))))


def test_a_chain_that_was_stopped_early():
    """Above half of the longest it shortens the others; below, it is left out."""
    long, short = noise(1, 100)[0], noise(1, 60, 1)[0]
    table = summarise(made_up([long, short]))
    assert table["n_draws"].item() == 60
    assert table["mean"].item() == pytest.approx(np.mean([long[-60:], short]))  # the latest draws
    assert table["n_chains"].item() == 2
    table = summarise(made_up([long, short[:40]]))
    assert table["n_draws"].item() == 100
    assert table["n_chains"].item() == 1


def test_draws_need_no_more_than_a_chain_a_sweep_and_scalars():
    draws = [
        SimpleNamespace(chain=c, sweep=s, scalars={"n_features": s % 3, "noise": 1.0 / (s + 1)})
        for c in range(2)
        for s in range(20)
    ]
    table = label_free(draws, covariates([0.0]))
    assert list(table.columns) == ["n_features", "noise"]
    assert "the number of features" in judge(summarise(table[["n_features"]]))


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (60, 10))
    train, heldout = split_words(X, random_state=0)
    t = pd.date_range("1900-01-01", periods=60, freq="D")
    model = TopicModel(
        max_topics=16,
        detail="fine",
        n_sweeps=30,
        n_draws=20,
        n_chains=2,
        random_state=0,
        quiet=True,
    )
    return model.fit(train, t=t), heldout


def test_a_fitted_model_has_them_all(fitted):
    model, heldout = fitted
    table = model.diagnostics(heldout)
    assert list(table.columns) == COLUMNS
    assert table.index.name == "quantity"
    expected = {"log_joint", "concentration", "heldout", "total_activation"}
    assert expected | {"total_activation[1900-01-01]"} <= set(table.index)
    assert "max_topics" not in table.index
    assert table.notna().all(axis=None)
    assert (table["n_draws"] == 20).all()
    open_BT = [[expit(at).sum() for at in draw.log_odds] for draw in model.draws_]
    assert table.loc["total_activation", "mean"] == pytest.approx(np.mean(open_BT))
    first = [row[0] for row in open_BT]
    assert table.loc["total_activation[1900-01-01]", "mean"] == pytest.approx(np.mean(first))
    assert isinstance(model.verdict(), str)


def test_heldout_scores_are_those_of_single_draws(fitted):
    model, heldout = fitted
    one = TopicModel(**model.get_params()).set_params(n_draws=1, n_chains=1, max_topics=40)
    one.fit(model.counts_, t=model.covariates_.labels()[model.covariates_.row])
    score = one._heldout_scores(heldout)
    assert score.shape == (1,)
    assert np.exp(-score[0]) == pytest.approx(one.perplexity(heldout).value)


def test_without_a_covariate_there_is_no_activation_to_compare():
    X = np.random.default_rng(1).poisson(1.0, (30, 8))
    model = TopicModel(
        thinning=Always(), max_topics="grow", n_sweeps=20, n_draws=12, random_state=0, quiet=True
    ).fit(X)
    assert not any(name.startswith("total") for name in model.diagnostics().index)


def test_a_feature_model_is_judged_too():
    X = np.random.default_rng(2).standard_normal((40, 5))
    model = FeatureModel(
        thinning=Always(),
        weights="binary",
        max_features=20,
        n_sweeps=30,
        n_chains=2,
        random_state=0,
        quiet=True,
    ).fit(X)
    table = model.diagnostics()
    assert {"log_likelihood", "noise"} <= set(table.index)
    assert isinstance(model.verdict().ok, bool)
    with pytest.raises(InvalidInput, match="takes no held-out counts"):
        model.diagnostics(X)
