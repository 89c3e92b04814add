"""Axes at paper size: making them, dividing them into panels, putting time on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 - for all plots
    from matplotlib.figure import Figure as Figure  # noqa: PLC0414

__all__ = [
    "BLUE",
    "COLOURS",
    "GREY",
    "SMALL",
    "Panel",
    "Times",
    "axes",
    "columns_for",
    "figure_of",
    "inches",
    "panels",
    "pick",
    "shown",
    "side_label",
    "table_of",
    "tidy",
    "time_axis",
    "times",
]

# Okabe and Ito (2008): told apart by colour-blind readers and in print.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
BLUE, GREY = COLOURS[0], "#999999"
SMALL = 7.0  # points: what journals ask for at least, at final size
_WIDTH = 6.9  # inches: two columns of a journal; one is 3.3
_HAIR = 0.6
Times: TypeAlias = Sequence[Any] | np.ndarray | pd.Series | pd.Index  # numbers or dates


class Panel(NamedTuple):
    """One of several small axes, its size in inches, and whether labels go below and beside it."""

    ax: Axes
    width: float
    height: float
    is_lowest: bool
    is_leftmost: bool


def axes(ax: Axes | None, height: float) -> Axes:
    """Return `ax`, or new axes two columns wide and so many inches high."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise InvalidInput("plots need matplotlib: pip install 'thincrm[plot]'.") from error
    return plt.subplots(figsize=(_WIDTH, height), layout="constrained")[1]


def figure_of(ax: Axes) -> Figure:
    """Return the figure that axes are in; axes that can be drawn on are in one."""
    return cast("Figure", ax.get_figure(root=True))


def inches(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes as they stand now."""
    box = ax.get_position()
    width, height = figure_of(ax).get_size_inches()
    return box.width * width, box.height * height


def tidy(ax: Axes) -> None:
    """Thin lines, small letters, no box."""
    ax.spines[["top", "right"]].set_visible(False)
    for spine in ax.spines.values():
        spine.set_linewidth(_HAIR)
    ax.tick_params(labelsize=SMALL, width=_HAIR, length=2.5, pad=2)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(SMALL + 1)
        axis.get_offset_text().set_fontsize(SMALL)


def columns_for(ax: Axes, narrow: int, wide: int) -> int:
    """Return how many panels go side by side: in one column of a page, or in two."""
    return wide if inches(ax)[0] > 4.6 else narrow


def panels(
    ax: Axes,
    n_panels: int,
    n_columns: int,
    room: tuple[float, float, float, float],
    gap: tuple[float, float],
) -> list[Panel]:
    """Divide `ax` into panels, row by row, and return them (they are its `child_axes`).

    `room` is what is kept free, in inches, at the left, right, bottom and top of `ax`; `gap` is
    what is kept between panels, across and down.
    """
    ax.set_axis_off()
    engine = figure_of(ax).get_layout_engine()
    if engine is not None:  # then axes have not their place yet
        engine.execute(figure_of(ax))
    width, height = inches(ax)
    n_columns = min(n_columns, n_panels)
    n_rows = -(-n_panels // n_columns)
    left, right, bottom, top = room
    across = (width - left - right - gap[0] * (n_columns - 1)) / n_columns
    down = (height - bottom - top - gap[1] * (n_rows - 1)) / n_rows
    if across <= 0.2 or down <= 0.15:
        raise InvalidInput(
            f"{n_panels} panels do not fit into {width:.1f} by {height:.1f} inches: draw fewer, or "
            "pass larger axes."
        )
    found = []
    for i in range(n_panels):
        row, column = divmod(i, n_columns)
        x = left + column * (across + gap[0])
        y = height - top - (row + 1) * down - row * gap[1]
        bounds = (x / width, y / height, across / width, down / height)
        panel = ax.inset_axes(bounds)
        tidy(panel)
        found.append(Panel(panel, across, down, i + n_columns >= n_panels, column == 0))
    return found


def side_label(ax: Axes, text: str) -> None:
    """Name what all panels show, along the left edge of the axes they divide."""
    ax.text(0.0, 0.5, text, transform=ax.transAxes, rotation=90, va="center", ha="left", size=SMALL)


def times(values: Times) -> np.ndarray:
    """Return covariates as matplotlib takes them: dates without a zone, or numbers."""
    index = pd.Index(values)
    if isinstance(index, pd.DatetimeIndex):
        return np.asarray(index.tz_localize(None).to_numpy())
    return np.asarray(index.to_numpy())


def time_axis(ax: Axes, t: np.ndarray, most: int) -> None:
    """Put at most so many ticks on the axis of `t`, dates as dates."""
    ax.set_xlim(t[0], t[-1])
    if np.issubdtype(t.dtype, np.datetime64):
        from matplotlib import dates  # noqa: PLC0415 - an extra

        locator = dates.AutoDateLocator(minticks=2, maxticks=most)  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_locator(locator)
        formatter = dates.ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_formatter(formatter)
    else:
        from matplotlib import ticker  # noqa: PLC0415 - an extra

        whole = np.issubdtype(t.dtype, np.integer)
        ax.xaxis.set_major_locator(ticker.MaxNLocator(most, integer=whole))


def shown(text: str, width: float, size: float = SMALL) -> str:
    """Return text cut to so many inches, with dollars that are not mathematics."""
    most = max(4, int(width * 72 / (0.55 * size)))
    cut = text if len(text) <= most else text[: most - 1].rstrip() + "…"
    return cut.replace("$", r"\$")


def pick(chosen: Sequence[Any] | None, known: Sequence[Any], most: int, what: str) -> list[Any]:
    """Return the chosen topics, or the first `most`, or a sentence on one that is not there."""
    if chosen is None:
        return list(known)[:most]
    missing = [one for one in chosen if one not in set(known)]
    if missing or len(chosen) == 0:
        said = f"there is no {what} {missing[0]!r}" if missing else f"no {what} was chosen"
        raise InvalidInput(f"{said}: {what}s go from {known[0]} to {known[-1]}.")
    return list(chosen)


def table_of(source: object, method: str) -> pd.DataFrame:
    """Return a table as it is, or the one that a fitted model gives."""
    if isinstance(source, pd.DataFrame):
        return source
    give = getattr(source, method, None)
    if give is None:
        raise InvalidInput(f"pass a fitted model with {method}, or the table it gives.")
    found: pd.DataFrame = give() if callable(give) else give
    return found
