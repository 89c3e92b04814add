"""Real quotations: the passage of a typical document where a topic speaks most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput, InvalidType
from thincrm.report.times import shown

__all__ = ["checked_texts", "excerpt", "quotations"]

_QUOTED = 3
_CONSIDERED = 25
_LENGTH = 420  # characters


def checked_texts(
    texts: Sequence[str] | None, n_documents: int
) -> tuple[list[str] | None, list[str] | None]:
    """Return the documents' names, if they have any, and the texts."""
    if texts is None:
        return None, None
    if isinstance(texts, str | bytes):
        raise InvalidType("texts must be a sequence of documents, got one str: put it in a list.")
    held = list(texts)
    if len(held) != n_documents:
        raise InvalidInput(
            f"texts holds {len(held)} documents but the model was fitted to {n_documents}: pass "
            "the texts of the fit, in the same order."
        )
    for place, text in enumerate(held):
        if not isinstance(text, str):
            raise InvalidType(f"texts[{place}] must be a str, got {type(text).__name__}.")
    named = isinstance(texts, pd.Series) and not isinstance(texts.index, pd.RangeIndex)
    return ([str(name) for name in texts.index] if named else None), held  # type: ignore[attr-defined]


def quotations(
    model: Any, words: pd.DataFrame, names: list[str] | None, texts: list[str] | None
) -> list[list[dict[str, Any]]]:
    """Return, for each topic, passages of its most typical documents.

    Of the documents with the largest share of the topic, those with most words of it: three words
    that all belong to a topic say little.
    """
    table = model.representative_documents(_CONSIDERED)
    length = np.asarray(model.counts_.sum(axis=1)).reshape(-1)
    table["told"] = table["share"] * length[table["document"]]
    table["score"] = table["share"] * np.log1p(table["told"])
    chance = words.groupby("topic")
    out: list[list[dict[str, Any]]] = []
    for k in range(model.shapes().shape[0]):
        best = table[table["topic"] == k].sort_values("score", ascending=False, kind="stable")
        mine = chance.get_group(k)
        weight = dict(
            zip(
                (str(word).lower() for word in model.vocabulary_[mine["code"]]),
                mine["mean"],
                strict=True,
            )
        )
        out.append([_quotation(row, names, texts, weight) for row in best[:_QUOTED].itertuples()])
    return out


def _quotation(
    row: Any, names: list[str] | None, texts: list[str] | None, weight: dict[str, float]
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "document": str(row.document) if names is None else names[row.document],
        "time": shown(row.t),
        "share": round(float(row.share), 3),
    }
    if texts is not None:
        found["text"] = excerpt(texts[row.document], weight)
    return found


def excerpt(text: str, weight: dict[str, float], length: int = _LENGTH) -> str:
    """Return the passage of at most `length` characters whose words weigh most."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    found = [
        (word.start(), word.end(), np.sqrt(weight.get(word[0].lower(), 0.0)))
        for word in re.finditer(r"\w+", text)
    ]
    if not found:
        return text[:length]
    start, end, value = (np.array(column) for column in zip(*found, strict=True))
    before = np.concatenate([[0.0], np.cumsum(value)])
    room = length - length // 3  # the rest is for the start of the sentence
    last = np.maximum(np.searchsorted(end, start + room, "right"), np.arange(len(start)))
    score = before[last] - before[:-1]
    best = np.flatnonzero(score >= score.max() - 1e-12)
    begin = _sentence_start(text, int(start[best[-1]]), length // 3)
    stop = min(begin + length, len(text))
    if stop < len(text):
        stop = max(text.rfind(" ", begin, stop), begin + 1)
    return ("… " if begin else "") + text[begin:stop].strip() + (" …" if stop < len(text) else "")


def _sentence_start(text: str, place: int, most: int) -> int:
    """Return where the sentence around a place starts, if that is near; else the place."""
    ends = [found.end() for found in re.finditer(r"[.!?;:]\s+", text[max(place - most, 0) : place])]
    if place <= most:
        return 0
    return max(place - most, 0) + ends[-1] if ends else place
