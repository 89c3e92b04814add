"""A feature model in files: what it is made of, and how it is built again."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import pandas as pd

from thincrm.data.covariates import Covariates
from thincrm.data.tables import Scale
from thincrm.files.checks import floats, is_count, need, places, positive
from thincrm.inference.chains import Standing
from thincrm.inference.run_log import rows_of
from thincrm.models.checks import check_covariates, check_params, check_scalars
from thincrm.models.codec import LEVY, THINNING, pack_words, unpack_words
from thincrm.models.draws import FeatureDraw
from thincrm.models.features.state import FeatureState
from thincrm.models.stored import StoredModel
from thincrm.numerics.arrays import Float

__all__ = ["FeatureFiles"]

_SETTINGS = {"model", "params", "seed"}
_DATA = {"values", "covariates", "columns", "named", "scale", "prepared"}
_COUNTS = ("max_features", "n_sweeps", "n_draws", "n_chains")


class FeatureFiles(StoredModel):
    """Packing and unpacking of `FeatureModel`."""

    background: bool
    columns_: pd.Index
    covariates_: Covariates
    feature_names_in_: Any
    n_features_in_: int
    prepared_: Any
    scale_: Scale
    seed_: int
    shared_: bool
    thinning_: Any
    trace_: pd.DataFrame
    values_: Float
    weights: str

    @abstractmethod
    def _factors(self) -> tuple[Any, Any, int]:
        """Return Lévy measure, thinning function and number of features."""

    @abstractmethod
    def _known(self) -> Covariates:
        """Return the covariates that the thinning function sees."""

    def _pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        params["random_state"] = self.seed_
        settings = {"model": type(self).__name__, "params": params, "seed": self.seed_}
        data = {
            "values": self.values_,
            "covariates": self.covariates_,
            "columns": pack_words(self.columns_),
            "named": hasattr(self, "feature_names_in_"),
            "scale": self.scale_,
            "prepared": self.thinning_.pack(self.prepared_),
        }
        return settings, data

    @classmethod
    def _unpack(cls, settings: dict[str, Any], data: dict[str, Any]) -> Self:
        need(set(settings) == _SETTINGS and set(data) == _DATA, "the settings")
        params = check_params(settings["params"], _COUNTS, levy=LEVY, thinning=THINNING)
        model = cls(**params)
        need(set(params) == set(model.get_params(deep=False)), "the settings")  # type: ignore[attr-defined]
        need(is_count(settings["seed"]), "the seed")
        model.seed_, values = settings["seed"], data["values"]
        need(isinstance(values, np.ndarray) and values.dtype == float, "the table")
        need(values.ndim == 2 and not np.isinf(values).any() and values.size > 0, "the table")
        model.values_, model.n_features_in_ = values, values.shape[1]
        model.covariates_ = check_covariates(data["covariates"], len(values))
        model.columns_ = unpack_words(data["columns"], values.shape[1]).rename(None)
        if data["named"] is True:
            model.feature_names_in_ = np.asarray(model.columns_, object)
        need(isinstance(data["scale"], Scale), "the scale")
        for part in (data["scale"].level_P, data["scale"].spread_P):
            floats(part, values.shape[1:], "the scale")
        need(np.all(data["scale"].spread_P >= 0), "the scale")
        model.scale_ = data["scale"]
        model._length()
        _, model.thinning_, _ = model._factors()
        model.prepared_ = model.thinning_.unpack(data["prepared"], model._known())
        return model

    def _check_draw(self, draw: Any) -> None:
        need(isinstance(draw, FeatureDraw), "a draw")
        need(is_count(draw.chain) and is_count(draw.sweep), "a draw's place")
        _, _, n_features = self._factors()
        trials = self._known().trials
        self._check_globals(draw, n_features)
        places(draw.hits, (len(trials), n_features), np.inf, "a draw's hits")
        need(np.all(draw.hits <= trials[:, None]), "a draw's hits")
        check_scalars(draw.scalars, "n_features")

    def _check_globals(self, found: Any, n_features: int) -> None:
        """Refuse features, noise, masses and curves that this model could not have."""
        n_columns = self.values_.shape[1]
        floats(found.feature, (n_features + bool(self.background), n_columns), "the features")
        floats(found.noise, (n_columns,), "the noise")
        need(np.all(found.noise > 0), "the noise")
        floats(found.log_mass, (n_features,), "the masses", finite=False)
        need(np.all(found.log_mass <= 0), "the masses")
        self.thinning_.check(found.x, self.prepared_, n_features)

    def _check_standing(self, standing: Standing) -> None:
        length, state = self._length(), standing.state
        need(standing.chain < length.n_chains and standing.sweep <= length.n_sweeps, "the sweep")
        need(isinstance(state, FeatureState), "the state")
        levy, _, n_features = self._factors()
        n_rows, n_columns = self.values_.shape
        self._check_globals(state, n_features)
        places(state.used, (n_rows, n_features), 2, "the usages")
        need(state.used.dtype == np.int8, "the usages")
        real = self.weights == "real"
        floats(state.weight, (n_rows, n_features if real else 0), "the weights")
        positive(state.scale, "the scale of the features")
        need(type(state.levy) is type(levy), "the masses' law")
        size = len(state.feature)
        floats(state.gram, (size, size, n_columns), "the sums")
        floats(state.cross, (size, n_columns), "the sums")

    def _trace(self) -> list[dict[str, float]]:
        table = self.trace_.reset_index()
        return rows_of({str(name): part.to_numpy() for name, part in table.items()})
