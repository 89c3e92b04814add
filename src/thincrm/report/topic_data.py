"""The numbers behind the report's views, packed small: curves as whole numbers of a thousandth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from thincrm.models.curves import SHAPES
from thincrm.models.topics.draw import similarity
from thincrm.numerics.arrays import Int
from thincrm.report.allocation import allocated
from thincrm.report.curves import packed
from thincrm.report.dating import dated
from thincrm.report.diagnosis import diagnosis
from thincrm.report.documents import Documents, chosen_documents
from thincrm.report.matching import matches
from thincrm.report.periods import periods_of
from thincrm.report.plain_words import READING_TOPICS, learned, topic_settings
from thincrm.report.quotations import Passages, checked_texts
from thincrm.report.sizes import sizes
from thincrm.report.times import Times, chosen_times
from thincrm.report.topic_words import words_by_period
from thincrm.report.vocabulary import chosen_words, searchable, vocabulary

__all__ = ["topic_data"]

_SIMILAR = 4


def topic_data(model: Any, texts: Sequence[str] | None) -> dict[str, Any]:
    """Return everything the page shows of a fitted topic model, ready for JSON."""
    names, texts = checked_texts(texts, model.counts_.shape[0])
    times = chosen_times(model.covariates_, model.draws_[-1].tokens.size)
    matched, periods = matches(model), periods_of(model.covariates_)
    cells = allocated(model, matched)
    words = chosen_words(model)
    code = searchable(model, words)
    passages = None if texts is None else Passages(model, cells, words, texts)
    documents = Documents(model, names)
    told = chosen_documents(model, documents, passages, periods)
    dates = dated(model, [topic.pop("quoted") for topic in told], periods)
    spoken = words_by_period(model.counts_, cells, periods, words, code)
    words["code"] = np.searchsorted(code, words["code"])
    parts = [a | b | c for a, b, c in zip(sizes(model, matched), spoken, told, strict=True)]
    return {
        "noun": "topic",
        "corpus": _corpus(model),
        "time": times.data,
        "shapes": list(SHAPES),
        "topics": _topics(model, times, words, parts),
        "documents": documents.data(dates),
        "vocabulary": vocabulary(model, code, periods),
        "diagnosis": diagnosis(model, model.n_topics_, "topic"),
        "settings": topic_settings(model),
        "learned": learned(model),
        "reading": READING_TOPICS,
    }


def _corpus(model: Any) -> dict[str, Any]:
    documents, words = model.counts_.shape
    tokens = int(model.counts_.sum())
    return {
        "tokens": tokens,
        "rows": f"{documents:,} documents",
        "columns": f"{words:,} different words, {tokens:,} in all",
    }


def _topics(
    model: Any, times: Times, words: pd.DataFrame, parts: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the topics, the largest first; a topic's place is its number everywhere."""
    curves = _curves(model, times)
    shape_KS, lives = model.shapes(), _lives(model, times)
    coherence = model.coherence() if model.counts_.shape[1] > 1 else None
    last = model.draws_[-1]
    order = np.argsort(-last.tokens, kind="stable")
    users = np.bincount(last.documents.indices, minlength=order.size)[order]
    alike = _similar(last.theta[:, order])
    rows = words.groupby("topic")
    out = []
    for k, place in enumerate(order):
        out.append(
            {
                "tokens": int(last.tokens[place]),
                "documents": int(users[k]),
                "coherence": None if coherence is None else round(float(coherence[k]), 3),
                "presence": round(float(shape_KS["presence"][k]), 3),
                "shape": [round(float(shape_KS[name][k]), 3) for name in SHAPES],
                "first": lives[0][k],
                "last": lives[1][k],
                "open": curves["open"][k],
                "share": curves["share"][k],
                "words": _word_rows(rows.get_group(k)),
                "similar": alike[k],
                **parts[k],
            }
        )
    return out


def _word_rows(words: pd.DataFrame) -> list[list[float]]:
    """Return code, probability and band of words, four digits each."""
    numbers = words[["mean", "lower", "upper"]].to_numpy(float)
    return [
        [int(code), *(float(f"{x:.4g}") for x in row)]
        for code, row in zip(words["code"].to_numpy(int), numbers, strict=True)
    ]


def _curves(model: Any, times: Times) -> dict[str, list[dict[str, Any]]]:
    """Return, per topic, curves of the activation and of the share of words, with bands."""
    wide, narrow = model.activation(times.labels, 0.9), model.activation(times.labels, 0.5)
    columns = {
        "open": {
            "mean": wide["mean"],
            "lower": wide["lower"],
            "upper": wide["upper"],
            "low": narrow["lower"],
            "high": narrow["upper"],
        },
        "share": {
            "mean": wide["share"],
            "lower": wide["share_lower"],
            "upper": wide["share_upper"],
            "low": narrow["share_lower"],
            "high": narrow["share_upper"],
        },
    }
    n_times = len(times.labels)
    return {
        kind: packed({name: np.reshape(x, (-1, n_times)) for name, x in curves.items()})
        for kind, curves in columns.items()
    }


def _lives(model: Any, times: Times) -> list[list[list[float]]]:
    """Return lower, median and upper of each topic's first and last activity, as numbers."""
    return [
        [
            times.numbers(row).tolist()
            for row in zip(t["lower"], t["median"], t["upper"], strict=True)
        ]
        for t in (model.first_active(), model.last_active())
    ]


def _similar(theta_PK: np.ndarray) -> list[list[list[float]]]:
    """Return, per topic, the topics with the most similar words, and how similar."""
    affinity_KK = similarity(theta_PK, theta_PK)
    np.fill_diagonal(affinity_KK, -1.0)
    nearest: Int = np.argsort(-affinity_KK, axis=1, kind="stable")[:, :_SIMILAR]
    return [
        [[int(j), round(float(affinity_KK[k, j]), 3)] for j in row if j != k]
        for k, row in enumerate(nearest)
    ]
