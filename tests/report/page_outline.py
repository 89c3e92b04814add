"""A page as a browser reads it."""

import json
from html.parser import HTMLParser


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
