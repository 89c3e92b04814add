"""One file of HTML: a fixed page, its style and script, and the data as text that cannot run.

Nothing of the data is ever part of the markup. They travel as JSON in a block that browsers do not
run, and the script shows them through `textContent` only. The content-security policy allows two
scripts (D3, and the page's own) and one style sheet, by their hashes, and no connection at all.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from thincrm.report.charting import charting_library

__all__ = ["Page", "data_block", "render", "single_page", "static_text"]

_HERE = "thincrm.report"
_KIT = ("kit.js", "axes.js", "colour.js", "tip.js", "fade.js", "curves.js", "model.js")
_ESCAPED = "[<>&\u2028\u2029\ud800-\udfff]"


@dataclass(frozen=True, slots=True)
class Page:
    """What a model gives `write_report`: the data of its page, and how they are drawn.

    Attributes
    ----------
    title : str
        Headline, if the user gives none.
    data : mapping of str
        Everything the page shows, ready for JSON. The kit wants `noun`, `corpus`, `time`,
        `summary`, `diagnosis`, `settings`, `learned` and `reading` (see `report/static/model.js`).
    template : str
        The HTML, with slots: {{title}}, {{policy}}, {{style}}, {{data}}, {{library}}, {{script}}.
    script : str
        JavaScript that draws the data; the kit (`report/static`) comes before it.
    """

    title: str
    data: Mapping[str, object]
    template: str
    script: str


def single_page(title: str, data: Mapping[str, object], script: str) -> Page:
    """Return a page of one panel with tabs; the script calls `runPage` (`static/single.js`)."""
    template, shell = static_text(_HERE, "single.html"), static_text(_HERE, "single.js")
    return Page(title, data, template, shell + script)


def static_text(package: str, *names: str) -> str:
    """Return the files of a package's folder `static`, one after the other."""
    folder = files(package).joinpath("static")
    return "".join(folder.joinpath(name).read_text("utf-8") for name in names)


def render(page: Page) -> str:
    """Return the HTML of a page."""
    style, library = static_text(_HERE, "style.css"), charting_library()
    script = f"(() => {{\n'use strict';\n{static_text(_HERE, *_KIT)}{page.script}}})();\n"
    parts = {
        "title": html.escape(_printable(page.title)),
        "policy": html.escape(_policy(style, library, script)),
        "style": style,
        "library": library,
        "script": script,
        "data": data_block({**page.data, "title": page.title}),
    }
    # one pass: a title that looks like a slot is not filled in turn
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: parts[slot[1]], page.template)


def data_block(data: object) -> str:
    """Return JSON in which no text can end a script block, start a tag or break a line.

    Halves of surrogate pairs, which UTF-8 cannot hold, are escaped too.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub(_ESCAPED, lambda found: f"\\u{ord(found[0]):04x}", text)


def _policy(style: str, *scripts: str) -> str:
    return (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; "
        f"style-src {_hash(style)}; "
        "img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _printable(text: str) -> str:
    """Return text that UTF-8 can hold: halves of surrogate pairs become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
