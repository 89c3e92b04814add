"""Pictures of random measures and of their correlation (matplotlib)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from thincrm.data.covariates import CovariateLike, covariates
from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 - for `Realisation` too

    from thincrm.measure.thinned import ThinnedCRM

__all__ = ["plot_correlation", "plot_realisation"]

_LARGEST = 200.0  # points squared
_SHADES = 8


def plot_realisation(
    rows_TC: Float, index: pd.Index, locations: Float, weights_TK: Float, ax: Axes | None = None
) -> Axes:
    """Draw weights at (t, theta), or at (t, atom number) where locations are vectors."""
    ax = _axes(ax)
    _one_column(rows_TC)
    across = locations if locations.ndim == 1 else np.arange(len(locations))
    t, k = np.nonzero(weights_TK)
    largest = weights_TK.max(initial=0.0)
    area = _LARGEST * weights_TK[t, k] / (largest if largest > 0 else 1.0)
    rank_K = np.argsort(np.argsort(-weights_TK.sum(0)))
    shade = rank_K[k] % _SHADES  # the heaviest atoms differ in colour
    ax.scatter(index.to_numpy()[t], across[k], s=area, c=shade, cmap="viridis", alpha=0.6, lw=0)
    ax.set_xlabel(str(index.name))
    ax.set_ylabel("location" if locations.ndim == 1 else "atom")
    return ax


def plot_correlation(crm: ThinnedCRM, t: CovariateLike, ax: Axes | None = None) -> Axes:
    """Draw the correlation of B_s and B_t against t, s being the middle of `t`.

    Three curves: gates independent given x, gates that share one uniform per atom, and the cosine
    of the activation vectors, which the paper prints for thinned measures (section 3.1) and
    which belongs to weighted ones. The first has a jump at t = s: two independent replicates
    there are less than perfectly correlated.
    """
    ax = _axes(ax)
    known = covariates(t)
    _one_column(known.rows)
    labels = known.labels()
    middle = labels[len(labels) // 2 : len(labels) // 2 + 1]
    plain = replace(crm, coupling="independent", weighted=False)
    curves = {
        "independent gates": plain.correlation(middle, labels),
        "comonotone gates": replace(plain, coupling="comonotone").correlation(middle, labels),
        "printed formula (weighted measures)": plain.paper_correlation(middle, labels),
    }
    for (name, curve), style in zip(curves.items(), ("-", "--", ":"), strict=True):
        ax.plot(labels.to_numpy(), np.ravel(curve), style, label=name)
    ax.set_ylim(0, 1.05)
    ax.set_xlabel(str(labels.name))
    ax.set_ylabel(f"correlation with {labels.name} = {middle[0]}")
    ax.legend()
    return ax


def _one_column(rows_TC: Float) -> None:
    if rows_TC.shape[1] > 1:
        raise InvalidInput(
            f"only covariates of one column can be drawn, but t has {rows_TC.shape[1]}."
        )


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # noqa: PLC0415 - only where a picture is asked for

    return plt.subplots()[1]
