"""One file of HTML: a fixed page, its style and script, and the data as text that cannot run.

Nothing of a corpus is ever part of the markup. It travels as JSON in a block that browsers do not
run, and the script shows it through `textContent` only. The content-security policy allows two
scripts (D3, and the page's own) and one style sheet, by their hashes, and no connection at all.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from thincrm.errors import InvalidInput, InvalidType
from thincrm.models.features.model import FeatureModel
from thincrm.models.topics.model import TopicModel
from thincrm.report.charting import charting_library
from thincrm.report.feature_data import feature_data
from thincrm.report.heldout import heldout_rows
from thincrm.report.topic_data import topic_data

__all__ = ["data_block", "render", "write_report"]

_SHARED = ("kit.js", "axes.js", "colour.js", "tip.js", "fade.js", "curves.js", "model.js")
_SCRIPTS = {
    "topic": (
        *_SHARED,
        "state.js",
        "topics.js",
        "period.js",
        "timeline.js",
        "map.js",
        "stream.js",
        "passage.js",
        "documents.js",
        "words.js",
        "word_periods.js",
        "checks.js",
        "card.js",
        "filters.js",
        "app.js",
    ),
    "feature": (*_SHARED, "features.js"),
}
_TITLES = {"topic": "Topics that come and go", "feature": "Features that switch on and off"}
_ESCAPED = "[<>&\u2028\u2029\ud800-\udfff]"


def write_report(
    model: Any,
    path: str | PathLike[str],
    *,
    texts: Sequence[str] | None = None,
    title: str | None = None,
    static: Any = None,
) -> Path:
    """Write what a fitted model found as one HTML file that needs no network.

    Parameters
    ----------
    model : TopicModel or FeatureModel
        Fitted, with one covariate or none.
    path : path
        The file to write; one that exists is replaced.
    texts : sequence of D str or None
        The documents as people read them, in the order of the fit: the page quotes the most
        typical ones of each topic. The index of a Series names the documents. Topics only.
    title : str or None
        Headline of the page.
    static : TopicModel or None
        Fitted to the same words with thinning=Always(), to be compared on the words that both held
        out (`fit(heldout=...)`).

    Returns
    -------
    Path
        The file.
    """
    if not isinstance(model, TopicModel | FeatureModel):
        raise InvalidType(
            f"model must be a TopicModel or a FeatureModel, got {type(model).__name__}."
        )
    check_is_fitted(model)
    if title is not None and not isinstance(title, str):
        raise InvalidType(f"title must be a str, got {type(title).__name__}.")
    if isinstance(model, TopicModel):
        data = topic_data(model, texts) | {"heldout": heldout_rows(model, static)}
    else:
        for name, given in (("texts", texts), ("static", static)):
            if given is not None:
                raise InvalidInput(f"{name} is of topics: a feature model has none, leave it out.")
        data = feature_data(model)
    page = render(data, title or _TITLES[data["noun"]])
    target = Path(path)
    try:
        target.write_bytes(page.encode("utf-8"))
    except OSError as error:
        raise InvalidInput(
            f"path: {target} cannot be written ({error.strerror or error}): name a file in a "
            "folder that exists and is yours."
        ) from error
    return target


def render(data: dict[str, Any], title: str) -> str:
    """Return the page of some data."""
    style, library = _read("style.css"), charting_library()
    script = "(() => {\n'use strict';\n" + "".join(map(_read, _SCRIPTS[data["noun"]])) + "})();\n"
    parts = {
        "title": html.escape(_printable(title)),
        "policy": html.escape(_policy(style, library, script)),
        "style": style,
        "library": library,
        "script": script,
        "data": data_block({**data, "title": title}),
    }
    # one pass: a title that looks like a slot is not filled in turn
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: parts[slot[1]], _read(f"{data['noun']}s.html"))


def data_block(data: Any) -> str:
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


def _read(name: str) -> str:
    return files("thincrm.report").joinpath("static", name).read_text("utf-8")


def _printable(text: str) -> str:
    """Return text that UTF-8 can hold: halves of surrogate pairs become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
