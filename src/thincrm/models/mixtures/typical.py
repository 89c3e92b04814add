"""What is typical of a cluster: its entries, those first in which it is most unlike the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thincrm.numerics.arrays import Bool, Float

if TYPE_CHECKING:
    from thincrm.models.mixtures.model import MixtureModel

__all__ = ["Entry", "typical_entries"]


class Entry(NamedTuple):
    """A column of a cluster, or a value of a category: a mean, or a probability."""

    name: str
    mean: float
    lower: float
    upper: float
    sd: float  # NaN: has none
    is_probability: bool


def typical_entries(model: MixtureModel) -> list[list[Entry]]:
    """Return the entries of every cluster, by distance from the clusters' mean.

    Distances are in standard deviations over clusters and inside them together: over clusters
    alone, of two each is as far from the mean in any column. Values of a category that are rarer
    than elsewhere come last: what a cluster is not, its other values tell.
    """
    table, layout = model.clusters(), model.layout_
    names = list(table.loc[0].index)
    chance_E = _are_probabilities(layout.levels, len(names))
    number_LEC = table[["mean", "lower", "upper", "sd"]].to_numpy(float).reshape(-1, len(names), 4)
    mean_LE = number_LEC[..., 0]
    inside_LE = np.where(chance_E, mean_LE * (1.0 - mean_LE), number_LEC[..., 3] ** 2)
    spread_E = np.sqrt(mean_LE.var(0) + np.nan_to_num(inside_LE).mean(0))
    away_LE = np.nan_to_num((mean_LE - mean_LE.mean(0)) / np.where(spread_E > 0, spread_E, np.inf))
    rank_LE = np.where(chance_E & (away_LE < 0), away_LE - 1e6, np.abs(away_LE))
    order_LE = np.argsort(-rank_LE, axis=1, kind="stable")
    return [
        [_entry(str(names[e]), number_EC[e], bool(chance_E[e])) for e in order_E]
        for number_EC, order_E in zip(number_LEC, order_LE, strict=True)
    ]


def _are_probabilities(levels: Sequence[tuple[str, ...]], n_entries: int) -> Bool:
    """Tell which entries are values of categories, by their places: names may be alike."""
    found = [bool(values) for values in levels for _ in values or ("",)]
    return np.array(found if len(found) == n_entries else [False] * n_entries)


def _entry(name: str, number_C: Float, is_probability: bool) -> Entry:
    mean, lower, upper, sd = map(float, number_C)
    return Entry(name, mean, lower, upper, sd, is_probability)
