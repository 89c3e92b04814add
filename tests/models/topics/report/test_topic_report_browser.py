"""The report of topics in a real browser (see browser_kit.py)."""

import csv
import io
import re

import pytest
from browser_kit import DESKTOP, PHONE, downloaded, state_of
from report_cases import WORDS

VIEWS = ("timeline", "map", "stream", "groups", "documents", "words", "model")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["dated", "hostile", "still"])
def test_every_view_draws_and_nothing_is_wider_than_the_screen(opened, name, size, theme):
    page = opened(name, size=size, theme=theme)
    assert page.get_attribute("html", "data-theme") == theme
    for view in VIEWS:
        page.click(f"#tab-{view}")
        assert page.locator("#view-body > *").count() > 0
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        drawn = page.evaluate("document.getElementById('view-body').innerHTML")
        assert "NaN" not in drawn
        assert "undefined" not in drawn
        assert "Infinity" not in drawn
    assert "NaN" not in page.evaluate("document.getElementById('card').innerHTML")


def test_shape_filters_choose_topics_and_say_so(opened):
    page = opened()
    every = page.locator(".cell").count()
    chip = page.locator(".chip:not([disabled])").first
    many = int(chip.locator("small").inner_text())
    chip.click()
    assert 0 < page.locator(".cell").count() == many <= every
    assert page.locator(".chip[aria-pressed=true]").count() == 1
    assert f"{many} of {every} topic" in page.inner_text("#view-note")
    assert state_of(page)["shapes"] == page.get_attribute(".chip[aria-pressed=true]", "data-shape")
    page.click(".chip[aria-pressed=true]")
    assert page.locator(".cell").count() == every


def test_topics_that_do_not_repeat_stand_below_the_others(opened):
    page = opened("fleeting", state="sort=size&least=0")
    order = page.eval_on_selector_all(".cell", "all => all.map((one) => Number(one.dataset.topic))")
    assert order == [*range(2, len(order)), 0, 1]
    before = page.eval_on_selector(".apart", "one => one.previousElementSibling.dataset.topic")
    assert int(before) == len(order) - 1
    assert page.inner_text(".apart").startswith("These do not repeat: too few draws have them")
    page.click("#tab-map")
    assert page.locator(".map-row .fleeting").count() == 2
    all_firm = opened("dated")
    assert all_firm.locator(".apart").count() == (all_firm.locator(".cell .fleeting").count() > 0)


def test_the_slider_reorders_words_by_relevance(opened):
    page = opened(state="topic=0&lambda=1")

    def words():
        return page.locator(".word-name").all_inner_texts()

    shares = page.locator(".word-share").all_inner_texts()
    likeliest = [float(share.strip("< ").split()[0]) for share in shares]  # "< 0.1 %" is one
    assert likeliest == sorted(likeliest, reverse=True)
    first = words()
    page.locator("#lambda").fill("0")
    assert state_of(page)["lambda"] == "0"
    assert page.inner_text(".lambda-value") == "0.00"
    assert words() != first
    page.locator("#lambda").press("ArrowRight")
    assert state_of(page)["lambda"] == "0.05"


def test_groups_are_cut_where_wanted(opened):
    page = opened(state="view=groups")
    cuts = page.eval_on_selector_all("#choice-cut option", "all => all.map(one => one.value)")
    every = page.locator("#view-body [data-topic]").count()
    for n_groups in cuts:
        page.select_option("#choice-cut", n_groups)
        assert page.locator(".group").count() == page.locator(".layer").count() == int(n_groups)
        assert page.locator("#view-body [data-topic]").count() == every
    chip = page.locator(".group [data-topic]").last
    chip.click()
    assert page.inner_text(".topic-number") == f"Topic {chip.get_attribute('data-topic')}"


def test_search_finds_words_and_the_topics_they_belong_to(opened):
    page = opened()
    page.fill("#query", "7")
    every = len(page.locator(".cell").all())
    assert "those with “7”" in page.inner_text("#view-note")
    page.press("#query", "Enter")
    assert state_of(page) == {"view": "words", "q": "7"}
    assert "“7”" in page.inner_text("#view-body h3")
    home = page.locator(".home").first
    home.click()
    assert int(state_of(page).get("topic", 0)) == int(home.get_attribute("data-topic"))
    page.fill("#query", "nowhere")
    assert "No word of the model" in page.inner_text("#view-body")
    page.click("#tab-timeline")
    page.click("text=Show all")
    assert page.locator(".cell").count() >= every


def test_a_link_opens_the_page_as_it_was_left(opened):
    state = "view=map&topic=1&lambda=0.3&shapes=&scale=same&theme=dark&name=1%3AMy+%3Cb%3Ename"
    page = opened(state=state)
    assert page.get_attribute("html", "data-theme") == "dark"
    assert page.get_attribute("#tab-map", "aria-selected") == "true"
    assert page.input_value("#rename") == "My <b>name"
    assert page.input_value("#lambda") == "0.3"
    assert page.locator(".map-row[aria-selected=true]").get_attribute("data-topic") == "1"
    page.fill("#rename", "Other")
    page.press("#rename", "Tab")
    assert state_of(page)["name"] == "1:Other"
    assert "Other" in page.inner_text("#view-body")
    page.evaluate("location.hash = 'view=stream&topic=0'")
    page.wait_for_selector(".stream")
    assert page.inner_text(".topic-number") == "Topic 0"


