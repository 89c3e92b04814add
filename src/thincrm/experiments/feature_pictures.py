"""Pictures of the experiments on latent features (drawn by `pictures.save`)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from thincrm.experiments.synthetic import SyntheticResults
from thincrm.experiments.synthetic_data import IMAGES
from thincrm.experiments.topic_pictures import BLUE, ORANGE
from thincrm.experiments.un_folds import UnResults

__all__ = ["draw_synthetic", "draw_un"]


def draw_synthetic(plt: ModuleType, results: SyntheticResults) -> Any:
    """Draw the paper's figure 1 from the first table: images and curves, true and recovered."""
    first = results.curves["seed"].iloc[0]
    curves = results.curves[results.curves["seed"] == first]
    figure, axes = plt.subplots(
        4, len(IMAGES), figsize=(9.0, 4.6), height_ratios=(1, 0.8, 1, 0.8), sharey="row"
    )
    for k, curve in curves.groupby("image"):
        for row, image in ((0, IMAGES[k]), (2, results.images[k].reshape(IMAGES[k].shape))):
            axes[row, k].imshow(image, cmap="gray", vmin=0.0, vmax=1.0)
            axes[row, k].set(xticks=[], yticks=[])
        axes[1, k].plot(curve["t"], curve["truth"], color=BLUE)
        opened = curve[curve["open"]]
        axes[1, k].plot(opened["t"], np.full(len(opened), 1.04), "|", color="0.5", ms=3)
        axes[3, k].fill_between(
            curve["t"], curve["lower"], curve["upper"], color=ORANGE, alpha=0.25, lw=0
        )
        axes[3, k].plot(curve["t"], curve["mean"], color=ORANGE)
        axes[3, k].plot(curve["t"], curve["truth"], color=BLUE, lw=0.7)
        for row in (1, 3):
            axes[row, k].set(ylim=(0.0, 1.1), xticks=(1, 20), yticks=(0, 1))
    for row, name in enumerate(("true", "true, and when open", "recovered", "mean, 90 % band")):
        axes[row, 0].set_ylabel(name, fontsize=7)
    figure.supxlabel("t", fontsize=9)
    return figure


def draw_un(plt: ModuleType, results: UnResults) -> Any:
    """Draw every model's error with its spread over folds, and the paper's."""
    table = results.summary.iloc[::-1]
    place = np.arange(len(table))
    figure, ax = plt.subplots(figsize=(6.6, 0.9 + 0.28 * len(table)))
    spread = table["spread"].fillna(0.0)
    ax.errorbar(table["rmse"], place, xerr=spread, fmt="o", color=BLUE, ms=4, label="here")
    ax.errorbar(
        table["paper_rmse"], place - 0.2, xerr=table["paper_spread"], fmt="D", color=ORANGE,
        mfc="none", ms=4, label="paper (its own table of countries)",
    )  # fmt: skip
    ax.set_yticks(place, table.index)
    ax.set_xlabel("RMSE of held-out cells (bars: two standard deviations over folds)")
    ax.grid(axis="y", lw=0.3)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return figure
