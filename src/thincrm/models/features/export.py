"""What leaves a fitted feature model for other tools: ArviZ, CSV."""

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
from thincrm.models.features.results import FeatureResults
from thincrm.numerics.arrays import Float

__all__ = ["FeatureExport"]


class FeatureExport(FeatureResults):
    """Exports of a fitted `FeatureModel`."""

    trace_: pd.DataFrame
    features_: pd.DataFrame
    shares_: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table the model gives, by name, index as columns."""
        check_is_fitted(self)
        found = {
            "features": self.features_,
            "shares": self.shares_,
            "activation": self.activation(),
            "diagnostics": self.diagnostics(),
            "trace": self.trace_,
        }
        return {name: flat(table) for name, table in found.items()}

    def to_arviz(self, n_times: int = 50) -> Any:
        """Return draws for ArviZ: an xarray DataTree (ArviZ 1 or newer) or InferenceData.

        posterior: label-free scalars; activation (chain, draw, t, feature) and entry (chain,
        draw, feature, column), in the columns' units, of features matched across draws (NaN: a
        draw without it). sample_stats: sweep. constant_data: rows of the table at t.

        n_times: the t dimension holds at most so many of the fit's covariates, evenly spread.
        """
        check_is_fitted(self)
        tables, known = self._tables, self.covariates_
        posterior, stats, place_CS = scalar_groups(self.draws_, known)
        places = spread_rows(len(known.rows), check_count("n_times", n_times))

        def kept(values_B: Float) -> Float:
            return np.asarray(values_B[place_CS], np.float32)

        rows = known.rows[places]
        opened_BTK = tables.aligned(lambda draw, _: expit(self._log_odds(draw, rows)))
        posterior["activation"] = (("chain", "draw", "t", "feature"), kept(opened_BTK))
        entry_BKP = np.swapaxes(tables.entries(), 1, 2)
        posterior["entry"] = (("chain", "draw", "feature", "column"), kept(entry_BKP))
        chains = {"chain": np.arange(place_CS.shape[0]), "draw": np.arange(place_CS.shape[1])}
        times = time_coordinates(known, places)
        coordinates = {
            **chains,
            "feature": np.arange(tables.n_features),
            "column": tables.names.astype(str).to_numpy(str),
            **times,
        }
        groups: dict[str, tuple[Variables, dict[str, Any]]] = {
            "posterior": (posterior, coordinates),
            "sample_stats": (stats, chains),
            "constant_data": ({"rows": (("t",), known.trials[places])}, times),
        }
        return gather(groups)