@pytest.mark.parametrize(
    "state", ["topic=1e9", "topic=-3&lambda=x", "view=evil&shapes=a,b", "name=9999:x", "%E0%A4%A"]
)
def test_a_bad_link_opens_the_page_anyway(opened, state):
    page = opened(state=state)
    assert page.locator(".cell").count() > 0


def test_everything_is_reached_by_keyboard(opened):
    page = opened()
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    wanted = {"tab-timeline", "query", "theme", "chip", "choice-sort", "tool", "cell", "lambda"}
    assert wanted | {"rename", "focus-chart", "word-row", "next"} <= seen
    page.focus(".cell[tabindex='0']")
    page.keyboard.press("Home")
    here = page.evaluate("document.activeElement.dataset.topic")
    page.keyboard.press("ArrowRight")
    there = page.evaluate("document.activeElement.dataset.topic")
    assert there != here
    page.keyboard.press("Enter")
    assert page.inner_text(".topic-number") == f"Topic {there}"
    page.focus("#focus-chart")
    before = page.inner_text(".readout b")
    page.keyboard.press("Home")
    assert page.inner_text(".readout b") == "1900-06-15" != before
    page.focus("#next")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "next"
    page.focus("#tab-timeline")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert state_of(page)["view"] == "map"
    page.focus(".map-row[tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator(".map-row[aria-selected=true]").count() == 1


def test_dates_are_on_the_axes(opened):
    page = opened()
    assert page.inner_text(".cell-foot span >> nth=0") == "1900-06-15"
    ticks = page.locator(".focus .axis text").all_text_contents()
    assert any(re.fullmatch(r"19\d\d", tick) for tick in ticks)


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_dates_under_small_pictures_are_on_one_line(opened, size):
    """A date such as 1900-06-15 was cut at its hyphens."""
    page = opened(size=size)
    wide = "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert page.eval_on_selector_all(".cell-foot", wide) == 0
    page.eval_on_selector_all(".cell-foot", "all => all.forEach(one => one.style.width = '30px')")
    lines = page.eval_on_selector_all(
        ".cell-foot span, .cell-foot b",
        """all => all.map(one => {
          const range = document.createRange();
          range.selectNodeContents(one);
          return new Set(Array.from(range.getClientRects(), box => box.top)).size;
        })""",
    )
    assert set(lines) == {1}


@pytest.mark.parametrize("view", VIEWS)
def test_downloads(opened, view):
    page = opened(state=f"view={view}&q={'3' if view == 'words' else ''}")
    rows = list(csv.reader(downloaded(page, "#view-tools >> text=CSV").splitlines()))
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(rows[0])}
    picture = downloaded(page, "#view-tools >> text=SVG")
    assert picture.startswith("<svg")
    assert 'xmlns="http://www.w3.org/2000/svg"' in picture
    assert "var(" not in picture
    assert picture.count("<svg") == 1
    assert page.locator(".print").count() == 0


def test_a_table_of_hostile_words_holds_no_formula(opened):
    page = opened("hostile")
    table = downloaded(page, "text=All words as CSV")
    words = [row[2] for row in csv.reader(io.StringIO(table, newline=""))]
    assert "'=HYPERLINK(0)" in words
    assert not [word for word in words if word.startswith(("=", "+", "-", "@"))]
    assert ""","a;'=1+1",""" in table  # a spreadsheet may cut at the semicolon


def test_hostile_words_are_text(opened):
    page = opened("hostile")
    for view in VIEWS:
        page.click(f"#tab-{view}")
        assert page.locator("img, iframe, object, base, b:text('bold'), a[href^=data]").count() == 0
        assert page.locator("script").count() == 3
    assert page.inner_text("h1") == WORDS[0]
    page.fill("#query", WORDS[0])
    page.press("#query", "Enter")
    assert f"“{WORDS[0]}”" in page.inner_text("#view-body h3")
    quoted = page.inner_text(".quotation >> nth=0")
    assert any(word in quoted for word in WORDS)


def test_the_policy_is_in_force(browser, files):
    """Code that gets into the page all the same does not run, and reaches nobody."""
    page = browser.new_page()
    blocked = []
    page.on("console", lambda message: blocked.append(message.text))
    page.goto(files["dated"].as_uri())
    page.evaluate(
        """() => {
          const image = document.createElement('img');
          image.src = 'http://evil.invalid/x';
          const script = document.createElement('script');
          script.textContent = 'window.ran = true';
          document.body.append(image, script);
        }"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    assert len([text for text in blocked if "Content Security Policy" in text]) >= 2
    page.close()
