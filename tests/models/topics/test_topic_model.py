"""TopicModel on a small corpus with known topics that come and go."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from thincrm.data.counts import split_words
from thincrm.errors import InvalidInput, InvalidType
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics.factors import GammaNegativeBinomialFactor, PoissonFactor
from thincrm.models.topics.model import TopicModel
from thincrm.thinning import Always, ProbitRVM

SETTINGS = {"max_topics": 12, "n_sweeps": 90, "n_draws": 12, "random_state": 3, "quiet": True}


def corpus(seed=0, n_documents=240):
    """Three topics on 4 words each: one early, one late, one always."""
    rng = np.random.default_rng(seed)
    year = np.sort(rng.integers(1900, 1920, n_documents))
    X = np.zeros((n_documents, 12), int)
    for d, when in enumerate(year):
        for topic, is_open in enumerate((when < 1908, when >= 1912, True)):
            if is_open and (topic == 2 or rng.random() < 0.8):
                size = 1 + rng.poisson(rng.gamma(1.5, 8.0))
                X[d, 4 * topic : 4 * topic + 4] += rng.multinomial(size, np.ones(4) / 4)
    return X, year


X, YEAR = corpus()


@pytest.fixture(scope="module")
def fitted():
    return TopicModel(**SETTINGS).fit(X, t=YEAR)


def early_topic(model):
    words = model.topics(n_words=4).groupby("topic")["word"].apply(set)
    return next(topic for topic, found in words.items() if found == {0, 1, 2, 3})


def test_topics_are_found_with_their_words(fitted):
    table = fitted.topics(n_words=4)
    assert list(table.columns) == ["topic", "rank", "word", "probability", "lower", "upper"]
    found = set(table.groupby("topic")["word"].apply(frozenset))
    for block in range(3):
        assert frozenset(range(4 * block, 4 * block + 4)) in found
    assert (table["lower"] <= table["upper"]).all()
    assert table["probability"].between(0, 1).all()


def test_activation_follows_time(fitted):
    curve = fitted.activation(level=0.8)
    assert {"topic", "t", "mean", "lower", "upper", "share"} <= set(curve.columns)
    mine = curve[curve["topic"] == early_topic(fitted)].set_index("t")
    assert mine.loc[:1905, "mean"].min() > 0.4
    assert mine.loc[1913:, "mean"].max() < 0.2
    assert (curve["lower"] <= curve["upper"]).all()
    assert curve.groupby("t")["share"].sum().between(0.9, 1.1).all()
    elsewhere = fitted.activation(t=[1899.5, 1930.0])
    assert elsewhere["t"].nunique() == 2


def test_summaries_are_labelled(fitted):
    topic = early_topic(fitted)
    assert fitted.first_active().loc[topic, "median"] <= 1902
    assert fitted.last_active().loc[topic, "median"] <= 1909
    shapes = fitted.shapes()
    kinds = ["rising", "falling", "peaked", "intermittent", "steady"]
    np.testing.assert_allclose(shapes[kinds].sum(axis=1), 1.0)
    assert shapes.loc[topic, "falling"] + shapes.loc[topic, "intermittent"] > 0.8
    assert fitted.coherence(4).loc[topic] > 0.3
    best = fitted.representative_documents(2, periods=[1910])
    assert set(best["period"]) <= {0, 1}
    assert fitted.n_topics_.between(3, 12).all()
    assert fitted.trace_.shape[0] == 90


def test_new_documents_are_read(fitted):
    new = np.zeros((2, 12), int)
    new[0, :4] = 5
    share = fitted.transform(new, t=[1902, 1902])
    assert share.shape == (2, len(fitted.get_feature_names_out()))
    assert share[0].argmax() == early_topic(fitted)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    assert fitted.transform(new).shape == share.shape


def test_undated_documents_are_dated(fitted):
    new = np.zeros((3, 12), int)
    new[0, :4], new[1, 4:8] = 6, 6
    for method in ("gibbs", "particles", "cheap"):
        chance = fitted.predict_time(new, evidence="topics", method=method)
        assert chance.shape == (3, len(np.unique(YEAR)))
        np.testing.assert_allclose(chance.sum(axis=1), 1.0)
        assert chance.columns[chance.iloc[0].to_numpy().argmax()] < 1910
        assert chance.columns[chance.iloc[1].to_numpy().argmax()] > 1908


def test_documents_with_levels_are_read_and_dated():
    model = TopicModel(likelihood=GammaNegativeBinomialFactor(), **SETTINGS).fit(X, t=YEAR)
    new = np.zeros((2, 12), int)
    new[0, :4], new[1, 4:8] = 6, 60
    assert model.transform(new, t=[1902, 1915])[0].argmax() == early_topic(model)
    np.testing.assert_allclose(model.transform(new).sum(axis=1), 1.0)
    for method in ("gibbs", "particles", "cheap"):
        chance = model.predict_time(new, evidence="topics", method=method, n_draws=3)
        np.testing.assert_allclose(chance.sum(axis=1), 1.0)
        assert chance.columns[chance.iloc[0].to_numpy().argmax()] < 1910
        assert chance.columns[chance.iloc[1].to_numpy().argmax()] > 1908
    share = model.activation().groupby("t")["share"].sum()
    np.testing.assert_allclose(share, 1.0, atol=0.05)


@pytest.mark.parametrize(
    "factors",
    [
        {},
        {"thinning": Always(), "max_topics": 40},
        {"levy": BetaProcess(2.0, 3.0)},
        {"levy": BetaProcess(2.0, 3.0), "thinning": ProbitRVM()},
        {"n_background": 1},
        {"learn": False, "concentration": 0.1, "levy": GammaProcess(2.0, 0.5)},
        {"likelihood": GammaNegativeBinomialFactor()},
        {"likelihood": GammaNegativeBinomialFactor(), "thinning": Always(), "max_topics": "grow"},
    ],
    ids=[
        "default",
        "static",
        "bnbp",
        "thinned bnbp",
        "background",
        "fixed",
        "levels",
        "static levels",
    ],
)
def test_every_product_predicts_better_than_single_words(factors):
    train, heldout = split_words(X, 0.2, 1)
    model = TopicModel(**{**SETTINGS, **factors}).fit(train, t=YEAR)
    result = model.perplexity(heldout)
    assert 4.0 < result.value < 11.0
    assert 0.0 < result.error < 0.5


def test_same_seed_same_bits_on_any_threads():
    found = [
        TopicModel(**{**SETTINGS, "n_sweeps": 8}, n_threads=n).fit(X, t=YEAR).draws_[-1]
        for n in (1, 2, 4)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].words.toarray(), other.words.toarray())
        np.testing.assert_array_equal(found[0].log_odds, other.log_odds)
        assert found[0].scalars == other.scalars


def test_texts_dates_and_frames():
    texts = ["war peace war army"] * 8 + ["tax money tax bank"] * 8
    dates = pd.to_datetime(["1862-12-01"] * 8 + ["1933-03-04"] * 8)
    model = TopicModel(**{**SETTINGS, "max_topics": 4}).fit(pd.Series(texts), t=dates)
    assert set(model.topics(3)["word"]) <= set("war peace army tax money bank".split())
    assert model.activation()["t"].dt.year.isin([1862, 1933]).all()
    assert model.predict_time(["war army"]).shape == (1, 2)
    frame = pd.DataFrame(X, columns=[f"w{i}" for i in range(12)])
    model = TopicModel(**{**SETTINGS, "n_sweeps": 4}).fit(frame, t=YEAR)
    assert model.topics(2)["word"].str.startswith("w").all()


def test_chains_and_growth():
    model = TopicModel(**{**SETTINGS, "n_chains": 2, "n_sweeps": 10}).fit(X, t=YEAR)
    assert set(model.n_topics_.index.get_level_values("chain")) == {0, 1}
    with pytest.warns(UserWarning, match="max_topics='grow'"):
        TopicModel(**{**SETTINGS, "max_topics": 2}).fit(X, t=YEAR)
    grown = TopicModel(**{**SETTINGS, "max_topics": "grow", "n_sweeps": 12}).fit(X, t=YEAR)
    assert grown.n_topics_.max() <= 100


@pytest.mark.filterwarnings("ignore:1 document")
def test_an_empty_document_keeps_its_place():
    some = X.copy()
    some[5] = 0
    model = TopicModel(**{**SETTINGS, "n_sweeps": 6}).fit(some, t=YEAR)
    assert model.transform(some, t=YEAR).shape[0] == len(some)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": np.where(X > 1e6, X, -1)}, "egative"),
        ({"X": X + 0.5}, "whole number"),
        ({"X": np.full(X.shape, np.nan)}, "NaN"),
        ({"X": np.zeros_like(X)}, "no words"),
        ({"t": YEAR[:-1]}, "inconsistent numbers of samples"),
        ({"t": np.full(len(X), np.nan)}, r"t\[0\]"),
        ({"levy": BetaProcess(2.0), "likelihood": PoissonFactor()}, "needs masses"),
        ({"max_topics": 0}, "max_topics"),
        ({"n_sweeps": 0}, "n_sweeps"),
        ({"n_background": 12}, "n_background"),
    ],
)
def test_bad_input_gets_a_sentence(change, words):
    change = dict(change)
    data = {"X": change.pop("X", X), "t": change.pop("t", YEAR)}
    with pytest.raises((InvalidInput, ValueError), match=words):
        TopicModel(**{**SETTINGS, **change}).fit(data["X"], t=data["t"])


def test_detail_is_a_concentration_unless_one_is_given():
    for settings, expected in (
        ({}, 0.1), ({"detail": "coarse"}, 0.3), ({"detail": "fine"}, None),
        ({"detail": "coarse", "concentration": 0.05}, 0.05),
    ):  # fmt: skip
        assert TopicModel(**settings)._factors().likelihood.concentration == expected
    for wrong in ("grainy", None, ["fine"]):
        with pytest.raises(InvalidInput, match="detail must be coarse, medium or fine"):
            TopicModel(detail=wrong)._factors()


def test_heldout_and_dates_must_fit_the_model(fitted):
    with pytest.raises(InvalidInput, match="same documents"):
        fitted.perplexity(sparse.csr_array((3, 12), dtype=int))
    with pytest.raises(InvalidType, match="date"):
        fitted.activation(t=pd.to_datetime(["1901-01-01"]))
    with pytest.raises(InvalidInput, match="texts"):
        fitted.transform(["some text"])


def test_curves_kept_with_a_draw_are_those_the_thinning_function_gives(fitted):
    rows = fitted.covariates_.rows
    assert fitted.covariates_.places(rows[::2]).tolist() == list(range(0, len(rows), 2))
    assert fitted.covariates_.places(rows + 0.5) is None
    draw = fitted.draws_[-1]
    direct = fitted.thinning_.log_odds(draw.x, fitted.prepared_, fitted.covariates_.labels(rows))
    np.testing.assert_allclose(fitted._log_odds(draw, rows), direct, rtol=1e-9, atol=1e-12)


def test_a_corpus_has_four_chains_or_fewer_where_one_takes_long(tmp_path, monkeypatch):
    from thincrm import load
    from thincrm.models.topics import model as module

    assert [module.UNASKED.number(n) for n in (0, 3_000_000, 3_000_001, 10**8)] == [4, 4, 2, 1]
    X, t = np.random.default_rng(0).poisson(1.0, (20, 6)), np.arange(20) % 4
    settings = {"n_sweeps": 6, "n_draws": 2, "n_threads": 1, "random_state": 0, "quiet": True}
    model = TopicModel(max_topics=30, n_chains="auto", **settings).fit(X, t=t)
    assert [draw.chain for draw in model.draws_] == [0, 0, 1, 1, 2, 2, 3, 3]
    few = module.UNASKED._replace(most_of_four=10, most_of_two=X.sum())
    monkeypatch.setattr(module, "UNASKED", few)
    with pytest.warns(UserWarning, match=r"2 chains: a corpus .* \(n_chains says otherwise\)"):
        model.fit(X, t=t)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.n_chains == "auto"
    assert {draw.chain for draw in again.draws_} == {0, 1}


def test_numbers_of_topics_are_counted_again():
    """Large: half a percent of the tokens, or more; some topics are between that and twice it."""
    X = np.random.default_rng(0).poisson(1.0, (60, 8))
    model = TopicModel(max_topics=60, n_sweeps=12, n_draws=8, random_state=0, quiet=True)
    model.fit(X, t=np.arange(60) % 4)
    between = 0
    for draw in model.draws_:
        tokens = [column.sum() for column in draw.documents.toarray().T]
        assert sum(tokens) == X.sum()
        assert draw.scalars["n_topics"] == sum(n > 0 for n in tokens)
        assert draw.scalars["n_large_topics"] == sum(n >= 0.005 * X.sum() for n in tokens)
        between += sum(0.005 * X.sum() <= n < 0.01 * X.sum() for n in tokens)
    assert between > 0


def test_rare_words_are_not_relevant_for_being_rare(fitted):
    """p(w) of relevance is (n_w + the mean of all n) / (2 N)."""
    n = [int(X[:, p].sum()) for p in range(X.shape[1])]
    expected = [(x + sum(n) / len(n)) / (2 * sum(n)) for x in n]
    np.testing.assert_allclose(fitted.common_words(), expected)
