"""When the model would think a document is from, had it come without a time."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from thincrm.data.counts import CountMatrix, lengths_of
from thincrm.models.topics.report.periods import Periods
from thincrm.numerics.arrays import Float, Int

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["dated"]

_MOST, _LONGEST = 24, 100_000  # documents, and words of each: a report is written in seconds
_DRAWS, _STEPS = 3, 20


def dated(
    model: TopicModel, quoted: list[list[int]], periods: Periods
) -> dict[int, dict[str, list[int]]]:
    """Return, for some quoted documents of many periods, the posterior of the period.

    quoted: documents of each topic. Every period that has documents stands with one of its times,
    all as likely before. `chance` is in thousandths of the highest; `band` holds the periods at
    5, 50 and 95 %.
    """
    length = lengths_of(model.counts_)
    short = [[d for d in topic if length[d] <= _LONGEST] for topic in quoted]
    document = _chosen(short, periods)
    known = model.covariates_
    if len(known.rows) == 1 or not document:
        return {}
    period, at = _candidates(known.rows[:, 0], periods)
    chosen = model.counts_[document]
    counts: CountMatrix | pd.DataFrame = chosen
    if hasattr(model, "feature_names_in_"):  # fitted to a table with names: asked with them
        counts = pd.DataFrame(chosen.toarray(), columns=model.feature_names_in_)
    chance_DC: Float = model.predict_time(
        counts, known.labels(at[:, None]), evidence="topics", n_draws=_DRAWS, n_steps=_STEPS
    ).to_numpy()
    chance_DB = np.zeros((len(document), periods.number))
    chance_DB[:, period] = chance_DC
    below_DB = np.cumsum(chance_DB, axis=1)
    band: Int = np.stack([(below_DB < share).sum(axis=1) for share in (0.05, 0.5, 0.95)], axis=1)
    packed = np.rint(999 * chance_DB / chance_DB.max(axis=1, keepdims=True)).astype(int)
    return {
        d: {"chance": packed[i].tolist(), "band": band[i].clip(max=periods.number - 1).tolist()}
        for i, d in enumerate(document)
    }


def _chosen(quoted: list[list[int]], periods: Periods) -> list[int]:
    """Return documents, the best quoted first, from as many periods as can be."""
    turns = zip_longest(*quoted)
    every = list(dict.fromkeys(d for turn in turns for d in turn if d is not None))
    table = pd.DataFrame({"document": every, "period": periods.period[every]})
    table["turn"] = table.groupby("period").cumcount()
    return [int(d) for d in table.sort_values("turn", kind="stable")["document"].head(_MOST)]


def _candidates(rows: Float, periods: Periods) -> tuple[Int, Float]:
    """Return the periods that have documents, and the middle one of the times of each."""
    period, first, many = np.unique(periods.place(rows), return_index=True, return_counts=True)
    return period, rows[first + many // 2]
