"""Table 2 of the paper: perplexity of held-out words, static and dynamic models side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import thincrm.models.topics.factors
from thincrm.data.counts import split_words
from thincrm.data.sotu import Corpus
from thincrm.experiments.baselines import Score, other_models
from thincrm.experiments.settings import Settings
from thincrm.levy import BetaProcess
from thincrm.models.topics.model import TopicModel
from thincrm.thinning import Always

__all__ = ["PAPER", "PerplexityResults", "run"]

HELD_OUT = 0.2
N_DRAWS = 200
_STATIC, _DYNAMIC = (624.4, 2.0, 5.4), (528.6, 2.7, 62.6)
PAPER = pd.DataFrame.from_dict(  # table 2; what its ± stands for is not said
    {
        "static": _STATIC,
        "dynamic": _DYNAMIC,
        "static, paper's priors": _STATIC,
        "dynamic, paper's priors": _DYNAMIC,
        "BNBP": (418.1, 0.9, 198.4),
    },
    orient="index",
    columns=["paper_perplexity", "paper_error", "paper_topics"],
)


@dataclass(frozen=True, slots=True)
class PerplexityResults:
    """What the experiment found.

    Attributes
    ----------
    splits : DataFrame
        A row per split and model: perplexity, its Monte Carlo error, topics that hold a token,
        topics that hold 0.5 % of them or more, seconds.
    summary : DataFrame
        A row per model, averages over splits and, of the perplexity, the standard deviation;
        beside them what the paper reports.
    corpus : str
        Its size.
    """

    splits: pd.DataFrame
    summary: pd.DataFrame
    corpus: str


def run(
    settings: Settings, report: Callable[[pd.DataFrame], None] | None = None
) -> PerplexityResults:
    """Hold out 20 % of every document's words, fit to the rest, predict them; several times.

    Parameters
    ----------
    settings : Settings
        See there.
    report : callable or None
        Is given the rows found so far, after each model.
    """
    corpus = settings.corpus()
    rows: list[dict[str, Any]] = []
    for split in range(settings.splits):
        seed = settings.seed + split
        for name, score in _scores(corpus, settings, seed):
            rows.append({"split": split + 1, "model": name, **score._asdict()})
            if report is not None:
                report(pd.DataFrame(rows))
    splits = pd.DataFrame(rows)
    return PerplexityResults(splits, _summary(splits), corpus.size)


def _scores(corpus: Corpus, settings: Settings, seed: int) -> Iterator[tuple[str, Score]]:
    train, heldout = split_words(corpus.counts, HELD_OUT, seed)
    for name, make in _products().items():
        start = time.perf_counter()
        model = make(
            max_topics=settings.max_topics,
            detail="fine",
            n_sweeps=settings.sweeps,
            n_draws=N_DRAWS,
            n_chains=1,
            random_state=seed,
        ).fit(train, t=corpus.decades)
        found = model.perplexity(heldout)
        large = np.mean([draw.scalars["n_large_topics"] for draw in model.draws_])
        seconds = time.perf_counter() - start
        yield name, Score(found.value, found.error, model.n_topics_.mean(), float(large), seconds)
    yield from other_models(train, heldout, settings, seed)


def _products() -> dict[str, Callable[..., TopicModel]]:
    """Return how to make each model; what is not named is TopicModel's own choice."""
    beta = BetaProcess()
    found: dict[str, Callable[..., TopicModel]] = {
        "static": partial(TopicModel, thinning=Always()),
        "dynamic": TopicModel,
        "static, paper's priors": partial(TopicModel.as_in_paper, dynamic=False),
        "dynamic, paper's priors": TopicModel.as_in_paper,
        "BNBP": partial(TopicModel, levy=beta, thinning=Always()),
        "thinned BNBP": partial(TopicModel, levy=beta),
    }
    factor = getattr(thincrm.models.topics.factors, "GammaNegativeBinomialFactor", None)
    if factor is not None:
        found["gamma-NB"] = partial(TopicModel, likelihood=factor(), thinning=Always())
        found["thinned gamma-NB"] = partial(TopicModel, likelihood=factor())
    return found


def _summary(splits: pd.DataFrame) -> pd.DataFrame:
    """Return averages over splits, models in the order they were run."""
    by_model = splits.groupby("model", sort=False)
    means = by_model[["perplexity", "error", "topics", "large_topics", "seconds"]].mean()
    means.insert(1, "spread", by_model["perplexity"].std())
    return means.join(PAPER)
