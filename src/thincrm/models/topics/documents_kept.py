"""Which draws keep the topics of documents: all, or in a large corpus a few.

The topics of all documents take some six bytes a token and draw; what documents have in common, the
globals, does not grow with them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from thincrm.data.counts import CountMatrix
from thincrm.errors import check_count
from thincrm.inference.schedule import Schedule
from thincrm.models.topics.draw import TopicDraw

__all__ = ["document_sweeps", "say_kept", "with_documents"]

_MOST_TOKENS = 250_000_000  # of all draws that keep documents: a gigabyte and a half
_FEWEST = 2  # a chain's first draw, for a run that is stopped, and its last


def document_sweeps(
    schedule: Schedule, n_documents: int, n_tokens: int, chosen: int | None
) -> frozenset[int] | None:
    """Return the sweeps whose draws keep documents: evenly spaced, first and last; None: all.

    chosen: how many of a chain; None: as many as have _MOST_TOKENS tokens in all chains. A run that
    goes on beyond its end keeps them at distances that its later, sparser draws meet too.
    """
    room = _MOST_TOKENS // max(1, n_tokens * schedule.n_chains)
    n_sweeps = room if chosen is None else check_count("keep_documents", chosen, _FEWEST)
    kept = replace(schedule, length=None).kept
    if n_documents == 1 or n_sweeps >= len(kept):
        return None
    places = np.linspace(0, len(kept) - 1, max(_FEWEST, n_sweeps))
    found = [kept[place] for place in np.round(places).astype(int).tolist()]
    distance = kept.step * 2 ** math.ceil(math.log2(len(kept) / len(found)))
    return frozenset([*found, *_later(schedule.n_sweeps, schedule.most, distance)])


def say_kept(schedule: Schedule, counts: CountMatrix, chosen: int | None) -> None:
    """Say so where not all draws keep documents."""
    n_documents, kept = counts.shape[0], schedule.kept
    sweeps = document_sweeps(schedule, n_documents, int(counts.sum()), chosen)
    if sweeps is not None:
        sys.stderr.write(
            f"{len(sweeps.intersection(kept))} of {len(kept)} draws of a chain keep the topics of "
            f"the {n_documents:,} documents (keep_documents), the others what all have in common.\n"
        )


def _later(end: int, most: int, distance: int) -> Iterator[int]:
    """Yield sweeps beyond the end, at a distance that doubles as often as the run does."""
    begin = end
    while begin < most:
        first = end + -(-(begin + 1 - end) // distance) * distance
        yield from range(first, min(2 * begin, most) + 1, distance)
        begin, distance = 2 * begin, 2 * distance


def with_documents(draws: Sequence[TopicDraw], n_documents: int) -> list[int]:
    """Return the places of the draws that keep documents."""
    return [b for b, draw in enumerate(draws) if draw.documents.shape[0] == n_documents]
