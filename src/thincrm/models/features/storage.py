"""A feature model in files: what its data are, and what must hold of draws and states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from thincrm.data.table_values import Scale
from thincrm.files.checks import floats, is_count, need, places, positive
from thincrm.inference.run_log import ChainState
from thincrm.models.codec import pack_words, unpack_words
from thincrm.models.features.draw import FeatureDraw
from thincrm.models.features.extent import Extent
from thincrm.models.features.state import FeatureEvidence, FeatureGlobals, FeatureLocal
from thincrm.models.file_checks import check_scalars, check_scale
from thincrm.models.stored import StoredModel
from thincrm.numerics.arrays import Float, Int
from thincrm.ports import State

__all__ = ["FeatureFiles"]

_DATA = {"values", "columns", "named", "scale"}


class FeatureFiles(Extent, StoredModel):
    """Packing and unpacking of `FeatureModel`."""

    background: bool
    columns_: pd.Index
    feature_names_in_: np.ndarray
    n_features_in_: int
    scale_: Scale
    values_: Float
    weights: str

    def _pack_data(self) -> dict[str, Any]:
        return {
            "values": self.values_,
            "columns": pack_words(self.columns_),
            "named": hasattr(self, "feature_names_in_"),
            "scale": self.scale_,
        }

    def _unpack_data(self, data: dict[str, Any]) -> int:
        need(set(data) == _DATA, "the data")
        values = data["values"]
        need(isinstance(values, np.ndarray) and values.dtype == float, "the table")
        need(values.ndim == 2 and not np.isinf(values).any() and values.size > 0, "the table")
        self.values_, self.n_features_in_ = values, values.shape[1]
        self.columns_ = unpack_words(data["columns"], values.shape[1]).rename(None)
        if data["named"] is True:
            self.feature_names_in_ = np.asarray(self.columns_, object)
        self.scale_ = check_scale(data["scale"], values)
        return len(values)

    def _check_draw(self, draw: Any) -> None:
        need(isinstance(draw, FeatureDraw), "a draw")
        need(is_count(draw.chain) and is_count(draw.sweep), "a draw's place")
        self._check_features(draw, draw.log_mass, draw.x)
        self._check_hits(draw.hits)
        check_scalars(draw.scalars, "n_features")

    def _check_hits(self, hits: Int) -> None:
        trials = self._known().trials
        places(hits, (len(trials), self._factors().n_atoms), np.inf, "the rows that use features")
        need(np.all(hits <= trials[:, None]), "the rows that use features")

    def _check_features(
        self, found: FeatureDraw | FeatureGlobals, log_mass: Float, x: object
    ) -> None:
        """Refuse features, noise, masses and curves that this model could not have."""
        n_columns, n_features = self.values_.shape[1], self._factors().n_atoms
        n_level = (1 + sum(self.curves_.sizes)) * bool(self.background)
        n_rows = n_features + self.n_dense_ + n_level
        floats(found.feature, (n_rows, n_columns), "the features")
        floats(found.noise, (n_columns,), "the noise")
        need(np.all(found.noise > 0), "the noise")
        floats(log_mass, (n_features,), "the masses", finite=False)
        need(np.all(log_mass <= 0), "the masses")
        self.thinning_.check(x, self.prepared_, n_features)

    def _check_state(self, place: ChainState) -> None:
        state, factors, n_columns = place.state, self._factors(), self.values_.shape[1]
        need(isinstance(state, State) and isinstance(state.own, FeatureGlobals), "the state")
        self._check_features(state.own, state.log_mass, state.x)
        positive(state.own.scale, "the scale of the features")
        floats(state.own.dense, (self.n_dense_,), "the factors' sizes")
        floats(state.own.level, (len(self.curves_.sizes), n_columns), "the level's sizes")
        need(np.all(state.own.dense > 0) and np.all(state.own.level > 0), "the precisions")
        positive(state.own.rate, "the noise's rate")
        need(type(state.levy) is type(factors.levy), "the masses' law")
        shards, n_features = self._problem().shards, factors.n_atoms
        need(isinstance(state.local, tuple) and len(state.local) == len(shards), "the usages")
        for local, shard in zip(state.local, shards, strict=True):
            n_rows = len(shard.table.value_NP)
            need(isinstance(local, FeatureLocal), "the usages")
            places(local.used, (n_rows, n_features), 2, "the usages")
            need(local.used.dtype == np.int8, "the usages")
            n_weights = n_features if self.weights == "real" else 0
            floats(local.weight, (n_rows, n_weights), "the weights")
            floats(local.dense, (n_rows, self.n_dense_), "the factors' weights")
        need(isinstance(state.evidence, FeatureEvidence), "the sums")
        size = len(state.own.feature)
        floats(state.evidence.gram, (size, size, n_columns), "the sums")
        floats(state.evidence.cross, (size, n_columns), "the sums")
        floats(state.evidence.whole, (size, size), "the sums")
        floats(state.evidence.fit, (1,), "the sums")
        self._check_hits(state.evidence.hits)
