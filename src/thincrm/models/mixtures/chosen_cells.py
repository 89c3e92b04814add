"""Which cells a likelihood reads."""

from __future__ import annotations

from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput
from thincrm.models.mixtures.cells import Cells
from thincrm.models.mixtures.columns import Layout
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.line_cells import LineCells
from thincrm.models.mixtures.mixed import MixedClusters
from thincrm.models.mixtures.mixed_cells import MixedCells
from thincrm.models.mixtures.number_cells import NumberCells
from thincrm.models.mixtures.regression import RegressionClusters

__all__ = ["cells_of"]


def cells_of(likelihood: object, layout: Layout, known: Covariates) -> Cells:
    """Return the cells of a likelihood, or say why it does not fit the columns."""
    if isinstance(likelihood, MixedClusters):
        return MixedCells(likelihood, layout)
    bad = [kind for kind in layout.kinds if kind == "category"]
    if bad:
        raise InvalidInput(
            f"Y has categories, which {type(likelihood).__name__} does not take: use "
            "MixedClusters(), or drop them."
        )
    if isinstance(likelihood, RegressionClusters):
        return LineCells(likelihood, layout, known)
    assert isinstance(likelihood, GaussianClusters)
    return NumberCells(likelihood, layout)
