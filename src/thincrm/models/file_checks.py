"""What must hold of whatever was read from a file, before anything is done with it.

Compiled loops do not check their indices, so a number out of place would not be an error but a
crash: every index is checked here, and every number is one the sampler could have made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from thincrm.data.covariates import Covariates
from thincrm.files.checks import floats, is_count, need, places
from thincrm.models.codec import LEVY
from thincrm.thinning.member import MEMBERS

__all__ = ["check_covariates", "check_like", "check_params", "check_scalars"]

_FARTHEST_DAY = 1e8


def check_covariates(known: Any, n_documents: int) -> Covariates:
    """Return covariates whose rows are sorted, distinct and pointed at."""
    need(isinstance(known, Covariates) and isinstance(known.rows, np.ndarray), "covariates")
    names = known.names
    need(isinstance(names, tuple) and all(isinstance(name, str) for name in names), "covariates")
    need(known.kind in ("number", "date", "date+utc") and known.rows.ndim == 2, "covariates")
    need(len(names) == known.rows.shape[1] >= 1 and len(known.rows) >= 1, "covariates")
    need(known.kind == "number" or len(names) == 1, "several dates per observation")
    floats(known.rows, known.rows.shape, "covariates")
    need(known.kind == "number" or np.abs(known.rows).max() < _FARTHEST_DAY, "dates")
    places(known.row, (n_documents,), len(known.rows), "covariate rows")
    places(known.trials, (len(known.rows),), np.inf, "covariate rows")
    counted = np.bincount(known.row, minlength=len(known.rows))
    need(np.array_equal(counted, known.trials), "covariate rows")
    need(np.array_equal(np.unique(known.rows, axis=0), known.rows), "covariate rows")
    row, trials = known.row.astype(np.int64), known.trials.astype(np.int64)
    if known.own is not None:
        floats(known.own, (n_documents, len(names)), "covariates")
        need(known.kind == "number" or np.abs(known.own).max() < _FARTHEST_DAY, "dates")
    return Covariates(known.rows, row, trials, known.kind, names, known.own)


def check_scalars(scalars: Any, *names: str) -> None:
    """Refuse anything but a dict of numbers that has those names."""
    need(isinstance(scalars, dict) and set(names) <= set(scalars), "a draw's numbers")
    for value in scalars.values():
        need(isinstance(value, float) or is_count(value), "a draw's numbers")


def check_params(params: Any, likelihoods: Sequence[type]) -> dict[str, Any]:
    """Return parameters that an estimator could have been given; `fit` checks the numbers."""
    need(isinstance(params, dict), "the settings")
    kinds = {"levy": LEVY, "thinning": tuple(MEMBERS), "likelihood": tuple(likelihoods)}
    for name, value in params.items():
        if name in kinds:
            need(value is None or isinstance(value, kinds[name]), name)
        elif isinstance(value, int):
            need(-(2**31) < value < 2**62, name)
    for name in ("n_sweeps", "n_draws", "n_chains"):
        value = params.get(name)
        auto = name in ("n_sweeps", "n_chains") and value == "auto"
        need(auto or (isinstance(value, int) and 0 < value < 2**31), name)
    threads = params.get("n_threads")
    need(threads is None or (isinstance(threads, int) and 0 < threads < 2**16), "n_threads")
    need(isinstance(params.get("random_state"), int), "random_state")
    return dict(params)


def check_like(like: Any, found: Any, what: str) -> None:
    """Refuse a value that is not of the classes, types and shapes of `like`, or is not finite."""
    if isinstance(like, np.ndarray):
        need(isinstance(found, np.ndarray) and found.dtype == like.dtype, what)
        need(found.shape == like.shape, what)
        need(like.dtype.kind != "f" or not np.isnan(found).any(), what)
        return
    if isinstance(like, int | float) and not isinstance(like, bool):
        need(isinstance(found, int | float) and not isinstance(found, bool), what)
        return
    need(type(found) is type(like), what)
    if isinstance(like, dict):
        need(set(like) == set(found), what)
        pairs = [(part, found[name]) for name, part in like.items()]
    elif dataclasses.is_dataclass(like):
        names = [field.name for field in dataclasses.fields(like)]
        pairs = [(getattr(like, name), getattr(found, name)) for name in names]
    elif isinstance(like, tuple | list):
        need(len(like) == len(found), what)
        pairs = list(zip(like, found, strict=True))
    else:
        return
    for part, other in pairs:
        check_like(part, other, what)
