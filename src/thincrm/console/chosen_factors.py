"""From names on the command line to factors of a model."""

from __future__ import annotations

from thincrm.console.options import THINNING
from thincrm.thinning.member import ThinningFunction, member_named

__all__ = ["thinning_named"]


def thinning_named(name: str) -> ThinningFunction | None:
    """Return the thinning function of a name; None, the model's own choice, for the default."""
    return None if name == THINNING else member_named(name)()
