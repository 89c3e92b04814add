"""What thinning functions on a basis of kernels have in common in files and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from thincrm.data.covariates import Covariates
from thincrm.files.checks import floats, need
from thincrm.numerics.arrays import Float
from thincrm.thinning.basis import Basis
from thincrm.thinning.member import ThinningFunction

__all__ = ["KernelThinning"]

_BASIS = ("scale", "centres", "basis_MTJ", "direction_MLR", "inverse_MR")


class KernelThinning(ThinningFunction):
    """A thinning function that prepares a `Basis` and whose atoms have a width each."""

    __slots__ = ()
    widths: Sequence[float]
    whitened: ClassVar[bool] = False  # by directions whose signs another machine may turn

    def pack(self, prepared: Basis) -> dict[str, Float] | None:
        """Return the arrays of the basis."""
        return {name: getattr(prepared, name) for name in _BASIS}

    def unpack(self, packed: Any, known: Covariates) -> Basis:
        """Return the basis with the very bits it had."""
        what = "the basis of the curves"
        need(isinstance(packed, dict) and set(packed) == set(_BASIS), what)
        n_widths, n_rows, n_columns = len(self.widths), *known.rows.shape
        for name in ("centres", "basis_MTJ"):
            need(isinstance(packed[name], np.ndarray) and packed[name].ndim >= 2, what)
        n_centres, n_kept = len(packed["centres"]), packed["basis_MTJ"].shape[-1] - 1
        shapes: dict[str, tuple[int, ...]] = {
            "centres": (n_centres, n_columns),
            "basis_MTJ": (n_widths, n_rows, n_kept + 1),
        }
        if self.whitened:
            shapes["direction_MLR"] = (n_widths, n_centres, n_kept)
            shapes["inverse_MR"] = (n_widths, n_kept)
        need(n_kept == n_centres or self.whitened, what)
        for name, shape in shapes.items():
            floats(packed[name], shape, what)
        floats(packed["scale"], (n_columns,), what, most=np.inf)
        need(n_centres >= 1 and n_kept >= 1 and np.all(packed["scale"] > 0), what)
        return Basis(known, packed["scale"], **{name: packed[name] for name in shapes})

    def n_choices(self, name: str) -> float:
        """Return how many widths there are."""
        return len(self.widths)

    def lengths(self, x: Any, prepared: Basis) -> Float | None:
        """Return the (K,) lengths 1 / sqrt(psi) of the atoms' kernels."""
        scaled = 1.0 / np.sqrt(np.asarray(self.widths, float)[x.width])
        return np.asarray(scaled * prepared.scale[0])
