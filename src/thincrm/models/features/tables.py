"""Labelled results of a feature model: features matched across draws before any average."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import expit

from thincrm.data.covariates import Covariates
from thincrm.data.table_values import Scale
from thincrm.models.atom_tables import band, through_time
from thincrm.models.features.draw import FeatureDraw, match_features
from thincrm.numerics.arrays import Float, Int

__all__ = ["FeatureTables"]

LogOdds = Callable[[FeatureDraw, Float], Float]


class FeatureTables:
    """Tables of kept draws; features are those of the last draw, the most used first."""

    def __init__(
        self, draws: Sequence[FeatureDraw], names: pd.Index, scale: Scale, real: bool
    ) -> None:
        self.draws, self.names, self.scale, self.real = draws, names, scale, real
        self.reference = draws[-1]
        total = self.reference.total
        order = np.argsort(-total, kind="stable")
        self.order: Int = order[total[order] > 0]
        self.n_features = self.order.size

    @cached_property
    def matches(self) -> list[tuple[Int, Float]]:
        """Return, for every draw, the place of each feature in it (-1: not there), and its sign."""
        found = [match_features(self.reference, draw, not self.real) for draw in self.draws]
        return [(place[self.order], sign[self.order]) for place, sign in found]

    def aligned(self, values: Callable[[FeatureDraw, Float], Float]) -> Float:
        """Return (B, ..., K): a (..., K) array of every draw, in order, NaN where absent.

        `values(draw, sign)` may use the (K,) signs of the draw's own features.
        """
        if self.n_features == 0:
            none = values(self.reference, np.ones(self.reference.n_features))
            return np.empty((len(self.draws), *none.shape[:-1], 0))
        out = []
        for draw, (found, sign) in zip(self.draws, self.matches, strict=True):
            own = np.ones(draw.n_features)
            own[found[found >= 0]] = sign[found >= 0]
            array = values(draw, own)
            out.append(np.where(found >= 0, array[..., np.maximum(found, 0)], np.nan))
        return np.stack(out)

    def entries(self) -> Float:
        """Return the (B, P, K) features' entries in every draw, in the columns' own units."""
        entry_BPK = self.aligned(lambda draw, sign: (draw.feature[: sign.size] * sign[:, None]).T)
        return entry_BPK * self.scale.spread_P[:, None]

    def features(self, level: float) -> pd.DataFrame:
        """Return every feature's entries with bands, in the columns' own units."""
        entry_BPK = self.entries()
        lower, upper = band(entry_BPK, level)
        index = pd.MultiIndex.from_product(
            [range(self.n_features), self.names], names=["feature", "column"]
        )
        columns = {"mean": np.nanmean(entry_BPK, 0), "lower": lower, "upper": upper}
        return pd.DataFrame({name: v.T.ravel() for name, v in columns.items()}, index=index)

    def shares(self, level: float) -> pd.DataFrame:
        """Return every feature's share of all usages, and the share of draws it is in."""
        share_BK = self.aligned(lambda draw, _: draw.total / max(draw.total.sum(), 1))
        lower, upper = band(share_BK, level)
        index = pd.RangeIndex(self.n_features, name="feature")
        columns = {"mean": np.nanmean(share_BK, 0), "lower": lower, "upper": upper}
        return pd.DataFrame(columns | {"presence": (~np.isnan(share_BK)).mean(0)}, index=index)

    def activation(
        self, known: Covariates, rows: Float, level: float, log_odds: LogOdds
    ) -> pd.DataFrame:
        """Return activations, and probabilities of use, at covariate rows, with bands."""

        def opened_and_used(draw: FeatureDraw, _: Float) -> Float:
            opened = expit(log_odds(draw, rows))
            return np.stack([opened, opened * np.exp(draw.log_mass)])

        both = self.aligned(opened_and_used)
        columns = {}
        for prefix, values in (("", both[:, 0]), ("usage_", both[:, 1])):
            columns["usage" if prefix else "mean"] = np.nanmean(values, 0)
            columns[prefix + "lower"], columns[prefix + "upper"] = band(values, level)
        return through_time({"feature": np.arange(self.n_features)}, known, rows, columns)
