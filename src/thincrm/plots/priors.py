"""What a model believes before it sees data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thincrm.data.covariates import CovariateLike
from thincrm.errors import InvalidInput
from thincrm.measure import ThinnedCRM
from thincrm.numerics.arrays import Seed
from thincrm.plots.canvas import axes, tidy

if TYPE_CHECKING:
    from thincrm.models.base import Model
    from thincrm.plots.canvas import Axes

__all__ = ["prior"]


def prior(
    model: ThinnedCRM | Model,
    t: CovariateLike,
    rng: Seed = 0,
    n_atoms: int = 50,
    ax: Axes | None = None,
) -> Axes:
    """Draw one realisation of a thinned measure: open atoms at (t, location), area by weight.

    Parameters
    ----------
    model : ThinnedCRM, or an estimator with `levy` and `thinning`
    t : covariates
        Where to look, such as a grid of years.
    rng : int, Generator or None
    n_atoms : int
        Of the finite approximation that the models use.
    ax : matplotlib axes or None
    """
    crm = model if isinstance(model, ThinnedCRM) else _measure(model)
    ax = axes(ax, 2.6)
    crm.draw(t, rng, n_atoms=n_atoms).plot(ax)
    tidy(ax)
    return ax


def _measure(model: Model) -> ThinnedCRM:
    levy, thinning = getattr(model, "levy", None), getattr(model, "thinning", None)
    if levy is None or thinning is None:
        raise InvalidInput("prior needs a ThinnedCRM, or a model given both levy= and thinning=.")
    return ThinnedCRM(levy, thinning)
