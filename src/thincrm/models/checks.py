"""What must hold of whatever was read from a file, before anything is done with it.

Compiled loops do not check their indices, so a number out of place would not be an error but a
crash: every index is checked here, and every number is one the sampler could have made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thincrm.data.covariates import Covariates
from thincrm.errors import DamagedFile
from thincrm.inference.run_log import is_count
from thincrm.thinning import ProbitRVM, SigmoidGP
from thincrm.thinning.basis import Basis

__all__ = [
    "check_covariates",
    "check_curves",
    "check_params",
    "check_scalars",
    "floats",
    "need",
    "pack_prepared",
    "places",
    "positive",
    "unpack_prepared",
]

_FARTHEST_DAY = 1e8
_MOST_NUMBER = 1e15
_BASIS = ("scale", "centres", "basis_MTJ", "direction_MLR", "inverse_MR")


def need(holds: Any, what: str) -> None:
    """Say that `what` cannot be, unless it holds."""
    if not holds:
        raise DamagedFile(f"The file was not written by thincrm: {what} cannot be.")


def floats(value: Any, shape: tuple[int, ...], what: str, *, finite: bool = True) -> None:
    """Refuse anything but an array of floats of that shape, without NaN (or infinities)."""
    need(isinstance(value, np.ndarray) and value.dtype == float and value.shape == shape, what)
    need(not np.any(~np.isfinite(value) if finite else np.isnan(value)), what)


def places(value: Any, shape: tuple[int, ...], below: float, what: str) -> None:
    """Refuse anything but an array of whole numbers from 0 to `below` of that shape."""
    need(isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.shape == shape, what)
    need(value.size == 0 or (value.min() >= 0 and value.max() < below), what)


def positive(value: Any, what: str, *, zero: bool = False) -> None:
    """Refuse anything but a number above 0 (or 0)."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    need(number and (0 < value < _MOST_NUMBER or (zero and value == 0)), what)


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
    return Covariates(known.rows, row, trials, known.kind, names)


def pack_prepared(prepared: Any) -> dict[str, Any] | None:
    """Return the arrays of a basis; other thinning functions prepare the same bits anywhere."""
    return {name: getattr(prepared, name) for name in _BASIS} if _is_basis(prepared) else None


def _is_basis(prepared: Any) -> bool:
    return isinstance(prepared, Basis)


def unpack_prepared(packed: Any, thinning: Any, known: Covariates) -> Any:
    """Return what the thinning function had prepared, with the very bits it had."""
    if not isinstance(thinning, ProbitRVM | SigmoidGP):
        return thinning.prepare(known)
    need(isinstance(packed, dict) and set(packed) == set(_BASIS), "the basis of the curves")
    n_widths, n_rows, n_columns = len(thinning.widths), *known.rows.shape
    for name in ("centres", "basis_MTJ"):
        need(isinstance(packed[name], np.ndarray), "the basis of the curves")
        need(packed[name].ndim >= 2, "the basis of the curves")
    n_centres, n_kept = len(packed["centres"]), packed["basis_MTJ"].shape[-1] - 1
    shapes: dict[str, tuple[int, ...]] = {
        "scale": (n_columns,),
        "centres": (n_centres, n_columns),
        "basis_MTJ": (n_widths, n_rows, n_kept + 1),
    }
    if isinstance(thinning, SigmoidGP):
        shapes |= {
            "direction_MLR": (n_widths, n_centres, n_kept),
            "inverse_MR": (n_widths, n_kept),
        }
    need(n_kept == n_centres or isinstance(thinning, SigmoidGP), "the basis of the curves")
    for name, shape in shapes.items():
        floats(packed[name], shape, "the basis of the curves")
    need(
        n_centres >= 1 and n_kept >= 1 and np.all(packed["scale"] > 0),
        "the scale of the covariates",
    )
    parts: dict[str, Any] = {name: packed[name] for name in shapes}
    return Basis(known, **parts)


def check_curves(thinning: Any, prepared: Any, x: Any, n_atoms: int) -> None:
    """Refuse variables of curves that are not of the kind, number and range of the model's."""
    like = thinning.draw(0, 1, prepared)
    need(type(x) is type(like), "the curves")
    for name, one, part in zip(like._fields, like, x, strict=True):
        shape = (n_atoms, *one.shape[1:])
        if one.dtype.kind == "i":
            places(part, shape, len(thinning.widths), f"the curves' {name}")
            need(part.dtype == one.dtype, f"the curves' {name}")
        else:
            floats(part, shape, f"the curves' {name}")
        need(name != "precisions" or np.all(part > 0), f"the curves' {name}")


def check_scalars(scalars: Any, *names: str) -> None:
    """Refuse anything but a dict of numbers that has those names."""
    need(isinstance(scalars, dict) and set(names) <= set(scalars), "a draw's numbers")
    for value in scalars.values():
        need(isinstance(value, float) or is_count(value), "a draw's numbers")


def check_params(params: Any, counts: Sequence[str], **kinds: tuple[type, ...]) -> dict[str, Any]:
    """Return parameters that an estimator could have been given; `fit` checks the numbers."""
    need(isinstance(params, dict), "the settings")
    for name, classes in kinds.items():
        need(params[name] is None or isinstance(params[name], classes), name)
    for name in counts:
        value = params[name]
        need(value == "grow" or (isinstance(value, int) and value < 2**31), name)
    need(params["n_threads"] is None or 0 < params["n_threads"] < 2**16, "n_threads")
    need(isinstance(params["random_state"], int), "random_state")
    return dict(params)
