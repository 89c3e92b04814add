"""What is typical of a cluster: mean and standard deviation of every column."""

from __future__ import annotations

import numpy as np

from thincrm.errors import InvalidType
from thincrm.models.mixtures.clusters import Clusters, Params
from thincrm.models.mixtures.diagonal import Diagonal, DiagonalParams
from thincrm.models.mixtures.full import Full, FullParams
from thincrm.numerics.arrays import Float

__all__ = ["column_moments"]


def column_moments(law: Clusters, params: Params) -> tuple[Float, Float]:
    """Return the (K, P) means and standard deviations, in standard units.

    Of Student rows the deviation is that of the normal part where ν is at most 2.
    """
    if isinstance(law, Diagonal) and isinstance(params, DiagonalParams):
        spread_KP = 1.0 / np.sqrt(params.precision)
    elif isinstance(law, Full) and isinstance(params, FullParams):
        spread_KP = np.sqrt(np.diagonal(np.linalg.inv(params.precision), axis1=1, axis2=2))
    else:
        raise InvalidType(f"{type(law).__name__} has no table of means.")
    wider = np.sqrt(law.degrees / (law.degrees - 2.0)) if law.degrees > 2.0 else 1.0
    return params.mean, spread_KP * wider
