"""What leaves a fitted mixture for other tools: ArviZ, CSV."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from thincrm.errors import check_count
from thincrm.inference.diagnostics import spread_rows
from thincrm.models.arviz_groups import Variables, gather, scalar_groups, time_coordinates
from thincrm.models.atom_tables import flat
from thincrm.models.mixtures.densities import MixtureDensities
from thincrm.numerics.arrays import Float

__all__ = ["MixtureExport"]


class MixtureExport(MixtureDensities):
    """Exports of a fitted `MixtureModel`."""

    trace_: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table the model gives, by name, index as columns."""
        check_is_fitted(self)
        found = {
            "clusters": self.clusters(),
            "sizes": self.sizes(),
            "activation": self.activation(),
            "labels": pd.DataFrame({"cluster": self.labels_}).rename_axis("row"),
            "n_clusters_at": self.n_clusters_at(),
            "diagnostics": self.diagnostics(),
            "trace": self.trace_,
        }
        if self.covariates_.rows.shape[1] == 1:
            found["first_active"] = self.first_active()
            found["last_active"] = self.last_active()
        return {name: flat(table) for name, table in found.items()}

    def to_arviz(self, n_times: int = 50) -> Any:
        """Return draws for ArviZ: an xarray DataTree (ArviZ 1 or newer) or InferenceData.

        posterior: label-free scalars; activation and share (chain, draw, t, cluster), mean and sd
        (chain, draw, cluster, column), in the columns' units, of clusters matched to `labels_`
        (NaN: a draw without it). sample_stats: sweep, lp. constant_data: rows of the table at t.

        n_times: the t dimension holds at most so many of the fit's covariates, evenly spread.
        """
        check_is_fitted(self)
        tables, known = self._tables, self.covariates_
        posterior, stats, place_CS = scalar_groups(self.draws_, known)
        places = spread_rows(len(known.rows), check_count("n_times", n_times))
        rows = known.rows[places]

        def kept(values_B: Float) -> Float:
            return np.asarray(values_B[place_CS], np.float32)

        opened = tables.together(lambda d: expit(self._atom_log_odds(d, rows)), weighed=True)
        share = tables.together(lambda d: self._weights(d, rows), weighed=False)
        for name, values in (("activation", opened), ("share", share)):
            posterior[name] = (("chain", "draw", "t", "cluster"), kept(values))
        for name, values in zip(("mean", "sd"), tables.moments(self._moments()), strict=True):
            dims = ("chain", "draw", "cluster", "column")
            posterior[name] = (dims, kept(np.swapaxes(values, 1, 2)))
        chains = {"chain": np.arange(place_CS.shape[0]), "draw": np.arange(place_CS.shape[1])}
        times = time_coordinates(known, places)
        coordinates = {
            **chains,
            "cluster": np.arange(tables.n_clusters),
            "column": np.array(self._cells().entries(self.columns_)),
            **times,
        }
        groups: dict[str, tuple[Variables, dict[str, Any]]] = {
            "posterior": (posterior, coordinates),
            "sample_stats": (stats, chains),
            "constant_data": ({"rows": (("t",), known.trials[places])}, times),
        }
        return gather(groups)
