"""A fitted model as ArviZ groups: an xarray DataTree (ArviZ 1), or InferenceData before it.

Label-free scalars come as they are. Quantities of atoms are those of atoms matched across draws; a
draw that lacks one has NaN there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput, check_count
from thincrm.inference.diagnostics import by_chain, label_free, spread_rows
from thincrm.models.atom_tables import AtomTables
from thincrm.numerics.arrays import Float, Int

__all__ = ["Variables", "gather", "plain_groups", "scalar_groups", "time_coordinates"]

Variables = dict[str, tuple[tuple[str, ...], Any]]
_ATTRIBUTES = {"inference_library": "thincrm", "inference_library_version": version("thincrm")}


def gather(groups: Mapping[str, tuple[Variables, Mapping[str, Any]]]) -> Any:
    """Return groups, each (variables, coordinates), as what the installed ArviZ works on."""
    try:
        xarray, arviz = import_module("xarray"), import_module("arviz")
    except ImportError as error:
        raise InvalidInput("to_arviz needs ArviZ: pip install 'thincrm[arviz]'.") from error
    sets = {
        name: xarray.Dataset(variables, dict(coordinates), _ATTRIBUTES)
        for name, (variables, coordinates) in groups.items()
    }
    if int(version("arviz").split(".")[0]) >= 1:
        return xarray.DataTree.from_dict(sets)
    return arviz.InferenceData(**sets)


def scalar_groups(draws: list[Any], known: Covariates) -> tuple[Variables, Variables, Int]:
    """Return posterior and sample_stats of the draws' scalars, and the places of the draws."""
    table = label_free(draws, known)
    place_CS = by_chain(table.index)
    scalars: Variables = {
        name: (("chain", "draw"), table[name].to_numpy()[place_CS])
        for name in table.columns
        if "[" not in name
    }
    sweep = table.index.get_level_values("sweep").to_numpy()[place_CS]
    stats: Variables = {"sweep": (("chain", "draw"), sweep)}
    if "log_joint" in scalars:
        stats["lp"] = scalars.pop("log_joint")
    return scalars, stats, place_CS


def time_coordinates(known: Covariates, rows: list[int]) -> dict[str, Any]:
    """Return coordinates of dimension t: dates stay dates; several columns are named beside it."""
    labels = known.labels(known.rows[rows])
    if isinstance(labels, pd.MultiIndex):
        columns = {name: ("t", known.rows[rows, c]) for c, name in enumerate(known.names)}
        return {"t": np.arange(len(rows)), **columns}
    if isinstance(labels, pd.DatetimeIndex) and labels.tz is not None:
        labels = labels.tz_localize(None)  # xarray has no time zones: UTC
    return {"t": labels.to_numpy()}


def plain_groups(
    tables: AtomTables, known: Covariates, log_odds: Callable[[Any, Float], Float], n_times: int
) -> dict[str, tuple[Variables, Mapping[str, Any]]]:
    """Return the groups of any model: scalars, activations, and what its atoms look like."""
    posterior, stats, place_CS = scalar_groups(list(tables.draws), known)
    places = spread_rows(len(known.rows), check_count("n_times", n_times))
    rows, one = known.rows[places], tables.one
    open_BTK = tables.aligned(lambda draw: expit(log_odds(draw, rows)))
    posterior["activation"] = (("chain", "draw", "t", one), open_BTK[place_CS])
    profile_BPK = tables.aligned(lambda draw: draw.profiles.T)
    posterior["profile"] = (("chain", "draw", "column", one), profile_BPK[place_CS])
    chains = {"chain": np.arange(place_CS.shape[0]), "draw": np.arange(place_CS.shape[1])}
    times = time_coordinates(known, places)
    coordinates = {
        **chains,
        one: np.arange(tables.order.size),
        "column": np.arange(profile_BPK.shape[1]),
        **times,
    }
    return {
        "posterior": (posterior, coordinates),
        "sample_stats": (stats, chains),
        "constant_data": ({"rows": (("t",), known.trials[places])}, times),
    }
