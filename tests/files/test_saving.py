"""A model that is saved and loaded is the same model."""

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted
from small_run import bits, corpus, fit

import thincrm as tc
from thincrm.errors import InvalidInput, InvalidType

FACTORS = {
    "default": {},
    "probit": {"thinning": tc.ProbitRVM(centres=[0.0, 3.0, 9.0])},
    "bump": {"thinning": tc.Bump(length=0.3, window=(0.0, 9.0))},
    "exchangeable": {"thinning": tc.Always()},
    "negative binomial": {"levy": tc.BetaProcess(2.0, 3.0), "n_background": 1},
    "generalised gamma": {"levy": tc.GeneralizedGammaProcess(2.0, 0.3, 1.0), "burstiness": 0.0},
    "levels": {"likelihood": tc.GammaNegativeBinomialFactor((1.0, 4.0, 16.0))},
    "growing": {"max_topics": "grow", "learn": False, "concentration": 0.1},
}


@pytest.mark.parametrize("changes", FACTORS.values(), ids=FACTORS)
def test_what_is_loaded_is_what_was_saved(changes, tmp_path):
    model = fit(**changes)
    model.save(tmp_path / "model")
    loaded = tc.load(tmp_path / "model")
    assert bits(loaded) == bits(model)
    check_is_fitted(loaded)
    assert loaded.complete_
    assert loaded.get_params() == model.get_params()
    X, t = corpus()
    np.testing.assert_array_equal(loaded.transform(X, t=t), model.transform(X, t=t))
    pd.testing.assert_frame_equal(loaded.topics(3), model.topics(3))
    elsewhere = [-1.0, 4.5]
    pd.testing.assert_frame_equal(loaded.activation(elsewhere), model.activation(elsewhere))
    pd.testing.assert_frame_equal(loaded.trace_, model.trace_)
    assert loaded.perplexity(X) == model.perplexity(X)


def small(**changes):
    return tc.TopicModel(max_topics=4, n_sweeps=6, n_draws=2, random_state=0, quiet=True, **changes)


TEXTS = ["war peace war army"] * 8 + ["tax money tax bänk"] * 8


@pytest.mark.filterwarnings("ignore:All 4 topics")
@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_dates_and_texts_are_kept(tmp_path, zone):
    dates = pd.to_datetime(["1662-12-01"] * 8 + ["1933-03-04 12:30"] * 8, format="ISO8601")
    dates = dates.tz_localize(zone)
    vectorizer = CountVectorizer(ngram_range=(1, 2), stop_words=["war", "den"])
    model = small(vectorizer=vectorizer).fit(TEXTS, t=dates)
    model.save(tmp_path)
    loaded = tc.load(tmp_path)
    pd.testing.assert_frame_equal(loaded.activation(), model.activation())
    pd.testing.assert_frame_equal(loaded.topics(), model.topics())
    new = ["the army wants peace", "bänk money"]
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    assert loaded.vectorizer.get_params() == vectorizer.get_params()
    assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())


@pytest.mark.filterwarnings("ignore:All 4 topics")
@pytest.mark.parametrize(
    "centres",
    [
        pd.to_datetime(["1862-12-01", "1900-01-01"]),
        np.array(["1862-12-01", "1900-01-01"], "M8[D]"),
        ["1862-12-01", "1900-01-01"],
        [datetime.date(1862, 12, 1), datetime.datetime(1900, 1, 1)],
        pd.Series(pd.to_datetime(["1862-12-01", "1900-01-01"])),
    ],
    ids=["index", "array", "strings", "objects", "series"],
)
def test_dates_in_settings_are_kept(tmp_path, centres):
    dates = ["1862-12-01"] * 8 + ["1933-03-04"] * 8
    model = small(thinning=tc.ProbitRVM(centres=centres)).fit(TEXTS, t=dates)
    model.save(tmp_path)
    loaded = tc.load(tmp_path)
    pd.testing.assert_frame_equal(loaded.activation(), model.activation())
    np.testing.assert_array_equal(
        loaded.thinning.prepare(loaded.covariates_).centres, model.prepared_.centres
    )


@pytest.mark.filterwarnings("ignore:All 4 topics")
def test_names_of_words_are_kept(tmp_path):
    X, t = corpus()
    frame = pd.DataFrame(X, columns=[f"word {i} é" for i in range(8)])
    model = small().fit(frame, t=pd.Series(t, name="year"))
    model.save(tmp_path / "names")
    loaded = tc.load(tmp_path / "names")
    pd.testing.assert_index_equal(loaded.vocabulary_, model.vocabulary_)
    assert list(loaded.feature_names_in_) == list(frame.columns)
    assert loaded.covariates_.names == ("year",)
    numbers = small().fit(pd.DataFrame(X, columns=range(3, 11)), t=t)
    numbers.save(tmp_path / "numbers")
    words = tc.load(tmp_path / "numbers").vocabulary_
    assert list(words) == list(range(3, 11))


@pytest.mark.filterwarnings("ignore:All 4 topics")
def test_code_is_not_kept(tmp_path):
    X, t = corpus()
    function = tc.FunctionThinning(
        lambda x, t: np.full((len(t), len(x)), 0.5), lambda rng, n: rng.random((n, 1))
    )
    with pytest.raises(InvalidType, match="thinning is a FunctionThinning, which may hold code"):
        small(thinning=function).fit(X, t=t, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    small(thinning=function).fit(X, t=t)  # in memory it is as welcome as ever
    model = small(vectorizer=CountVectorizer(tokenizer=str.split, token_pattern=None))
    model.fit(TEXTS, t=range(16))
    with pytest.warns(UserWarning, match="takes counts, not texts"):
        model.save(tmp_path / "texts")
    loaded = tc.load(tmp_path / "texts")
    assert bits(loaded) == bits(model)
    with pytest.raises(InvalidInput, match="pass counts"):
        loaded.transform(TEXTS)


def test_only_empty_folders_are_written_to(tmp_path):
    model = fit()
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InvalidInput, match=r"is not empty \(mine.txt\) and holds no run"):
        model.save(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "data.json").write_text("mine")
    with pytest.raises(InvalidInput, match="is not empty"):
        model.save(tmp_path / "data")
    with pytest.raises(InvalidInput, match="is a file"):
        model.save(tmp_path / "mine.txt")
    model.save(tmp_path / "model")
    with pytest.raises(InvalidInput, match="holds a finished run"):
        fit(tmp_path / "model")
    for nothing in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InvalidInput, match="holds no run"):
            tc.load(nothing)


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        tc.TopicModel().save(tmp_path)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_what_is_no_name_is_one_sentence(tmp_path, name):
    """Too long, or with a zero in it: Python and the system have other errors for each."""
    path, model = tmp_path / name, fit(n_sweeps=2, n_draws=1, n_chains=1)
    for use in (
        lambda: tc.load(path),
        lambda: tc.resume(path),
        lambda: fit(path),
        lambda: model.save(path),
        lambda: model.to_csv(path),
        lambda: tc.write_report(model, path),
        lambda: tc.read_texts(path),
    ):
        with pytest.raises(InvalidInput, match="is no name of a file or folder"):
            use()
