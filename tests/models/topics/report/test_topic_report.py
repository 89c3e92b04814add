"""The report of topics as a file: its numbers are those of the tables."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from page_outline import Outline, read
from report_cases import PAYLOADS, WORDS, dates, fitted, texts_of

import thincrm as tc
from thincrm.models.topics.report.quotations import excerpt, word_places
from thincrm.report.page import render
from thincrm.report.times import chosen_times
from thincrm.thinning import Always


@pytest.fixture(scope="module")
def plain():
    return fitted()


@pytest.fixture(scope="module")
def written(plain, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return tc.write_report(plain, path, texts=texts_of(plain))


def test_numbers_are_those_of_the_tables(plain, written):
    _, _, data = read(written)
    assert len(data["topics"]) == plain.shapes().shape[0]
    table = plain.activation(level=0.9)
    half = plain.activation(level=0.5)
    for k, topic in enumerate(data["topics"]):
        mine, narrow = table[table["topic"] == k], half[half["topic"] == k]
        unit = topic["open"]["unit"]
        np.testing.assert_allclose(np.array(topic["open"]["mean"]) * unit, mine["mean"], atol=unit)
        np.testing.assert_allclose(
            np.array(topic["open"]["low"]) * unit, narrow["lower"], atol=unit
        )
        np.testing.assert_allclose(
            np.array(topic["share"]["upper"]) * topic["share"]["unit"],
            mine["share_upper"],
            atol=topic["share"]["unit"],
        )
        assert topic["shape"] == [round(x, 3) for x in plain.shapes().iloc[k, :5]]
        assert topic["first"][1] == plain.first_active()["median"][k]
        found = plain.reliability().loc[k]
        assert topic["firm"] is bool(found["firm"])
        assert topic["found"] == f"in {100 * found['draws']:.0f} % of draws"  # of one chain
        words = [data["vocabulary"]["words"][code] for code, *_ in topic["words"]]
        top = plain.topics(4, order="probability").query("topic == @k")
        assert words[:4] == [str(word) for word in top["word"]]
        np.testing.assert_allclose([p for _, p, *_ in topic["words"][:4]], top["probability"], 1e-3)
    assert data["corpus"]["tokens"] == plain.counts_.sum()
    assert data["corpus"]["words"] == plain.counts_.shape[1]
    sizes = plain.draws_[-1].documents.sum(axis=0)  # of all words, those that echo others too
    assert sorted(topic["tokens"] for topic in data["topics"]) == sorted(sizes)
    assert sum(sizes) == plain.counts_.sum()
    assert sum(data["time"]["documents"]) == plain.counts_.shape[0]
    curves = np.array(data["vocabulary"]["curves"])
    assert curves.sum(axis=1).tolist() == data["vocabulary"]["counts"]
    assert curves.sum(axis=0).tolist() == data["vocabulary"]["totals"]


def test_words_belong_to_topics_in_shares_that_sum_to_one(plain):
    tokens = plain.word_tokens()
    assert list(tokens.index) == list(plain.vocabulary_)
    drawn = np.mean([draw.words.sum() for draw in plain.draws_])
    assert tokens.to_numpy().sum() == pytest.approx(drawn, rel=0.2)
    best = plain.topics(1, order="probability").set_index("topic")["word"]
    assert tokens[0].idxmax() == best[0]


def test_dates_stay_dates(tmp_path):
    model = fitted(t=dates)
    _, _, data = read(tc.write_report(model, tmp_path / "r.html"))
    assert data["time"]["kind"] == "date"
    assert data["time"]["labels"][0] == "1900-06-15"
    assert data["time"]["values"][0] == pd.Timestamp("1900-06-15").timestamp() / 86_400
    quoted = data["topics"][0]["quotations"][0]
    assert "text" not in quoted
    assert data["documents"][quoted["document"]]["time"].endswith("-06-15")


def test_many_times_are_thinned_and_every_document_is_counted(tmp_path):
    model = fitted(t=lambda year: year + np.random.default_rng(1).random(year.size))
    _, _, data = read(tc.write_report(model, tmp_path / "r.html"))
    assert len(data["time"]["values"]) == len(model.covariates_.rows)
    few = chosen_times(model.covariates_, 10_000).data
    assert 40 < len(few["values"]) <= 60
    assert set(few["values"]) <= {round(float(x), 6) for x in model.covariates_.rows[:, 0]}
    assert sum(few["documents"]) == model.counts_.shape[0]


@pytest.mark.parametrize("t", [None, np.zeros_like], ids=["years", "one time"])
def test_topics_that_never_close_have_a_page(tmp_path, t):
    model = fitted(t=t, thinning=Always())
    _, _, data = read(tc.write_report(model, tmp_path / "r.html"))
    assert data["topics"][0]["shape"][4] == 1.0


def test_several_covariates_have_the_plain_page(tmp_path):
    model = fitted(t=lambda year: np.column_stack([year, year % 3]), n_sweeps=6)
    texts = ["a text"] * model.counts_.shape[0]
    _, _, data = read(tc.write_report(model, tmp_path / "r.html", texts=texts))
    assert data["noun"] == "topic"
    assert len(data["covariates"]) == 2


def test_an_excerpt_is_the_passage_where_the_topic_speaks():
    text = (
        "Nothing here at all. " * 40 + "War and army met the army. " + "Still nothing more. " * 40
    )
    found = excerpt(text, {"war": 0.3, "army": 0.4}, 120)
    assert "War and army met the army." in found
    assert len(found) <= 124
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert excerpt("short  text", {}) == "short text"
    assert len(excerpt("x" * 900, {}, 100)) <= 103


def test_words_are_found_with_their_hyphens_where_they_are_known_so():
    text, known = "Co-operation, well-meant-advice; a co-op", {"co-operation", "meant", "op"}
    found = [text[start:stop] for start, stop in word_places(text, known)]
    assert found == ["Co-operation", "well", "meant", "advice", "a", "co", "op"]
    long = "Nothing at all here. " * 60 + "A co-operation. " + "Nothing more to say. " * 60
    assert "co-operation" in excerpt(long, {"co-operation": 0.3})


@pytest.mark.parametrize("letter", ["x", "\u4e2d"], ids=["ASCII", "Chinese"])
def test_a_hundred_topics_stay_below_three_megabytes(plain, letter):
    """The most that 100 topics can hold: every list full, every number long."""
    page = plain.report_page(texts=texts_of(plain))
    data = dict(page.data)
    n_times, n_words, n_periods = 200, 2_500, 40
    curve = {name: [999] * n_times for name in ("mean", "lower", "upper", "low", "high")}
    data["time"] |= {"values": [12345.123456] * n_times, "labels": ["1900-01-01"] * n_times}
    word = [letter * 8, 99, 100]
    text = [letter, word] * 35 if letter == "x" else [letter * 420]
    quoted = {"document": 1099, "share": 0.123, "text": text}
    topic = data["topics"][0] | {
        "open": {"unit": 0.0012345, **curve},
        "share": {"unit": 0.0012345, **curve},
        "words": [[2499, 0.01234, 1.234e-05, 0.05678]] * 60,
        "quotations": [quoted] * 3,
        "others": [[1099, 0.123]] * 8,
        "through": [1234] * n_periods,
        "codes": [2499] * 16,
        "counts": [[123] * n_periods] * 16,
        "similar": [[99, 0.123]] * 4,
    }
    data["documents"] = [{"name": letter * 40, "time": "1900-01-01", "at": 12345.123456}] * 1_100
    data["topics"] = [topic] * 100
    data["vocabulary"] = {
        "words": [letter * 8] * n_words,
        "counts": [12345] * n_words,
        "edges": [12345.123456] * (n_periods + 1),
        "totals": [123456] * n_periods,
        "curves": [[123] * n_periods] * n_words,
        "homes": [[[99, 0.123]] * 6] * n_words,
    }
    assert len(render(replace(page, data=data)).encode()) < 3e6


def test_the_verdict_of_the_model_is_shown(plain, written):
    _, _, data = read(written)
    assert data["diagnosis"]["verdict"] == str(plain.verdict())
    assert data["diagnosis"]["ok"] is plain.verdict().ok is False  # of six draws
    table = plain.diagnostics()
    assert [row[0] for row in data["diagnosis"]["table"]["rows"]] == list(table.index)
    limit = plain.draws_[-1].scalars["max_topics"]
    assert bool(data["diagnosis"]["cautions"]) == ((plain.n_topics_ >= limit).mean() > 0.5)


def test_hostile_words_texts_and_names_stay_data(tmp_path):
    model = fitted(WORDS)
    names = [WORDS[i % len(WORDS)] for i in range(model.counts_.shape[0])]
    texts = pd.Series(texts_of(model), index=names)
    _, calm, _ = read(tc.write_report(model, tmp_path / "calm.html"))
    _, _, data = read(tc.write_report(model, tmp_path / "hostile.html", texts=texts))
    page = model.report_page(texts=texts)
    for title in PAYLOADS:
        outline = Outline(render(replace(page, title=title)))
        assert [tag for tag, _ in outline.tags] == [tag for tag, _ in calm.tags]
    assert set(data["vocabulary"]["words"]) == set(WORDS)
    assert {document["name"] for document in data["documents"]} <= set(WORDS)
