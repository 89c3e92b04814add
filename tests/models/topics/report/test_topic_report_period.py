"""Periods, documents and words by period of the report, in a real browser (see conftest.py)."""

import csv
import json
import re

import pytest
from browser_kit import DESKTOP, PHONE, downloaded, state_of
from report_cases import WORDS


def data_of(page):
    return json.loads(page.inner_text("#data") or page.text_content("#data"))


def brush(page, start, end):
    """Drag over the strip, from one share of its width to another."""
    page.locator(".strip").scroll_into_view_if_needed()
    box = page.locator(".strip .overlay").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + (start + end) / 2 * box["width"], y)
    page.mouse.move(box["x"] + end * box["width"], y)
    page.mouse.up()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_period_is_brushed_and_the_lists_follow(opened, size):
    page = opened(size=size)
    sizes = page.locator(".cell-foot b").all_inner_texts()
    brush(page, 0.26, 0.48)
    first, last = map(int, state_of(page)["period"].split("-"))
    n_periods = page.locator("#period-from option").count()
    assert abs(first / n_periods - 0.26) < 0.06
    assert abs((last + 1) / n_periods - 0.48) < 0.06
    assert page.input_value("#period-from") == str(first)
    assert page.input_value("#period-to") == str(last)
    assert page.locator(".cell .period-mark").count() == page.locator(".cell").count()
    assert page.locator(".cell-foot b").all_inner_texts() != sizes
    chosen = page.locator(".brush .selection").bounding_box()
    strip = page.locator(".strip .overlay").bounding_box()
    width = strip["width"] / n_periods
    assert chosen["x"] == pytest.approx(strip["x"] + first * width, abs=2)  # snapped to periods
    assert chosen["width"] == pytest.approx((last + 1 - first) * width, abs=3)
    page.click("#period-all")
    assert "period" not in state_of(page)
    assert page.locator(".period-mark").count() == 0
    brush(page, 0.5, 0.7)
    assert "period" in state_of(page)
    box = page.locator(".strip .overlay").bounding_box()
    page.mouse.click(box["x"] + 4, box["y"] + 4)  # a click beside it ends it
    assert "period" not in state_of(page)


def test_a_period_is_chosen_by_keyboard_and_the_brush_follows(opened):
    page = opened()
    seen = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id"))
    assert {"period-from", "period-to"} <= seen
    page.focus("#period-from")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert state_of(page)["period"].startswith("2-")
    assert page.evaluate("document.activeElement.id") == "period-from"
    page.focus("#period-to")
    page.keyboard.press("Home")
    assert state_of(page)["period"] == "0-0"  # the end comes first: the start follows
    assert page.inner_text("#said").startswith("Period 1900-06-15")
    assert page.locator(".brush .selection").bounding_box()["width"] < 40
    page.focus("#period-all")
    page.keyboard.press("Enter")
    assert "period" not in state_of(page)


def test_a_period_keeps_shares_documents_and_words_to_it(opened):
    page = opened(state="view=documents&topic=0&period=0-9")
    data = data_of(page)
    edges = data["vocabulary"]["edges"]
    names = page.locator(".document h3").all_inner_texts()
    inside = [q for q in data["topics"][0]["quotations"] if at(data, q) < edges[10]]
    assert len(names) == len(inside) < len(data["topics"][0]["quotations"])
    listed = page.locator("#view-body tbody tr").count()
    others = [d for d, _ in data["topics"][0]["others"] if data["documents"][d]["at"] < edges[10]]
    assert listed == len(others)
    topic = data["topics"][0]
    share = sum(topic["through"][:10]) / sum(data["vocabulary"]["totals"][:10])
    said = page.locator(".facts-list dd").nth(1).inner_text()
    assert float(said.split()[0]) == pytest.approx(100 * share, abs=0.51)
    rows = list(csv.reader(downloaded(page, "#view-tools >> text=CSV").splitlines()))
    assert len(rows) == 1 + len(inside) + len(others)
    page.click("#tab-stream")
    ticks = page.locator(".stream .axis text").all_text_contents()
    assert not [tick for tick in ticks if tick in ("1915", "1918")]


def at(data, quotation):
    return data["documents"][quotation["document"]]["at"]


