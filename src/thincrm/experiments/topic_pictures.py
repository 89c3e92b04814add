"""Pictures of the experiments (matplotlib)."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from thincrm.experiments.daters import DYNAMIC
from thincrm.experiments.decades import DecadeResults
from thincrm.experiments.perplexity import PerplexityResults
from thincrm.experiments.topics import TopicResults
from thincrm.files import write_file

__all__ = ["draw_decades", "draw_perplexity", "draw_topics", "save"]

R = TypeVar("R")
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"  # Okabe and Ito
_STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "legend.frameon": False,
    "savefig.dpi": 120,
}


def save(draw: Callable[[ModuleType, R], Any], results: R, path: Path) -> bool:
    """Draw the results and save the picture; tell whether matplotlib is there to do it."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - an extra
    except ImportError:
        return False
    with plt.style.context(_STYLE):
        figure = draw(plt, results)
        picture = BytesIO()
        figure.savefig(picture, format=path.suffix[1:])
        plt.close(figure)
    write_file(path, picture.getvalue())
    return True


def draw_perplexity(plt: ModuleType, results: PerplexityResults) -> Any:
    """Draw every model's perplexity with its spread over splits, and the paper's."""
    table = results.summary.iloc[::-1]
    place = np.arange(len(table))
    figure, ax = plt.subplots(figsize=(6.6, 0.9 + 0.26 * len(table)))
    spread = table["spread"].fillna(0.0)
    ax.errorbar(table["perplexity"], place, xerr=spread, fmt="o", color=BLUE, ms=4, label="here")
    ax.plot(table["paper_perplexity"], place, "D", color=ORANGE, mfc="none", ms=5, label="paper")
    ax.set_yticks(place, table.index)
    ax.set_xlabel("perplexity of held-out words (bars: standard deviation over splits)")
    ax.grid(axis="y", lw=0.3)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return figure


def draw_decades(plt: ModuleType, results: DecadeResults) -> Any:
    """Draw where the dynamic model puts the documents of each decade."""
    truth, guess = results.guesses["decade"], results.guesses[DYNAMIC]
    decades = np.arange(min(truth.min(), guess.min()), max(truth.max(), guess.max()) + 10, 10)
    edges = np.append(decades, decades[-1] + 10) - 5
    count = np.histogram2d(truth, guess, bins=(edges, edges))[0]
    share = count / np.maximum(count.sum(axis=1, keepdims=True), 1)
    figure, ax = plt.subplots(figsize=(5.0, 4.2))
    image = ax.pcolormesh(edges, edges, share.T, cmap="Blues", vmin=0.0)
    ax.plot(edges[[0, -1]], edges[[0, -1]], color=ORANGE, lw=0.8)
    ax.set(xlabel="decade of the document", ylabel="decade the dynamic model names", aspect=1)
    figure.colorbar(image, label="share of the decade's documents")
    return figure


def draw_topics(plt: ModuleType, results: TopicResults) -> Any:
    """Draw the activation of each chosen topic with its band, and name its words."""
    periods = results.curves["period"].unique()
    figure, axes = plt.subplots(len(periods), 1, figsize=(6.0, 5.0), sharex=True, sharey=True)
    for ax, period, colour in zip(axes, periods, (BLUE, ORANGE, GREEN), strict=True):
        curve = results.curves[results.curves["period"] == period]
        words = results.words.loc[results.words["period"] == period, "word"]
        ax.fill_between(curve["t"], curve["lower"], curve["upper"], color=colour, alpha=0.25, lw=0)
        ax.plot(curve["t"], curve["mean"], color=colour)
        title = f"{period}: {', '.join(words)}".replace("$", r"\$")
        ax.set_title(title, fontsize=9, loc="left")
        ax.set_ylim(0.0, 1.02)
    figure.supylabel("probability of being open (mean and 90 % band)", fontsize=9)
    axes[-1].set_xlabel("year")
    return figure
