"""What leaves a fitted model: tables, ArviZ groups, pyLDAvis pages."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from thincrm.errors import InvalidInput
from thincrm.models.features.model import FeatureModel
from thincrm.models.topics import ldavis
from thincrm.models.topics.arviz import topic_groups
from thincrm.models.topics.model import TopicModel
from thincrm.models.topics.tables import TopicTables
from thincrm.thinning import Always

HOSTILE = "</script><img src=x onerror=alert(1)>"
SETTINGS = {
    "max_topics": 24, "detail": "fine", "n_sweeps": 24, "n_draws": 10, "random_state": 0,
    "quiet": True,
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


def corpus():
    """Four topics of three words each; a document is about one or two of them."""
    rng = np.random.default_rng(0)
    X = np.zeros((80, 12), int)
    for d in range(80):
        for topic in {d // 20, rng.integers(4)}:
            X[d, 3 * topic : 3 * topic + 3] += rng.poisson(4.0, 3)
    words = [HOSTILE, *(f"word{p}" for p in range(1, 12))]
    return pd.DataFrame(X, columns=words), pd.date_range("1800", periods=16, freq="YS").repeat(5)


X, DATES = corpus()


@pytest.fixture(scope="module")
def fitted():
    return TopicModel(**SETTINGS, n_chains=2).fit(X, t=DATES)


@pytest.fixture(scope="module")
def exported(fitted):
    pytest.importorskip("arviz")
    return fitted.to_arviz(n_words=2, n_times=7)


def test_documents_are_shared_out_among_topics(fitted):
    table = fitted.documents()
    assert list(table.columns) == ["document", "t", "topic", "share"]
    assert table["t"].iloc[0] == DATES[0]
    total = table.groupby("document")["share"].sum()
    assert total.between(0.5, 1 + 1e-9).all()
    assert (table.groupby("document")["share"].diff().dropna() <= 0).all()
    last = fitted.draws_[-1]
    one = type(fitted._tables)([last], fitted.vocabulary_, fitted.covariates_)
    counted = last.documents.toarray()[:, np.argsort(-last.tokens, kind="stable")]
    expected = counted / counted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(one.document_shares().toarray(), expected)


def test_kept_activations_are_those_of_the_same_times(fitted):
    pd.testing.assert_frame_equal(fitted.activation(), fitted.activation(DATES.unique()))


@pytest.mark.parametrize("n_background", [0, 1])
def test_curves_at_new_times_go_on_from_those_at_old_ones(n_background):
    """An hour later all is as it was; topics that are always open come first in a draw."""
    settings = SETTINGS | {"n_chains": 1, "n_background": n_background}
    model = TopicModel(**settings).fit(X, t=DATES)
    kept = model.activation()
    later = model.activation(DATES.unique() + pd.Timedelta(hours=1))
    names = [name for name in kept.columns if name not in ("topic", "t")]
    np.testing.assert_allclose(later[names], kept[names], atol=2e-3)
    never_shut = kept.groupby("topic")["mean"].min() == 1.0
    assert never_shut.sum() == n_background


def test_every_table_is_written(fitted, tmp_path):
    files = fitted.to_csv(tmp_path / "new" / "folder")
    names = {file.stem for file in files}
    assert {"topics", "activation", "shapes", "documents", "diagnostics", "trace"} <= names
    for name, table in fitted.tables().items():
        back = pd.read_csv(tmp_path / "new" / "folder" / f"{name}.csv")
        assert list(back.columns) == list(table.columns)
        assert len(back) == len(table)
    topics = pd.read_csv(tmp_path / "new" / "folder" / "topics.csv")
    assert HOSTILE in set(topics["word"])


def test_tables_of_a_covariate_with_two_columns():
    t = np.column_stack([np.arange(80) // 8, np.arange(80) % 2])
    tables = TopicModel(**SETTINGS).fit(X, t=t).tables()
    assert "shapes" not in tables
    assert {"t0", "t1"} <= set(tables["activation"].columns)
    assert tables["documents"].shape[0] > 80


def test_groups_read_well(exported, fitted):
    posterior = exported["posterior"]
    n_topics = fitted._tables.n_topics
    assert dict(posterior["activation"].sizes) == {
        "chain": 2, "draw": 10, "t": 7, "topic": n_topics,
    }  # fmt: skip
    assert posterior["t"].values[0] == np.datetime64("1800-01-01")
    assert posterior["word_probability"].dims == ("chain", "draw", "topic", "word")
    first = fitted.topics(3).query("topic == 0")["word"]
    assert str(posterior["topic_words"].sel(topic=0).values) == " ".join(first)
    assert posterior["n_topics"].dims == ("chain", "draw")
    lp = exported["sample_stats"]["lp"].values
    np.testing.assert_allclose(lp.ravel(), [draw.scalars["log_joint"] for draw in fitted.draws_])
    assert exported["constant_data"]["documents"].values.sum() == 7 * 5
    assert exported["observed_data"]["tokens"].values[0] == X.iloc[:5].sum().sum()


def test_matched_quantities_are_those_of_the_tables(exported, fitted):
    posterior = exported["posterior"]
    table = fitted.activation().set_index(["topic", "t"])["mean"]
    mean = posterior["activation"].mean(["chain", "draw"])
    for topic in (0, 1):
        expected = [table[topic, when] for when in posterior["t"].values]
        np.testing.assert_allclose(mean.sel(topic=topic), expected, rtol=1e-5)
    words = fitted.topics(2).query("topic == 0")
    drawn = posterior["word_probability"].sel(topic=0).mean(["chain", "draw"])
    for word, probability in zip(words["word"], words["probability"], strict=True):
        assert float(drawn.sel(word=word)) == pytest.approx(probability, abs=0.05)
    tables = fitted.topic_tables()
    for b, (draw, found) in enumerate(zip(tables.draws, tables.found, strict=True)):
        share = posterior["topic_share"].values.reshape(-1, tables.n_topics)[b]
        tokens = draw.documents.toarray().sum(axis=0)  # of a topic, echoes too
        expected = [tokens[k] / X.to_numpy().sum() if k >= 0 else 0.0 for k in found]
        np.testing.assert_allclose(share, expected, rtol=1e-6)


def test_groups_of_topics_without_arviz(fitted):
    """Shares have echoes in them; a word's probability given a draw is beta, its tokens counted."""
    tables = fitted.topic_tables()
    few = TopicTables(tables.draws[-3:] * 400, tables.vocabulary, tables.known)
    posterior, at = topic_groups(few, fitted.counts_, 2, 7, 0)["posterior"]
    dims, share = posterior["topic_share"]
    assert dims == ("chain", "draw", "topic")
    chance = posterior["word_probability"][1][0]
    for i in range(3):
        draw, found = few.draws[i], few.found[i]
        tokens, words = draw.documents.toarray().sum(axis=0), draw.words.toarray()
        for topic, k in enumerate(found):
            if k < 0:
                assert share[0, i, topic] == 0.0
                assert np.isnan(chance[i, topic]).all()
                continue
            assert share[0, i, topic] == pytest.approx(tokens[k] / tokens.sum(), rel=1e-6)
            for w, word in enumerate(at["word"]):
                hits = words[few.vocabulary.get_loc(word), k] + draw.concentration
                rest = words[:, k].sum() + 12 * draw.concentration - hits
                if hits > 1.0:  # else single precision would tell
                    drawn = chance[i::3, topic, w]
                    assert stats.kstest(drawn, stats.beta(hits, rest).cdf).pvalue > 1e-7


