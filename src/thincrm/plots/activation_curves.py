"""Activation and share of words through time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput
from thincrm.models.curve_shapes import first_last
from thincrm.numerics.arrays import Float, Int
from thincrm.plots.canvas import (
    BLUE,
    COLOURS,
    GREY,
    SMALL,
    axes,
    columns_for,
    inches,
    panels,
    pick,
    shown,
    side_label,
    table_of,
    tidy,
    time_axis,
    times,
)

if TYPE_CHECKING:
    from thincrm.models.base import Model
    from thincrm.plots.canvas import Axes, Figure

__all__ = ["activation", "share"]

_MOST = {"lines": 12, "ridge": 16, "heat": 60}
_HEIGHT = {"lines": 0.95, "ridge": 0.28, "heat": 0.14}  # inches, of a row
_LEAST = 1.7  # of a picture: what the label of its colours needs
_OVERLAP = 1.7  # a ridge may reach so many rows up
_BANDS = 12
_ROWS = {"topic": "words", "feature": "", "cluster": "rows"}  # what is shared out among them


def activation(
    model: Model | pd.DataFrame,
    topics: Sequence[Any] | None = None,
    kind: Literal["lines", "ridge", "heat"] = "lines",
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability that each topic is open through time.

    Parameters
    ----------
    model : fitted model, or the table of its `activation()`
        A table given with `activation(t=..., level=...)` is drawn at those times and level.
    topics : sequence or None
        Which; None: the largest (12 as lines, 16 as a ridge, 60 as a heat map).
    kind : {"lines", "ridge", "heat"}
        Small multiples with bands, on one scale; overlapping curves sorted by birth, the first
        time a topic is at least half as active as ever; or a map of topics by time, sorted so.
    ax : matplotlib axes or None

    Returns
    -------
    ax : the axes; small multiples are its `child_axes`.
    """
    if kind not in _MOST:
        raise InvalidInput(f"kind must be one of {', '.join(_MOST)}, got {kind!r}.")
    table = table_of(model, "activation")
    what, t = _checked(table)
    chosen = pick(topics, list(table[what].unique()), _MOST[kind], what)
    rows = -(-len(chosen) // 3) if kind == "lines" else len(chosen)
    ax = axes(ax, max(0.6 + _HEIGHT[kind] * rows, _LEAST))
    names = names_of(model, what, chosen)
    curves = {
        column: table.pivot_table(index=what, columns="t", values=column, sort=True).loc[chosen]
        for column in ("mean", "lower", "upper")
    }
    arrays = {column: curve.to_numpy() for column, curve in curves.items()}
    if kind == "lines":
        return _lines(ax, t, arrays, names)
    order = _by_birth(arrays["mean"])
    arrays = {column: array[order] for column, array in arrays.items()}
    names = [names[i] for i in order]
    return (_ridge if kind == "ridge" else _heat)(ax, t, arrays, names)


def share(
    model: Model | pd.DataFrame, topics: Sequence[Any] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the expected shares of words (or rows) through time, stacked; the rest is grey.

    topics: which; None: the twelve largest. They are stacked by birth, the oldest at the bottom.
    """
    table = table_of(model, "activation")
    what, t = _checked(table)
    if "share" not in table:
        raise InvalidInput(
            "the table has no column share: pass activation() of topics or clusters."
        )
    everything = table.pivot_table(index=what, columns="t", values="share", sort=True)
    everything = everything / everything.sum(axis=0)
    chosen = pick(topics, list(everything.index), _BANDS, what)
    ax = axes(ax, 2.8)
    part = everything.loc[chosen].to_numpy()
    order = _by_birth(part)
    part = part[order]
    names = names_of(model, what, [chosen[i] for i in order])
    wide = columns_for(ax, 0, 1)
    room = inches(ax)[0] * (0.3 if wide else 0.42)
    colours = [COLOURS[:6][i % 6] for i in range(len(part))]
    bands = ax.stackplot(t, part, colors=colours, lw=0.4, ec="white")
    for band, step in zip(bands, np.arange(len(part)) // 6, strict=True):
        band.set_alpha((0.9, 0.55)[step % 2])
    rest = 1.0 - part.sum(axis=0)
    others = ax.fill_between(t, 1.0 - rest, 1.0, color=GREY, alpha=0.25, lw=0)
    tidy(ax)
    time_axis(ax, t, 8 if wide else 4)
    ax.set_ylim(0.0, 1.0)
    ax.set_ylabel(f"expected share of {_ROWS[what]}")
    labels = [shown(name, room) for name in names]
    if len(everything) > len(part):
        bands, labels = [*bands, others], [*labels, f"{len(everything) - len(part)} others"]
    place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    if not wide:
        place = {"loc": "upper center", "bbox_to_anchor": (0.45, -0.1), "ncols": 2}
    else:  # as they are stacked
        bands, labels = bands[::-1], labels[::-1]
    ax.legend(
        bands, labels, fontsize=SMALL, frameon=False,
        handlelength=0.9, handletextpad=0.4, columnspacing=0.8, **place,
    )  # fmt: skip
    return ax


def _checked(table: pd.DataFrame) -> tuple[str, np.ndarray]:
    """Return what the rows are (topics, features or clusters), and the times."""
    what = next((name for name in _ROWS if name in table), None)
    if "t" not in table or what is None:
        raise InvalidInput(
            "only curves over one covariate can be drawn: the table needs columns topic and t."
        )
    if table.empty:
        raise InvalidInput(f"There are no {what}s to draw: the model found none.")
    t = times(np.unique(pd.Index(table["t"])))
    if t.size < 2:
        raise InvalidInput("there is one covariate value only: no curve to draw.")
    return what, t


def names_of(model: Any, what: str, chosen: Sequence[Any], n_words: int = 3) -> list[str]:
    """Return names: a number, and a topic's first words where the model is at hand."""
    if what != "topic" or isinstance(model, pd.DataFrame):
        return [f"{what} {one}" for one in chosen]
    words = model.topics(n_words).groupby("topic")["word"]
    said = words.apply(lambda found: " ".join(map(str, found)))
    return [f"{one}  {said[one]}" for one in chosen]


def _by_birth(mean_KT: Float) -> Int:
    """Return the order of curves by the first time each is at least half its highest."""
    curve = mean_KT.T[None]
    return np.lexsort((first_last(curve, "last")[0], first_last(curve, "first")[0]))


def _lines(ax: Axes, t: np.ndarray, curves: dict[str, Float], names: list[str]) -> Axes:
    grid = panels(ax, len(names), columns_for(ax, 2, 3), (0.42, 0.1, 0.2, 0.17), (0.26, 0.22))
    top = min(1.0, 1.05 * float(np.nanmax(curves["upper"])))
    for k, (panel, name) in enumerate(zip(grid, names, strict=True)):
        here = panel.ax
        here.fill_between(t, curves["lower"][k], curves["upper"][k], color=BLUE, alpha=0.25, lw=0)
        here.plot(t, curves["mean"][k], color=BLUE, lw=0.9)
        here.set_title(shown(name, panel.width), fontsize=SMALL, loc="left", pad=2)
        here.set_ylim(0.0, top)
        here.locator_params(axis="y", nbins=3)
        time_axis(here, t, 4)
        here.tick_params(labelbottom=panel.is_lowest, labelleft=panel.is_leftmost)
        here.xaxis.get_offset_text().set_visible(False)
    side_label(ax, "probability of being open")
    return ax


def _ridge(ax: Axes, t: np.ndarray, curves: dict[str, Float], names: list[str]) -> Axes:
    top = float(np.nanmax(curves["upper"])) / _OVERLAP
    said = f"probability of being open; lines are {top:.2f} apart"
    ax.set_title(said, fontsize=SMALL, loc="right", pad=2)
    for k in range(len(names)):
        base = float(-k)
        mean, lower, upper = (base + curves[name][k] / top for name in ("mean", "lower", "upper"))
        ax.fill_between(t, base, mean, color="white", alpha=0.75, lw=0, zorder=k + 1)
        ax.fill_between(t, base, mean, color=BLUE, alpha=0.3, lw=0, zorder=k + 1)
        ax.fill_between(t, lower, upper, color=BLUE, alpha=0.25, lw=0, zorder=k + 1)
        ax.plot(t, mean, color=BLUE, lw=0.7, zorder=k + 1)
        ax.plot(t[[0, -1]], [base, base], color=GREY, lw=0.3, zorder=k + 1)
    tidy(ax)
    ax.spines["left"].set_visible(False)
    time_axis(ax, t, columns_for(ax, 4, 8))
    ax.set_ylim(1 - len(names) - 0.15, _OVERLAP + 0.1)
    ax.set_yticks(-np.arange(len(names)), _row_names(ax, names))
    ax.tick_params(axis="y", length=0)
    return ax


def _heat(ax: Axes, t: np.ndarray, curves: dict[str, Float], names: list[str]) -> Axes:
    edges = _edges(t)
    mesh = ax.pcolormesh(
        edges, np.arange(len(names) + 1) - 0.5, curves["mean"], cmap="Blues", vmin=0.0,
        rasterized=True,
    )  # fmt: skip
    tidy(ax)
    time_axis(ax, edges, columns_for(ax, 4, 8))
    ax.set_ylim(len(names) - 0.5, -0.5)
    readable = inches(ax)[1] / len(names) > 0.1
    step = 1 if readable else -(-len(names) // max(int(inches(ax)[1] / 0.12), 1))
    rows = np.arange(0, len(names), step)
    ax.set_yticks(rows, [_row_names(ax, names)[row] for row in rows])
    ax.tick_params(axis="y", length=0, labelsize=SMALL - 1)
    bar = cast("Figure", ax.get_figure()).colorbar(mesh, ax=ax, aspect=35, pad=0.02, fraction=0.04)
    bar.ax.tick_params(labelsize=SMALL, width=0.6, length=2)
    bar.outline.set_linewidth(0.4)
    bar.set_label("probability of being open", size=SMALL)
    return ax


def _row_names(ax: Axes, names: list[str]) -> list[str]:
    width = 1.7 if columns_for(ax, 0, 1) else 1.15
    return [shown(name, width) for name in names]


def _edges(t: np.ndarray) -> np.ndarray:
    """Return the T + 1 edges of cells around uneven times: half-way between them."""
    half = np.diff(t) / 2
    middle = t[:-1] + half
    return np.concatenate([[t[0] - half[0]], middle, [t[-1] + half[-1]]])
