"""Real quotations: the passage of a typical document where a topic speaks most."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput, InvalidType
from thincrm.models.topics.report.allocation import Allocation

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["Passages", "checked_texts", "excerpt", "word_places"]

_LENGTH = 420  # characters
_PART = re.compile(r"\w+")


def checked_texts(texts: object, n_documents: int) -> tuple[list[str] | None, list[str] | None]:
    """Return the documents' names, if they have any, and the texts."""
    if texts is None:
        return None, None
    if isinstance(texts, str | bytes):
        raise InvalidType("texts must be a sequence of documents, got one str: put it in a list.")
    if not isinstance(texts, Iterable):
        raise InvalidType(f"texts must be a sequence of documents, got {type(texts).__name__}.")
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
    return ([str(name) for name in pd.Series(texts).index] if named else None), held


Piece = str | list[str | int]  # plain text, or a word, its topic and the percentage


class Passages:
    """Passages in which a topic speaks, each word with the topic it is of.

    Parameters
    ----------
    model : TopicModel
        Fitted.
    allocation : Allocation
        Of the tokens of the fit.
    words : DataFrame
        topic, code, mean: the words by which a topic's passages are found.
    texts : list of str
        The documents.
    """

    def __init__(
        self, model: TopicModel, allocation: Allocation, words: pd.DataFrame, texts: list[str]
    ) -> None:
        self.counts, self.allocation, self.texts = allocation.counts, allocation, texts
        self.folded = [str(word).lower() for word in model.vocabulary_]
        self.code = {word: code for code, word in enumerate(self.folded)}
        self.words = words.groupby("topic")

    def of(self, topic: int, document: int) -> list[Piece]:
        """Return the passage in pieces: plain text, and words as [word, topic, percent]."""
        mine = self.words.get_group(topic)
        weight = dict(zip((self.folded[code] for code in mine["code"]), mine["mean"], strict=True))
        text = excerpt(self.texts[document], weight)
        home = self._homes(document)
        pieces: list[Piece] = []
        end = 0
        for start, stop in word_places(text, self.code):
            found = home.get(self.code.get(text[start:stop].lower(), -1))
            if found is not None:
                pieces += [text[end:start], [text[start:stop], *found]]
                end = stop
        return [piece for piece in (*pieces, text[end:]) if piece]

    def _homes(self, document: int) -> dict[int, tuple[int, int]]:
        """Return the likeliest topic of each of a document's words, and its percentage."""
        start, stop = self.counts.indptr[document], self.counts.indptr[document + 1]
        cells = self.allocation.cells(document, document + 1)
        share = cells / self.counts.data[start:stop, None]
        best = share.argmax(axis=1)
        percent = np.rint(100 * share[np.arange(stop - start), best]).astype(int)
        code = self.counts.indices[start:stop]
        return {
            int(p): (int(k), int(n)) for p, k, n in zip(code, best, percent, strict=True) if n > 0
        }


def word_places(text: str, known: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield where words begin and end: with their hyphens if they are known so, else in parts."""
    for word in re.finditer(r"\w+(?:-\w+)*", text):
        if word[0].lower() in known:
            yield word.span()
        else:
            yield from (part.span() for part in _PART.finditer(text, *word.span()))


def excerpt(text: str, weight: dict[str, float], length: int = _LENGTH) -> str:
    """Return the passage of at most `length` characters whose words weigh most."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    found = [
        (start, end, np.sqrt(weight.get(text[start:end].lower(), 0.0)))
        for start, end in word_places(text, weight)
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
