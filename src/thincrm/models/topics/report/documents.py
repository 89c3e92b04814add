"""The documents of a report: those typical of a topic in a period, some of them quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from thincrm.data.counts import lengths_of
from thincrm.models.topics.report.periods import Periods
from thincrm.models.topics.report.quotations import Passages
from thincrm.report.times import shown

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["Documents", "chosen_documents"]

_MOST_LISTED, _FEWEST_PARTS = 800, 8  # parts of the time have documents of their own
_CONSIDERED = 8  # a topic and part
_LISTED = 1  # a topic and part
_MOST_QUOTED = 320  # passages in all
_BEST, _MOST_OF_TOPIC = 3, 8  # passages of a topic: at least, at most


class Documents:
    """Documents that the page names, numbered as they are asked for."""

    def __init__(self, model: TopicModel, names: list[str] | None) -> None:
        self.model, self.names = model, names
        self.place: dict[int, int] = {}

    def number(self, document: int) -> int:
        """Return the number of a document on the page."""
        return self.place.setdefault(document, len(self.place))

    def data(self, dates: dict[int, dict[str, list[int]]]) -> list[dict[str, object]]:
        """Return name and time of each, and what is known of the dates of some."""
        known = self.model.covariates_
        document = np.fromiter(self.place, int, len(self.place))
        at = known.observed(document)
        return [
            {
                "name": str(d) if self.names is None else self.names[d],
                "time": shown(label),
                "at": round(float(value), 6),
                **({"dates": dates[d]} if d in dates else {}),
            }
            for d, label, value in zip(document, known.labels(at), at[:, 0], strict=True)
        ]


def chosen_documents(
    model: TopicModel, documents: Documents, passages: Passages | None, periods: Periods
) -> tuple[list[dict[str, object]], list[list[int]]]:
    """Return, per topic, quotations and further documents of every part; and whom it quotes.

    Typical are documents with a large share of the topic and, of these, those with many words of
    it: three words that all belong to a topic say little.
    """
    n_topics = model.topic_tables().n_topics
    n_parts = min(max(_MOST_LISTED // n_topics, _FEWEST_PARTS), periods.number)
    edges = np.linspace(periods.edges[0], periods.edges[-1], n_parts + 1)[1:-1, None]
    cuts = list(model.covariates_.labels(edges)) if n_parts > 1 else None
    table = model.representative_documents(_CONSIDERED, cuts)
    length = lengths_of(model.counts_)
    told = table["share"] * length[table["document"]]
    table = table.assign(score=table["share"] * np.log1p(told))
    table = table.sort_values("score", ascending=False, kind="stable")
    topics = dict(iter(table.groupby("topic")))
    most = int(np.clip(_MOST_QUOTED // n_topics, _BEST, _MOST_OF_TOPIC))
    out: list[dict[str, object]] = []
    whom: list[list[int]] = []
    for k in range(n_topics):
        best = _spread(topics[k], most)
        others = topics[k].drop(best.index).groupby("period").head(_LISTED)
        quoted = [
            {"document": documents.number(d), "share": share}
            | ({} if passages is None else {"text": passages.of(k, d)})
            for d, share in _pairs(best)
        ]
        out.append(
            {
                "quotations": quoted,
                "others": [[documents.number(d), share] for d, share in _pairs(others)],
            }
        )
        whom.append(best["document"].tolist())
    return out, whom


def _pairs(table: pd.DataFrame) -> list[tuple[int, float]]:
    return list(zip(table["document"].tolist(), table["share"].round(3).tolist(), strict=True))


def _spread(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the best documents, then the best of each part of the time."""
    rest = table.iloc[_BEST:]
    chosen = pd.concat([table.head(_BEST), rest.groupby("period").head(1)])
    return chosen.head(most)
