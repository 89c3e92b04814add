"""The report as a file: what is in it, what cannot get out of it, what is refused."""

import base64
import hashlib
import html
import json
import re
import subprocess
import sys

import pytest
from page_outline import read
from report_cases import PAYLOADS, fitted, fitted_features, texts_of

import thincrm as tc
from thincrm.errors import InvalidInput, InvalidType
from thincrm.report import charting
from thincrm.report.charting import charting_library
from thincrm.report.page import Page, data_block, render


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
    monkeypatch.setattr(charting, "find_spec", lambda name: None)
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
    page = render(Page("{{data}} {{nonsense}}", {}, "<h1>{{title}}</h1>", ""))
    assert "<h1>{{data}} {{nonsense}}</h1>" in page


@pytest.mark.parametrize("payload", PAYLOADS)
def test_data_blocks_hold_no_markup(payload):
    block = data_block({payload: [payload]})
    assert not set("<>&\u2028\u2029\n\r\0") & set(block)
    block.encode("utf-8")
    assert json.loads(block) == {payload: [payload]}


def test_the_same_model_gives_the_same_bytes(plain, written, tmp_path):
    again = tc.write_report(
        plain, tmp_path / "again.html", texts=texts_of(plain), title="A <b>title</b>"
    )
    assert again.read_bytes() == written.read_bytes()


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
    with pytest.raises(InvalidType, match=r"model must be a fitted model of thincrm.*, got int"):
        tc.write_report(3, tmp_path / "r.html")
    with pytest.raises(InvalidInput, match="a feature model has none"):
        tc.write_report(fitted_features(), tmp_path / "r.html", texts=texts)
    with pytest.raises(InvalidType, match="title must be a str"):
        tc.write_report(plain, tmp_path / "r.html", title=3)


def test_a_model_from_a_file_has_the_same_page(plain, written, tmp_path):
    plain.save(tmp_path / "model")
    loaded = tc.load(tmp_path / "model")
    path = tmp_path / "loaded.html"
    tc.write_report(loaded, path, texts=texts_of(plain), title="A <b>title</b>")
    assert path.read_bytes() == written.read_bytes()


def test_a_page_escapes_its_policy_in_one_attribute(written):
    page, _, _ = read(written)
    content = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in html.unescape(content)