def test_words_by_period_are_the_counts_and_lead_to_documents(opened):
    page = opened(state="topic=1")
    data = data_of(page)
    topic, words = data["topics"][1], data["vocabulary"]["words"]
    assert "Counts" in page.inner_text("#word-periods caption")
    rows = page.locator("#word-periods tbody tr")
    bins = len(data["vocabulary"]["totals"])
    length = -(-bins // 6)
    assert rows.count() == -(-bins // length)
    told = rows.first.locator("td").inner_text()
    counted = {
        words[code]: sum(topic["counts"][i][:length]) for i, code in enumerate(topic["codes"])
    }
    best = sorted((n for n in counted.values() if n), reverse=True)[:6]
    found = re.findall(r"(\S+) ([\d,]+)", told)
    assert [int(n.replace(",", "")) for _, n in found] == best
    assert all(counted[word] == int(n.replace(",", "")) for word, n in found)
    rows.first.locator("button").click()
    assert state_of(page) == {"view": "documents", "topic": "1", "period": f"0-{length - 1}"}
    table = downloaded(page, "text=CSV >> nth=2")
    assert table.startswith("topic,name,word,from,to,count")
    assert len(table.splitlines()) == 1 + length * len(topic["codes"])


def test_words_of_passages_have_the_colours_of_their_topics(opened):
    page = opened(state="view=documents&topic=0")
    data = data_of(page)
    pieces = data["topics"][0]["quotations"][0]["text"]
    coloured = [piece for piece in pieces if not isinstance(piece, str)]
    tokens = page.locator(".document").first.locator(".token")
    assert tokens.count() == len(coloured) > 0
    for token, (word, topic, _) in zip(tokens.all()[:20], coloured, strict=False):
        assert token.inner_text() == word
        assert token.get_attribute("data-topic") == str(topic)
    colours = {
        (token.get_attribute("data-topic"), token.evaluate("e => getComputedStyle(e).borderColor"))
        for token in tokens.all()
    }
    assert len(colours) == len({topic for topic, _ in colours})  # one colour a topic
    legend = page.locator(".passage-topic").first
    legend.focus()
    lit = page.locator(".document").first.locator(".token.lit")
    mine = [word for word, topic, _ in coloured if topic == 0]
    assert lit.all_inner_texts() == mine
    assert legend.get_attribute("aria-label").startswith("Topic 0: ")
    assert mine[0] in legend.get_attribute("aria-label")
    page.keyboard.press("Tab")
    assert lit.count() == 0 or lit.first.get_attribute("data-topic") != "0"
    tokens.first.hover()
    assert "with probability" in page.inner_text("#tip")


def test_dates_of_documents_are_shown_beside_the_true_ones(opened):
    page = opened(state="view=model")
    data = data_of(page)
    dated = [document for document in data["documents"] if "dates" in document]
    assert page.locator(".dates circle").count() == len(dated) > 5
    assert "fitted without held-out words" in page.inner_text("#view-body")
    place = next(
        k
        for k, topic in enumerate(data["topics"])
        if "dates" in data["documents"][topic["quotations"][0]["document"]]
    )
    page.evaluate(f"location.hash = 'view=documents&topic={place}'")
    label = page.locator(".date-picture").first.get_attribute("aria-label")
    assert "with 90 % probability" in label
    assert page.locator(".date-picture").first.locator(".true-date").count() == 1


def test_topics_of_the_documents_are_chosen_from_a_list(opened):
    page = opened(state="view=documents")
    page.select_option("#choice-topic", "1")
    assert state_of(page)["topic"] == "1"
    assert page.inner_text("#view-body h3 >> nth=0").startswith("Topic 1:")
    page.click("#next")
    assert page.input_value("#choice-topic") == state_of(page).get("topic", "0")
    page.click("#tab-timeline")
    page.click("#to-documents")
    assert state_of(page)["view"] == "documents"


def test_shares_are_stacked_or_a_stream(opened):
    page = opened(state="view=stream")
    stacked = page.locator(".layer").first.get_attribute("d")
    page.select_option("#choice-layers", "stream")
    assert state_of(page)["layers"] == "stream"
    assert page.locator(".layer").first.get_attribute("d") != stacked
    assert page.locator(".others").count() == 0


def test_names_given_in_the_page_are_exported(opened):
    page = opened(state="topic=1&name=1%3ASteam")
    table = downloaded(page, "text=Names as CSV")
    assert "1,Steam" in table.splitlines()


def test_hostile_words_in_passages_and_counts_are_text(opened):
    page = opened("hostile", state="view=documents&topic=0")
    assert page.locator("img, iframe, object, base, #view-body script").count() == 0
    told = page.inner_text("#view-body") + page.inner_text("#word-periods")
    assert any(word in told for word in WORDS)
    assert page.evaluate("window.ran") is None


@pytest.mark.parametrize("period", ["9-3", "0-999", "x", "1e9-2", "-", "0-0-0"])
def test_a_bad_period_is_no_period(opened, period):
    page = opened(state=f"period={period}")
    assert page.locator(".cell").count() > 0
    if period != "0-0-0":
        assert page.locator(".period-mark").count() == 0
