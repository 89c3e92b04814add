"""The numbers behind the views of a topic model's report, ready for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from thincrm.data.counts import lengths_of
from thincrm.models.curve_shapes import SHAPES
from thincrm.models.topics.draw import similarity
from thincrm.models.topics.report.allocation import Allocation
from thincrm.models.topics.report.dating import dated
from thincrm.models.topics.report.dating_words import dating_words
from thincrm.models.topics.report.documents import Documents, chosen_documents
from thincrm.models.topics.report.groups import group_cuts
from thincrm.models.topics.report.periods import periods_of
from thincrm.models.topics.report.quotations import Passages, checked_texts
from thincrm.models.topics.report.settings import LEARNED, READING, topic_settings
from thincrm.models.topics.report.sizes import sizes
from thincrm.models.topics.report.vocabulary import chosen_words, searchable, vocabulary
from thincrm.models.topics.report.words import words_by_period
from thincrm.numerics.arrays import Int
from thincrm.report.diagnosis import diagnosis
from thincrm.report.packed_curves import PackedCurve, curves_of
from thincrm.report.plain_words import learned
from thincrm.report.times import Times, chosen_times

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["topic_data"]

_SIMILAR = 4


def topic_data(model: TopicModel, texts: object) -> dict[str, object]:
    """Return everything the page shows of a fitted topic model, ready for JSON."""
    names, passages_from = checked_texts(texts, model.counts_.shape[0])
    tables = model.topic_tables()
    times = chosen_times(model.covariates_, tables.n_topics)
    matched, periods = tables.found, periods_of(model.covariates_)
    allocation = Allocation(model, matched)
    words = chosen_words(model)
    code = searchable(model, words)
    passages = None if passages_from is None else Passages(model, allocation, words, passages_from)
    documents = Documents(model, names)
    told, quoted = chosen_documents(model, documents, passages, periods)
    dates = dated(model, quoted, periods)
    spoken = words_by_period(allocation, periods, words, code)
    words["code"] = np.searchsorted(code, words["code"])
    parts = [a | b | c for a, b, c in zip(sizes(model, matched), spoken, told, strict=True)]
    line, settings = topic_settings(model)
    return {
        "noun": "topic",
        "corpus": _corpus(model),
        "time": times.data,
        "shapes": list(SHAPES),
        "topics": _topics(model, times, words, parts),
        "groups": group_cuts(model, len(parts)),
        "documents": documents.data(dates),
        "vocabulary": vocabulary(model, code, periods),
        "dating": dating_words(model, periods, code),
        "diagnosis": diagnosis(model, "topic"),
        "summary": line,
        "settings": settings,
        "learned": learned(model.draws_, LEARNED),
        "reading": READING,
    }


def _corpus(model: TopicModel) -> dict[str, object]:
    documents, words = model.counts_.shape
    tokens = int(lengths_of(model.counts_).sum())
    return {
        "tokens": tokens,
        "words": words,
        "rows": f"{documents:,} documents",
        "columns": f"{words:,} different words, {tokens:,} in all",
    }


def _topics(
    model: TopicModel, times: Times, words: pd.DataFrame, parts: list[dict[str, object]]
) -> list[dict[str, object]]:
    """Return the topics, the largest first; a topic's place is its number everywhere."""
    opened, share = _curves(model, times)
    shape_KS, lives = model.shapes(), _lives(model, times)
    found, n_chains = model.reliability(), len({draw.chain for draw in model.draws_})
    coherence = model.coherence() if model.counts_.shape[1] > 1 else None
    tables = model.topic_tables()
    tokens_K, documents_K = tables.held()
    alike = _similar(tables.mean_theta)
    rows = words.groupby("topic")
    return [
        {
            "tokens": int(tokens_K[k]),
            "documents": int(documents_K[k]),
            "coherence": None if coherence is None else round(float(coherence[k]), 3),
            "firm": bool(found["firm"][k]),
            "found": _found(n_chains, float(found["chains"][k]), float(found["draws"][k])),
            "presence": round(float(shape_KS["presence"][k]), 3),
            "shape": [round(float(shape_KS[name][k]), 3) for name in SHAPES],
            "first": lives[0][k],
            "last": lives[1][k],
            "open": opened[k],
            "share": share[k],
            "words": _word_rows(rows.get_group(k)),
            "similar": alike[k],
            **parts[k],
        }
        for k in range(tables.n_topics)
    ]


def _found(n_chains: int, chains: float, draws: float) -> str:
    """Return in words where a topic was found."""
    of_chains = f"{n_chains * chains:.0f} of {n_chains} chains, " if n_chains > 1 else ""
    return f"in {of_chains}{100 * draws:.0f} % of draws"


def _word_rows(words: pd.DataFrame) -> list[list[float]]:
    """Return code, probability and band of words, four digits each."""
    numbers = words[["mean", "lower", "upper"]].to_numpy(float)
    return [
        [int(code), *(float(f"{x:.4g}") for x in row)]
        for code, row in zip(words["code"].to_numpy(int), numbers, strict=True)
    ]


def _curves(model: TopicModel, times: Times) -> tuple[list[PackedCurve], list[PackedCurve]]:
    """Return, per topic, curves of the activation and of the share of words, with bands."""
    wide, narrow = model.activation(times.labels, 0.9), model.activation(times.labels, 0.5)
    n_times = len(times.labels)
    return curves_of(wide, narrow, n_times), curves_of(wide, narrow, n_times, "share", "share_")


def _lives(model: TopicModel, times: Times) -> list[list[list[float]]]:
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
