"""What leaves a fitted feature model for other tools: ArviZ, CSV."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from thincrm.errors import Sentence, check_count, either
from thincrm.inference.diagnostics import spread_rows
from thincrm.models.arviz_groups import Variables, gather, scalar_groups, time_coordinates
from thincrm.models.atom_tables import flat
from thincrm.models.features.results import FeatureResults
from thincrm.numerics.arrays import Float

__all__ = ["FeatureExport"]

_LOOKS = 'FeatureModel(weights="binary", n_factors=20, level="smooth")'
_LOOKS_SHELL = "thincrm features ... --weights binary --factors 20 --level smooth"


class FeatureExport(FeatureResults):
    """Exports of a fitted `FeatureModel`."""

    trace_: pd.DataFrame
    shares_: pd.DataFrame
    _entries: pd.DataFrame

    @property
    def features_(self) -> pd.DataFrame:
        """Return the entries of every feature, with 90 % bands, in the columns' units."""
        check_is_fitted(self)
        if self._tables.n_features == 0:
            warnings.warn(self.nothing_found(), stacklevel=2)
        return self._entries

    def nothing_found(self) -> Sentence:
        """Return what is said where no feature is in use: what explains the rows instead."""
        if self.n_dense_ == 0:
            return Sentence(super().nothing_found())
        if self.weights == "binary":
            return Sentence("No features are in use: factors and the level explain the rows.")
        return Sentence(
            "No features are in use: factors and the level explain the rows. To look for features "
            "beside them: ",
            either(_LOOKS, _LOOKS_SHELL),
            ".",
        )

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table the model gives, by name, index as columns."""
        check_is_fitted(self)
        found = {
            "features": self._entries,
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
