"""Two numbers of a topic's prior self: its weight when open, and over what time it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from thincrm.models.topics.draw import TopicDraw
from thincrm.numerics.arrays import Float, Int

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["kernel_lengths", "open_weights", "sizes"]

_YEAR, _MONTH = 365.25, 30.44
_UNITS = ((2 * _YEAR, _YEAR, " years"), (2 * _MONTH, _MONTH, " months"), (0.0, 1.0, " days"))


def sizes(model: TopicModel, matched: list[Int]) -> list[dict[str, object]]:
    """Return both for every topic of the page, in words."""
    both = zip(kernel_lengths(model, matched), open_weights(model, matched), strict=True)
    return [{"kernel": kernel, "weight": weight} for kernel, weight in both]


def open_weights(model: TopicModel, matched: list[Int]) -> list[str]:
    """Return how many words a document has of each topic that is open: the mean of n_dk | open."""
    said = _summaries(model, matched, lambda draw: draw.usage.mean)
    return [f"{_band(row, '')} words of a document" for row in said]


def kernel_lengths(model: TopicModel, matched: list[Int]) -> list[str | None]:
    """Return the lengths of time over which the topics' curves vary: 1 / sqrt(psi) of a kernel.

    None of topics that never close, and of thinning functions without a kernel.
    """
    if _lengths(model, model.draws_[-1]) is None:
        return [None] * matched[-1].size
    dates = model.covariates_.kind.startswith("date")

    def lengths(draw: TopicDraw) -> Float:
        thinned = _lengths(model, draw)
        known = np.empty(0) if thinned is None else thinned
        always = draw.words.shape[1] - known.size  # these come first and have no curve
        return np.concatenate([np.full(always, np.nan), known])

    out: list[str | None] = []
    for row in _summaries(model, matched, lengths):
        size, name = _unit(row[0]) if dates else (1.0, "")
        out.append(None if np.isnan(row[0]) else _band(row / size, name))
    return out


def _lengths(model: TopicModel, draw: TopicDraw) -> Float | None:
    found: Float | None = None
    if draw.x is not None:
        found = model.thinning_.lengths(draw.x, model.prepared_)
    return found


def _summaries(
    model: TopicModel, matched: list[Int], values: Callable[[TopicDraw], Float]
) -> Float:
    """Return (K, 3): mean and 90 % band over the draws that have the topic."""
    known = np.stack(
        [
            np.where(place >= 0, values(draw)[np.maximum(place, 0)], np.nan)
            for draw, place in zip(model.draws_, matched, strict=True)
        ]
    )
    out = np.full((matched[-1].size, 3), np.nan)
    some = ~np.isnan(known).all(axis=0)
    out[some, 0] = np.nanmean(known[:, some], axis=0)
    out[some, 1:] = np.nanquantile(known[:, some], [0.05, 0.95], axis=0).T
    return out


def _unit(days: float) -> tuple[float, str]:
    return next((size, name) for least, size, name in _UNITS if days >= least or least == 0.0)


def _band(row: Float, unit: str) -> str:
    mean, low, high = (f"{x:.3g}" for x in row)
    return f"{mean}{unit}" if low == high else f"{mean}{unit} ({low} to {high})"
