"""Table 3 of the paper: the decade of a document, from its words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput
from thincrm.experiments.daters import DYNAMIC, STATIC, guesses
from thincrm.experiments.settings import Settings
from thincrm.numerics.arrays import Int, Seed, as_generator

__all__ = ["PAPER", "DecadeResults", "hold_out", "run"]

HELD_OUT = 0.2
_RANDOM = "random decade"
PAPER = pd.DataFrame(  # table 3
    {"paper_accuracy": [0.21, 0.05, 0.05], "paper_l1": [2.42, 6.86, 6.97]},
    index=pd.Index([DYNAMIC, STATIC, _RANDOM], name="method"),
)


@dataclass(frozen=True, slots=True)
class DecadeResults:
    """What the experiment found.

    Attributes
    ----------
    splits : DataFrame
        A row per split and method: accuracy, L1 error in decades, seconds.
    summary : DataFrame
        A row per method, averages over splits with standard deviations; beside them what the
        paper reports.
    guesses : DataFrame
        A row per split and held-out document: its row in the corpus, its label, its decade, and
        the guess of each method.
    corpus : str
        Its size.
    """

    splits: pd.DataFrame
    summary: pd.DataFrame
    guesses: pd.DataFrame
    corpus: str


def run(settings: Settings, report: Callable[[pd.DataFrame], None] | None = None) -> DecadeResults:
    """Hold out 20 % of each decade's documents, fit to the rest, date them; several times.

    Parameters
    ----------
    settings : Settings
        See there.
    report : callable or None
        Is given the rows found so far, after each method.
    """
    corpus = settings.corpus()
    rows: list[dict[str, Any]] = []
    tables = []
    for split in range(settings.splits):
        seed = settings.seed + split
        held = hold_out(corpus.decades, HELD_OUT, seed)
        test = corpus.take(held)
        train = corpus.take(np.setdiff1d(np.arange(corpus.years.size), held))
        found = {"split": split + 1, "row": held, "label": test.labels, "decade": test.decades}
        start = time.perf_counter()
        for method, guess in guesses(train, test, settings, seed):
            found[method] = guess
            seconds, start = time.perf_counter() - start, time.perf_counter()
            error = _errors(guess, test.decades)
            rows.append({"split": split + 1, "method": method, **error, "seconds": seconds})
            if report is not None:
                report(pd.DataFrame(rows))
        error = _errors(np.unique(corpus.decades)[:, None], test.decades)
        rows.append({"split": split + 1, "method": _RANDOM, **error, "seconds": 0.0})
        tables.append(pd.DataFrame(found))
    splits = pd.DataFrame(rows)
    all_guesses = pd.concat(tables, ignore_index=True)
    return DecadeResults(splits, _summary(splits), all_guesses, corpus.size)


def hold_out(decades_D: Int, fraction: float, rng: Seed) -> Int:
    """Return the rows of `fraction` of the documents of each decade, at random, in order."""
    decades, size = np.unique(decades_D, return_counts=True)
    n_held = np.round(fraction * size).astype(int)
    if (n_held > 0).sum() < 2:
        raise InvalidInput(
            f"Decades cannot be told apart: the corpus has {decades.size} of them, and "
            f"{(n_held > 0).sum()} of more than two documents; give at least two such decades."
        )
    rng = as_generator(rng)
    parts = [
        rng.choice(np.flatnonzero(decades_D == decade), n, replace=False)
        for decade, n in zip(decades, n_held, strict=True)
    ]
    return np.sort(np.concatenate(parts))


def _errors(guess: Int, truth: Int) -> dict[str, float]:
    """Return the share of right decades, and the mean distance in decades."""
    away = np.abs(guess - truth) / 10
    return {"accuracy": float(np.mean(away == 0)), "l1": float(np.mean(away))}


def _summary(splits: pd.DataFrame) -> pd.DataFrame:
    """Return averages over splits, methods in the order they were run."""
    by_method = splits.groupby("method", sort=False)
    means = by_method[["accuracy", "l1", "seconds"]].mean()
    spread = by_method[["accuracy", "l1"]].std().add_suffix("_spread")
    return means.join(spread).join(PAPER)