def test_arviz_draws_it(exported):
    arviz = pytest.importorskip("arviz")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    arviz.plot_trace(exported, var_names=["concentration", "topic_share"], coords={"topic": [0]})
    arviz.plot_rank(exported, var_names=["concentration"])
    arviz.plot_autocorr(exported, var_names=["concentration"])
    assert "concentration" in arviz.summary(exported, var_names=["concentration"]).index
    pyplot.close("all")


def test_static_models_and_time_zones_leave_too():
    pytest.importorskip("arviz")
    static = TopicModel(thinning=Always(), **SETTINGS).fit(X).to_arviz()
    assert static["posterior"].sizes["t"] == 1
    zoned = TopicModel(**SETTINGS).fit(X, t=DATES.tz_localize("UTC")).to_arviz()
    assert zoned["posterior"]["t"].values[0] == np.datetime64("1800-01-01")


def test_without_the_tools_a_sentence(fitted, monkeypatch):
    for module in ("arviz", "pyLDAvis"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidInput, match=r"pip install 'thincrm\[arviz\]'"):
        fitted.to_arviz()
    with pytest.raises(InvalidInput, match="pip install"):
        fitted.to_pyldavis()


def test_the_map_of_topics_keeps_distances():
    """Three topics lie in a plane: classical scaling gives their divergences back."""
    theta = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    at = ldavis.plane(theta)
    middle = 0.5 * (theta[0] + theta[1])
    far = 0.5 * sum((row * np.log(row / middle)).sum() for row in theta[:2])
    assert np.linalg.norm(at[0] - at[1]) == pytest.approx(far)


def test_too_few_topics_for_a_map():
    few = TopicModel(max_topics=2, n_sweeps=9, random_state=0, quiet=True, learn=False)
    with pytest.warns(UserWarning, match="topics are in use"):
        few.fit(X, t=DATES)
    with pytest.raises(InvalidInput, match="needs 3 of them; the model has 2"):
        few.to_pyldavis()


def test_pyldavis_page_stands_alone_and_keeps_words_text(fitted, tmp_path):
    pytest.importorskip("pyLDAvis")
    prepared = fitted.to_pyldavis(tmp_path / "topics.html")
    n_topics = fitted._tables.n_topics
    assert list(prepared.topic_order) == list(range(1, n_topics + 1))
    first = fitted.topics(1).query("topic == 0")["word"].item()
    assert prepared.sorted_terms(topic=1)["Term"].iloc[0] == first
    page = (tmp_path / "topics.html").read_text("utf-8")
    assert "<img" not in page
    assert "\\u003cimg" in page
    assert 'src="http' not in page
    assert 'href="http' not in page


@pytest.fixture(scope="module")
def features():
    value = np.random.default_rng(3).standard_normal((40, 4)) * [1.0, 10.0, 1.0, 1.0]
    table = pd.DataFrame(value, columns=["gdp", "life", "urban", "energy"])
    model = FeatureModel(
        weights="binary", max_features=12, n_sweeps=18, n_draws=10, random_state=0, quiet=True
    )
    return model.fit(table, t=DATES[:40])


def test_tables_of_features(features, tmp_path):
    names = {file.stem for file in features.to_csv(tmp_path)}
    assert names == {"features", "shares", "activation", "diagnostics", "trace"}
    back = pd.read_csv(tmp_path / "features.csv")
    assert list(back.columns) == ["feature", "column", "mean", "lower", "upper"]


def test_features_for_arviz(features):
    pytest.importorskip("arviz")
    posterior = features.to_arviz(n_times=3)["posterior"]
    assert posterior["activation"].dims == ("chain", "draw", "t", "feature")
    assert posterior["t"].values[0] == np.datetime64("1800-01-01")
    entry = posterior["entry"].sel(feature=0, column="life").mean(["chain", "draw"])
    expected = features.features_.loc[(0, "life"), "mean"]
    assert float(entry) == pytest.approx(expected, rel=1e-4)
    assert posterior["noise"].dims == ("chain", "draw")
