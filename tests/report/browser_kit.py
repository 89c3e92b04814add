"""What tests of the page in a browser share."""

from urllib.parse import parse_qs

DESKTOP, PHONE = (1280, 900), (390, 844)
VIEWS = ("timeline", "map", "stream", "documents", "words", "model")


def foreign(url, start):
    return not url.startswith((start, "data:,", "blob:"))


def state_of(page):
    return {key: value[0] for key, value in parse_qs(page.url.partition("#")[2]).items()}


def downloaded(page, selector):
    with page.expect_download() as download:
        page.click(selector)
    return download.value.path().read_text("utf-8")
