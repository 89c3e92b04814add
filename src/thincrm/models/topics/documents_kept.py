"""Which draws keep the topics of documents: all, or in a large corpus a few.

The topics of all documents take some six bytes a token and draw; what documents have in common, the
globals, does not grow with them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thincrm.errors import check_count
from thincrm.inference.schedule import Schedule
from thincrm.models.topics.draw import TopicDraw

__all__ = ["document_sweeps", "with_documents"]

_MOST_TOKENS = 250_000_000  # of all draws that keep documents: a gigabyte and a half
_FEWEST = 2  # a chain's first draw, for a run that is stopped, and its last


def document_sweeps(
    schedule: Schedule, n_documents: int, n_tokens: int, chosen: int | None
) -> frozenset[int] | None:
    """Return the sweeps whose draws keep documents: evenly spaced, first and last; None: all.

    chosen: how many of a chain; None: as many as have _MOST_TOKENS tokens in all chains.
    """
    room = _MOST_TOKENS // max(1, n_tokens * schedule.n_chains)
    n_sweeps = room if chosen is None else check_count("keep_documents", chosen, _FEWEST)
    if n_documents == 1 or n_sweeps >= schedule.n_kept:
        return None
    kept = [sweep for sweep in range(1, schedule.n_sweeps + 1) if schedule.keeps(sweep)]
    places = np.linspace(0, len(kept) - 1, max(_FEWEST, n_sweeps))
    return frozenset(kept[place] for place in np.round(places).astype(int).tolist())


def with_documents(draws: Sequence[TopicDraw], n_documents: int) -> list[int]:
    """Return the places of the draws that keep documents."""
    return [b for b, draw in enumerate(draws) if draw.documents.shape[0] == n_documents]
