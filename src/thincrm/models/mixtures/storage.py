"""A mixture in files: what its data are, and what must hold of draws and states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from thincrm.files.checks import floats, is_count, need, places, positive
from thincrm.inference.run_log import ChainState
from thincrm.models.codec import pack_words, unpack_words
from thincrm.models.file_checks import check_like, check_scalars, check_scale
from thincrm.models.mixtures.columns import KINDS, Layout
from thincrm.models.mixtures.draw import MixtureDraw
from thincrm.models.mixtures.evidence import MixtureEvidence
from thincrm.models.mixtures.shards import MixtureLocal
from thincrm.models.stored import StoredModel
from thincrm.numerics.arrays import Float
from thincrm.ports import State

__all__ = ["MixtureFiles"]

_DATA = {"values", "columns", "named", "scale", "kinds", "levels"}
_SIDES = "censored"  # there only where there are any
_MOST_COUNT = 2**53


class MixtureFiles(StoredModel):
    """Packing and unpacking of `MixtureModel`."""

    columns_: pd.Index
    feature_names_in_: Any
    n_features_in_: int
    layout_: Layout
    values_: Float
    censored_: np.ndarray | None

    def _pack_data(self) -> dict[str, Any]:
        sides = {} if self.censored_ is None else {_SIDES: self.censored_}
        return sides | {
            "values": self.values_,
            "columns": pack_words(self.columns_),
            "named": hasattr(self, "feature_names_in_"),
            "scale": self.layout_.scale,
            "kinds": list(self.layout_.kinds),
            "levels": [list(levels) for levels in self.layout_.levels],
        }

    def _unpack_data(self, data: dict[str, Any]) -> int:
        need(set(data) - {_SIDES} == _DATA, "the data")
        values = data["values"]
        need(isinstance(values, np.ndarray) and values.dtype == float, "the table")
        need(values.ndim == 2 and not np.isinf(values).any() and values.size > 0, "the table")
        self.values_, self.n_features_in_ = values, values.shape[1]
        self.columns_ = unpack_words(data["columns"], values.shape[1]).rename(None)
        if data["named"] is True:
            self.feature_names_in_ = np.asarray(self.columns_, object)
        scale = check_scale(data["scale"], values)
        need(np.any(scale.spread_P > 0), "the scale")
        kinds, levels = data["kinds"], data["levels"]
        need(isinstance(kinds, list) and len(kinds) == values.shape[1], "the columns")
        need(isinstance(levels, list) and len(levels) == values.shape[1], "the columns")
        for place, (kind, part) in enumerate(zip(kinds, levels, strict=True)):
            need(kind in KINDS and isinstance(part, list), "the columns")
            need(all(isinstance(level, str) for level in part), "the categories")
            seen = values[:, place][~np.isnan(values[:, place])]
            if kind != "number":
                need((seen >= 0).all() and (seen == np.round(seen)).all(), "the table")
                need((seen < _MOST_COUNT).all(), "the table")
                as_they_are = scale.level_P[place] == 0 and scale.spread_P[place] == 1
                need(as_they_are or scale.spread_P[place] == 0, "the scale")  # they are indices
            need((len(part) > 0) == (kind == "category"), "the categories")
            need(kind != "category" or (seen < len(part)).all(), "the categories")
        self.censored_ = _checked_sides(data[_SIDES], len(values)) if _SIDES in data else None
        self.layout_ = Layout(tuple(kinds), tuple(tuple(p) for p in levels), scale)
        return len(values)

    def _check_draw(self, draw: Any) -> None:
        need(isinstance(draw, MixtureDraw), "a draw")
        for count in (draw.chain, draw.sweep, draw.n_used):
            need(is_count(count), "a draw's place")
        like: MixtureDraw = self._example()[1]
        need(isinstance(draw.log_mass, np.ndarray) and draw.log_mass.ndim == 1, "the masses")
        n_kept = draw.log_mass.size
        need(0 < draw.n_used <= n_kept <= self._factors().n_atoms, "the number of clusters")
        floats(draw.log_mass, (n_kept,), "the masses")
        shut = draw.background
        need(isinstance(shut, np.ndarray) and shut.dtype == bool, "the background")
        need(shut.shape == (n_kept,), "the background")
        self.thinning_.check(draw.x, self.prepared_, int((~shut).sum()))
        _check_clusters(like.params, draw.params, n_kept)
        check_like(like.hyper, draw.hyper, "the clusters' prior")
        places(draw.labels, (len(self.values_),), draw.n_used, "the labels")
        known = self._known()
        places(draw.counts, (len(known.rows), draw.n_used), np.inf, "the rows of clusters")
        need(np.array_equal(draw.counts.sum(1), known.trials), "the rows of clusters")
        check_scalars(draw.scalars, "n_clusters")

    def _check_state(self, place: ChainState) -> None:
        state, like = place.state, self._example()[0]
        problem = self._problem()
        need(isinstance(state, State) and type(state.own) is type(like.own), "the state")
        n_atoms, n_rows = problem.n_atoms, problem.trials.size
        _check_clusters(like.own.params, state.own.params, n_atoms)
        check_like(like.own.hyper, state.own.hyper, "the clusters' prior")
        floats(state.log_mass, (n_atoms,), "the masses")
        self.thinning_.check(state.x, self.prepared_, n_atoms - problem.n_background)
        need(type(state.levy) is type(problem.levy), "the masses' law")
        need(isinstance(state.local, tuple) and len(state.local) == len(like.local), "the labels")
        for local, twin in zip(state.local, like.local, strict=True):
            need(isinstance(local, MixtureLocal), "the labels")
            check_like(tuple(twin), tuple(local), "the labels")
            places(local.label, local.label.shape, n_atoms, "the labels")
        found = state.evidence
        need(isinstance(found, MixtureEvidence), "the sums")
        places(found.counts, (n_rows, n_atoms), np.inf, "the rows of clusters")
        need(isinstance(found.gates, np.ndarray) and len(found.gates) in (0, n_rows), "the gates")
        places(found.gates, (len(found.gates), n_atoms), np.inf, "the gates")
        check_like(like.evidence.clock, found.clock, "the clocks")
        floats(found.exposure, (n_atoms,), "the exposure")
        positive(found.pace, "the pace of the clocks")
        check_like(like.evidence.stats, found.stats, "the sums")


def _checked_sides(side_N: Any, n_rows: int) -> np.ndarray:
    """Return which responses are censored, or refuse what is not -1, 0 or 1."""
    need(isinstance(side_N, np.ndarray) and side_N.dtype == np.int8, "the censored responses")
    need(side_N.shape == (n_rows,) and np.all(np.abs(side_N) <= 1), "the censored responses")
    return np.asarray(side_N)


def _check_clusters(like: Any, found: Any, n_clusters: int) -> None:
    """Refuse parameters that are not of the law's kind, or not so many."""
    need(type(found) is type(like), "the clusters")
    for one, part in zip(like, found, strict=True):
        floats(part, (n_clusters, *one.shape[1:]), "the clusters")
