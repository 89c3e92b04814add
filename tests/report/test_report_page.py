"""The report as a file: what is in it, what cannot get out of it, what is refused."""

import base64
import hashlib
import html
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from report_cases import PAYLOADS, WORDS, dates, fitted, fitted_features, texts_of

import thincrm as tc
from thincrm.errors import InvalidInput, InvalidType
from thincrm.report.charting import charting_library
from thincrm.report.page import data_block, render
from thincrm.report.quotations import excerpt
from thincrm.report.topic_data import topic_data
from thincrm.thinning import Always


class Outline(HTMLParser):
    """Tags, attributes, and the text of scripts and styles, as a browser reads them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.blocks, self.open = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style", "title"):
            self.blocks.append((tag, dict(attrs), ""))
            self.open = tag

    def handle_endtag(self, tag):
        self.open = None if tag == self.open else self.open

    def handle_data(self, text):
        if self.open:
            tag, attrs, so_far = self.blocks[-1]
            self.blocks[-1] = (tag, attrs, so_far + text)

    def block(self, tag, kind=None):
        return self.all(tag, kind)[-1]

    def all(self, tag, kind=None):
        return [t for name, attrs, t in self.blocks if name == tag and attrs.get("type") == kind]


def read(path):
    page = path.read_text("utf-8")
    outline = Outline(page)
    return page, outline, json.loads(outline.block("script", "application/json"))


@pytest.fixture(scope="module")
def plain():
    return fitted()


@pytest.fixture(scope="module")
def written(plain, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert tc.write_report(plain, path, texts=texts_of(plain), title="A <b>title</b>") == path
    return path


def test_the_page_allows_its_own_script_and_style_and_nothing_else(written):
    _, outline, _ = read(written)
    policy = next(a["content"] for t, a in outline.tags if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none';")
    assert "connect-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, number in (("script", 2), ("style", 1)):
        blocks = outline.all(tag)
        assert len(blocks) == number
        digests = [hashlib.sha256(block.encode()).digest() for block in blocks]
        hashes = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
        assert f"{tag}-src {' '.join(hashes)};" in policy


def test_the_charting_library_is_that_of_its_package_and_is_not_imported(written):
    _, outline, _ = read(written)
    library, own = outline.all("script")
    assert library == charting_library()
    assert library.startswith("// https://d3js.org v5")
    assert len(own) < 100_000
    code = "import sys, thincrm.report.charting as c; c.charting_library(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"mpld3", "matplotlib"} & set(done.stdout.split())


def test_without_the_charting_library_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr("thincrm.report.charting.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match="pip install"):
        charting_library()


def test_nothing_is_loaded_and_no_markup_runs(written):
    page, outline, _ = read(written)
    own = page.replace(charting_library(), "")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", own)
    for tag, attributes in outline.tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert attributes.get("href", "#").startswith(("#", "data:,"))
        assert "src" not in attributes
        assert tag not in ("img", "iframe", "object", "embed", "base")
    script = outline.block("script")
    for danger in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "eval(",
        "new Function",
        "fetch(",
        ".html(",
        "d3.csv",
        "d3.json",
        "d3.text",
        "attr('style'",
    ):
        assert danger not in script


def test_the_title_is_text(written):
    page, outline, data = read(written)
    assert outline.block("title") == "A <b>title</b>"
    assert "<h1>A &lt;b&gt;title&lt;/b&gt;</h1>" in page
    assert data["title"] == "A <b>title</b>"


def test_a_title_that_looks_like_a_slot_is_not_filled():
    page = render({"noun": "topic"}, "{{data}} {{nonsense}}")
    assert "<h1>{{data}} {{nonsense}}</h1>" in page


@pytest.mark.parametrize("payload", PAYLOADS)
def test_data_blocks_hold_no_markup(payload):
    block = data_block({payload: [payload]})
    assert not set("<>&\u2028\u2029\n\r\0") & set(block)
    block.encode("utf-8")
    assert json.loads(block) == {payload: [payload]}


def test_hostile_words_texts_and_names_stay_data(tmp_path):
    model = fitted(WORDS)
    names = [WORDS[i % len(WORDS)] for i in range(model.counts_.shape[0])]
    texts = pd.Series(texts_of(model), index=names)
    _, calm, _ = read(tc.write_report(model, tmp_path / "calm.html"))
    _, _, data = read(tc.write_report(model, tmp_path / "hostile.html", texts=texts))
    for title in PAYLOADS:
        outline = Outline(render(data, title))
        assert [tag for tag, _ in outline.tags] == [tag for tag, _ in calm.tags]
    assert set(data["vocabulary"]["words"]) == set(WORDS)
    assert {document["name"] for document in data["documents"]} <= set(WORDS)


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
        words = [data["vocabulary"]["words"][code] for code, *_ in topic["words"]]
        top = plain.topics(4).query("topic == @k")
        assert words[:4] == [str(word) for word in top["word"]]
        np.testing.assert_allclose([p for _, p, *_ in topic["words"][:4]], top["probability"], 1e-3)
    assert data["corpus"]["tokens"] == plain.counts_.sum()
    assert sum(data["time"]["documents"]) == plain.counts_.shape[0]
    curves = np.array(data["vocabulary"]["curves"])
    assert curves.sum(axis=1).tolist() == data["vocabulary"]["counts"]
    assert curves.sum(axis=0).tolist() == data["vocabulary"]["totals"]


def test_words_belong_to_topics_in_shares_that_sum_to_one(plain):
    tokens = plain.word_tokens()
    assert list(tokens.index) == list(plain.vocabulary_)
    drawn = np.mean([draw.words.sum() for draw in plain.draws_])
    assert tokens.to_numpy().sum() == pytest.approx(drawn, rel=0.2)
    best = plain.topics(1).set_index("topic")["word"]
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
    from thincrm.report.times import chosen_times

    few = chosen_times(model.covariates_, 10_000).data
    assert 40 < len(few["values"]) <= 60
    assert set(few["values"]) <= {round(float(x), 6) for x in model.covariates_.rows[:, 0]}
    assert sum(few["documents"]) == model.counts_.shape[0]


@pytest.mark.parametrize("t", [None, np.zeros_like], ids=["years", "one time"])
def test_topics_that_never_close_have_a_page(tmp_path, t):
    model = fitted(t=t, thinning=Always())
    _, _, data = read(tc.write_report(model, tmp_path / "r.html"))
    assert data["topics"][0]["shape"][4] == 1.0


def test_the_same_model_gives_the_same_bytes(plain, written, tmp_path):
    again = tc.write_report(
        plain, tmp_path / "again.html", texts=texts_of(plain), title="A <b>title</b>"
    )
    assert again.read_bytes() == written.read_bytes()


def test_the_verdict_of_the_model_is_shown(plain, written):
    _, _, data = read(written)
    assert data["diagnosis"]["verdict"] == str(plain.verdict())
    assert data["diagnosis"]["ok"] is plain.verdict().ok is False  # of six draws
    table = plain.diagnostics()
    assert [row[0] for row in data["diagnosis"]["table"]["rows"]] == list(table.index)
    limit = plain.draws_[-1].scalars["max_topics"]
    assert bool(data["diagnosis"]["cautions"]) == (plain.n_topics_.max() >= 0.95 * limit)


def test_bad_input_is_a_sentence(plain, tmp_path):
    texts = texts_of(plain)
    with pytest.raises(InvalidInput, match=r"texts holds 1 documents but .* fitted to 160"):
        tc.write_report(plain, tmp_path / "r.html", texts=texts[:1])
    with pytest.raises(InvalidType, match=r"texts\[2\] must be a str, got int"):
        tc.write_report(plain, tmp_path / "r.html", texts=[*texts[:2], 3, *texts[3:]])
    with pytest.raises(InvalidType, match="one str"):
        tc.write_report(plain, tmp_path / "r.html", texts="all")
    with pytest.raises(InvalidInput, match="is no folder"):
        tc.write_report(plain, tmp_path / "no" / "r.html")
    with pytest.raises(InvalidType, match="model must be a TopicModel or a FeatureModel, got int"):
        tc.write_report(3, tmp_path / "r.html")
    with pytest.raises(InvalidInput, match="a feature model has none"):
        tc.write_report(fitted_features(), tmp_path / "r.html", texts=texts)
    with pytest.raises(InvalidType, match="title must be a str"):
        tc.write_report(plain, tmp_path / "r.html", title=3)


def test_several_covariates_are_refused(tmp_path):
    model = fitted(t=lambda year: np.column_stack([year, year % 3]), n_sweeps=6)
    with pytest.raises(InvalidInput, match="one covariate"):
        tc.write_report(model, tmp_path / "r.html")


def test_a_model_from_a_file_has_the_same_page(plain, written, tmp_path):
    plain.save(tmp_path / "model")
    loaded = tc.load(tmp_path / "model")
    path = tmp_path / "loaded.html"
    tc.write_report(loaded, path, texts=texts_of(plain), title="A <b>title</b>")
    assert path.read_bytes() == written.read_bytes()


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


@pytest.mark.parametrize("letter", ["x", "\u4e2d"], ids=["ASCII", "Chinese"])
def test_a_hundred_topics_stay_below_three_megabytes(plain, letter):
    """The most that 100 topics can hold: every list full, every number long."""
    data = topic_data(plain, texts_of(plain))
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
    assert len(render(data, "title").encode()) < 3e6


def test_a_page_escapes_its_policy_in_one_attribute(written):
    page, _, _ = read(written)
    content = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in html.unescape(content)
