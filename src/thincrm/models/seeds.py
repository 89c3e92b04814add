"""From scikit-learn's random_state to a seed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from thincrm.errors import InvalidInput, argument

__all__ = ["RandomState", "seed_of"]

RandomState: TypeAlias = int | np.random.RandomState | None  # as scikit-learn has it


def seed_of(random_state: RandomState) -> int:
    """Return an int: `random_state` itself, or one drawn from it."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise InvalidInput(argument("random_state"), f" must be 0 or more, got {random_state}.")
        return int(random_state)
    return int(check_random_state(random_state).randint(0, 2**31 - 1))
