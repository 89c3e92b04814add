"""Which topic of a draw is which of the page: matched to the last draw, the largest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thincrm.models.topics.draw import match_topics
from thincrm.numerics.arrays import Int

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["matches"]


def matches(model: TopicModel) -> list[Int]:
    """Return, for every draw, the place of each of the page's topics in it (-1: not there)."""
    last = model.draws_[-1]
    order = np.argsort(-last.tokens, kind="stable")
    return [match_topics(last, draw)[order] for draw in model.draws_]
