"""Figure 2 and table 4 of the paper: three topics' activations through time, and their words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from thincrm.errors import InvalidInput
from thincrm.experiments.settings import Settings
from thincrm.models.topics.model import TopicModel

__all__ = ["PAPER", "TopicResults", "choose_topics", "run"]

PERIODS = ("early", "middle", "late")
N_WORDS = 5
PAPER = {
    "war": ("military", "defense", "war", "forces", "force"),
    "Cold War": ("soviet", "nations", "security", "peace", "nuclear"),
    "Native Americans": ("tribes", "indian", "indians", "frontier", "greater"),
}
_SMALLEST_SHARE = 0.005


@dataclass(frozen=True, slots=True)
class TopicResults:
    """What the experiment found.

    Attributes
    ----------
    words : DataFrame
        The likeliest words of the three topics: period, topic, rank, word, probability, and a
        90 % band.
    curves : DataFrame
        Their activations: period, topic, t, mean, and a 90 % band; and their shares of words.
    corpus : str
        Its size.
    """

    words: pd.DataFrame
    curves: pd.DataFrame
    corpus: str


def run(settings: Settings) -> TopicResults:
    """Fit the dynamic model to all documents; show one topic of early years, one middle, one late.

    (There are no hold-out sets: `settings.splits` is not used.)
    """
    corpus = settings.corpus()
    model = TopicModel(
        max_topics=settings.max_topics,
        detail="fine",
        n_sweeps=settings.sweeps,
        n_chains=1,
        random_state=settings.seed,
    ).fit(corpus.counts, t=corpus.years)
    curves = model.activation()
    chosen = choose_topics(curves)
    words = model.topics(N_WORDS, order="probability").merge(chosen, on="topic")
    words["word"] = corpus.vocabulary[words["word"]]
    curves = curves.merge(chosen, on="topic")
    return TopicResults(_by_period(words), _by_period(curves), corpus.size)


def choose_topics(curves: pd.DataFrame) -> pd.DataFrame:
    """Return a topic for each period (columns period, topic): open there rather than elsewhere.

    Periods are thirds of the distinct times. What counts is how much more open a topic is in a
    period than in the others, on average; three topics are chosen so that their sum is largest.
    Topics with less than 0.5 % of the words are passed over where there are enough others.
    """
    share_K = curves.groupby("topic")["share"].mean()
    least = min(_SMALLEST_SHARE, share_K.nlargest(len(PERIODS)).min())
    open_TK = curves.pivot_table(values="mean", index="t", columns="topic")
    open_TK = open_TK.loc[:, share_K >= least]
    if min(open_TK.shape) < len(PERIODS):
        raise InvalidInput(
            f"An early, a middle and a late topic need three topics and three years; there are "
            f"{open_TK.shape[1]} and {open_TK.shape[0]}: give more documents or more topics."
        )
    period_T = np.arange(len(open_TK)) * len(PERIODS) // len(open_TK)
    level_PK = open_TK.groupby(period_T).mean().to_numpy()
    contrast_PK = level_PK - (level_PK.sum(axis=0) - level_PK) / (len(PERIODS) - 1)
    period, topic = linear_sum_assignment(-contrast_PK)
    return pd.DataFrame({"period": np.array(PERIODS)[period], "topic": open_TK.columns[topic]})


def _by_period(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the order of periods, the period first."""
    names = ["period", *(name for name in table.columns if name != "period")]
    order = table["period"].map(PERIODS.index).sort_values(kind="stable").index
    return table.loc[order, names].reset_index(drop=True)
