"""A fitted model in the terminal: a line a topic, with a little curve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from thincrm.data.covariates import Covariates
from thincrm.numerics.arrays import Float
from thincrm.printable import printable

__all__ = ["curve", "feature_table", "topic_table"]

_BLOCKS = " ▁▂▃▄▅▆▇█"
_WIDTH, _WORDS = 24, 8


def topic_table(model: Any, most: int = 25) -> Table:
    """Return the largest topics: share of words, when they are open, and their likeliest words."""
    known: Covariates = model.covariates_
    curves = model.activation()
    n_topics = int(curves["topic"].max()) + 1
    shape = (n_topics, len(known.rows))
    open_KT = curves["mean"].to_numpy().reshape(shape)
    share_K = curves["share"].to_numpy().reshape(shape) @ _weights(known)
    words = model.topics(_WORDS).groupby("topic")["word"].agg(lambda w: " ".join(map(str, w)))
    table, timed = _table("topic", known)
    for topic in range(min(n_topics, most)):
        cells = [str(topic), f"{100 * share_K[topic]:.1f} %"]
        if timed:
            cells += [f"{100 * open_KT[topic].max():.0f} %", curve(known, open_KT[topic])]
        table.add_row(*cells, Text(printable(words[topic]), overflow="ellipsis", no_wrap=True))
    return table


def feature_table(model: Any, most: int = 25) -> Table:
    """Return the features: share of usages, when they are open, and their largest entries."""
    known: Covariates = model.covariates_
    curves = model.activation()
    n_features = int(curves["feature"].max()) + 1 if len(curves) else 0
    open_KT = curves["usage"].to_numpy().reshape(n_features, len(known.rows))
    entries = model.features_.reset_index()
    table, timed = _table("feature", known, "used", "largest entries")
    for feature in range(min(n_features, most)):
        part = entries[entries["feature"] == feature]
        size = part["mean"].abs() / (part["upper"] - part["lower"]).clip(lower=1e-12)
        top = part.loc[size.sort_values(ascending=False).index[:4]]
        said = " ".join(f"{r['column']} {r['mean']:+.3g}" for _, r in top.iterrows())
        cells = [str(feature), f"{100 * open_KT[feature] @ _weights(known):.0f} %"]
        if timed:
            cells += [f"{100 * open_KT[feature].max():.0f} %", curve(known, open_KT[feature])]
        table.add_row(*cells, Text(printable(said), overflow="ellipsis", no_wrap=True))
    return table


def _weights(known: Covariates) -> Float:
    return np.asarray(known.trials / known.trials.sum())


def _table(
    first: str, known: Covariates, share: str = "words", last: str = "likeliest words"
) -> tuple[Table, bool]:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(first, justify="right", no_wrap=True)
    table.add_column(share, justify="right", no_wrap=True, min_width=6)
    timed = known.rows.shape[1] == 1 and len(known.rows) > 1
    if timed:
        start, stop = _ends(known)
        table.add_column("peak", justify="right", no_wrap=True, min_width=5)
        gap = " " * max(1, _WIDTH - len(start) - len(stop))
        table.add_column(f"{start}{gap}{stop}", no_wrap=True, min_width=_WIDTH)
    table.add_column(last)  # the one that gives way in a narrow terminal
    return table, timed


def _ends(known: Covariates) -> tuple[str, str]:
    labels = known.labels()
    if isinstance(labels, pd.DatetimeIndex):
        long = labels[-1] - labels[0] > pd.Timedelta(days=1500)
        form = "%Y" if long else "%Y-%m-%d"
        return labels[0].strftime(form), labels[-1].strftime(form)
    return f"{labels[0]:g}", f"{labels[-1]:g}"


def curve(known: Covariates, height_T: Float, width: int = _WIDTH) -> str:
    """Return a curve as blocks, its own peak the highest; time runs evenly."""
    at = known.rows[:, 0]
    height = np.interp(np.linspace(at[0], at[-1], width), at, height_T)
    level = np.round(height / max(height_T.max(), 1e-12) * (len(_BLOCKS) - 1)).astype(int)
    return "".join(_BLOCKS[i] for i in np.clip(level, 0, len(_BLOCKS) - 1))
