"""What atoms look like: topics as cards, features as images or bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import Float
from thincrm.plots.canvas import (
    BLUE,
    COLOURS,
    GREY,
    SMALL,
    axes,
    columns_for,
    panels,
    pick,
    shown,
    table_of,
    time_axis,
    times,
)

if TYPE_CHECKING:
    from thincrm.models.features.model import FeatureModel
    from thincrm.models.topics.model import TopicModel
    from thincrm.plots.canvas import Axes

__all__ = ["features", "topic_cards"]

_CARDS = 6
_WORD, _CURVE = 0.125, 0.3  # inches: of a word, and of the curve below the words
_MOST_NAMES = 12


def topic_cards(
    model: TopicModel,
    topics: Sequence[int] | None = None,
    n_words: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Draw a card for each topic: its most relevant words with bands, and when it is open.

    topics: which; None: the six largest. The cards are the `child_axes` of the axes returned.
    """
    words, curves = model.topics(n_words), model.activation()
    chosen = pick(topics, list(words["topic"].unique()), _CARDS, "topic")
    through_time = "t" in curves and curves["t"].nunique() > 1
    foot = 0.2 + (_CURVE + 0.22 if through_time else 0.0)
    rows = -(-len(chosen) // 3)
    ax = axes(ax, rows * (_WORD * n_words + foot + 0.25))
    n_columns = columns_for(ax, 2, 3)
    grid = panels(ax, len(chosen), n_columns, (0.75, 0.12, foot, 0.18), (0.85, foot + 0.22))
    furthest = 1.05 * words.loc[words["topic"].isin(chosen), "upper"].max()
    top = 1.05 * curves["upper"].max()
    for (panel, _, height, _, _), topic in zip(grid, chosen, strict=True):
        mine = words[words["topic"] == topic]
        place = np.arange(len(mine))
        band = [mine["probability"] - mine["lower"], mine["upper"] - mine["probability"]]
        panel.barh(place, mine["probability"], color=BLUE, alpha=0.45, height=0.75)
        panel.errorbar(
            mine["probability"], place, xerr=np.maximum(band, 0.0), fmt="none", color=BLUE, lw=0.8
        )
        panel.set_yticks(place, [shown(str(word), 0.7) for word in mine["word"]])
        panel.set_ylim(len(mine) - 0.5, -0.5)
        panel.set_xlim(0.0, furthest)
        panel.tick_params(axis="y", length=0)
        panel.locator_params(axis="x", nbins=2)
        panel.set_title(f"topic {topic}", fontsize=SMALL + 0.5, loc="left", pad=2, weight="bold")
        if through_time:
            _curve(panel, height, curves[curves["topic"] == topic], top)
    return ax


def _curve(panel: Axes, height: float, curve: pd.DataFrame, top: float) -> None:
    """Draw a small activation curve below a panel that is so many inches high."""
    below = panel.inset_axes((0.0, -(_CURVE + 0.22) / height, 1.0, _CURVE / height))
    t = times(curve["t"])
    below.fill_between(t, curve["lower"], curve["upper"], color=COLOURS[5], alpha=0.25, lw=0)
    below.plot(t, curve["mean"], color=COLOURS[5], lw=0.8)
    below.set_ylim(0.0, top)
    below.spines[["top", "right", "left"]].set_visible(False)
    below.spines["bottom"].set_linewidth(0.6)
    time_axis(below, t, 3)
    below.set_yticks([])
    below.tick_params(labelsize=SMALL - 0.5, width=0.6, length=2, pad=1.5)
    below.xaxis.get_offset_text().set_visible(False)


def features(
    model: FeatureModel | pd.DataFrame | Float,
    shape: tuple[int, int] | None = None,
    chosen: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw features: as images of `shape` (rows, columns), or as bars with bands.

    Parameters
    ----------
    model : fitted FeatureModel, the table of its `features_`, or a (K, P) array
    shape : (int, int) or None
        Of the images; None: bars, one for each column of the data.
    chosen : sequence of int or None
        Which features; None: the first 12.
    ax : matplotlib axes or None
    """
    table = _feature_table(model)
    known = list(table.index.get_level_values(0).unique())
    if not known:
        raise InvalidInput("There are no features to draw: the model found none.")
    which = pick(chosen, known, 12, "feature")
    per_row = 6 if shape else 3
    rows = -(-len(which) // per_row)
    if shape is None:
        ax = axes(ax, 0.5 + 1.15 * rows)
        return _bars(ax, table, which)
    ax = axes(ax, 0.1 + 1.25 * rows)
    return _images(ax, table, which, shape)


def _feature_table(model: FeatureModel | pd.DataFrame | Float) -> pd.DataFrame:
    if isinstance(model, np.ndarray):
        if model.ndim != 2:
            raise InvalidInput(f"features must be features × columns, got shape {model.shape}.")
        index = pd.MultiIndex.from_product([range(size) for size in model.shape])
        return pd.DataFrame({"mean": model.ravel()}, index=index)
    return table_of(model, "features_")


def _images(ax: Axes, table: pd.DataFrame, which: list[Any], shape: tuple[int, int]) -> Axes:
    n_cells = len(table.loc[which[0]])
    if shape[0] * shape[1] != n_cells:
        raise InvalidInput(f"shape {shape} does not hold the {n_cells} columns of a feature.")
    grid = panels(ax, len(which), columns_for(ax, 4, 6), (0.02, 0.02, 0.02, 0.16), (0.08, 0.2))
    largest = float(table.loc[which, "mean"].abs().max())
    for (panel, *_), feature in zip(grid, which, strict=True):
        image = table.loc[feature, "mean"].to_numpy().reshape(shape)
        panel.imshow(image, cmap="RdBu_r", vmin=-largest, vmax=largest, interpolation="nearest")
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_visible(True)
        panel.set_title(f"feature {feature}", fontsize=SMALL, pad=2)
    return ax


def _bars(ax: Axes, table: pd.DataFrame, which: list[Any]) -> Axes:
    names = [str(name) for name in table.loc[which[0]].index]
    few = len(names) <= _MOST_NAMES
    foot = 0.08 + (0.055 * min(max(map(len, names)), 12) if few else 0.15)
    grid = panels(ax, len(which), columns_for(ax, 2, 3), (0.35, 0.1, foot, 0.17), (0.18, 0.22))
    part = table.loc[which]
    low = float(part.get("lower", part["mean"]).min())
    high = float(part.get("upper", part["mean"]).max())
    place = np.arange(len(names))
    for (panel, _, _, lowest, leftmost), feature in zip(grid, which, strict=True):
        mine = table.loc[feature]
        panel.bar(place, mine["mean"], color=BLUE, alpha=0.45, width=0.8)
        if "lower" in mine:
            panel.vlines(place, mine["lower"], mine["upper"], color=BLUE, lw=0.8)
        panel.axhline(0.0, color=GREY, lw=0.5)
        panel.set_ylim(min(low, 0.0) * 1.05, max(high, 0.0) * 1.05)
        panel.set_title(f"feature {feature}", fontsize=SMALL, loc="left", pad=2)
        if few:
            panel.set_xticks(place, [shown(name, 0.6) for name in names], rotation=90)
        panel.tick_params(labelbottom=lowest, labelleft=leftmost)
    return ax
