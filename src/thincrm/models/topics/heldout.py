"""Words that a topic model does not learn from, and what it says of them as draws come in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thincrm.data.counts import CountMatrix, as_counts, split_words, tokens
from thincrm.errors import InvalidInput, check_between, either
from thincrm.inference.driver import Watch
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.predict.perplexity import PerplexitySoFar

__all__ = ["hold_out", "watch_perplexity"]


def hold_out(
    counts: CountMatrix, heldout: Any, seed: int
) -> tuple[CountMatrix, CountMatrix | None]:
    """Return the counts to learn from and those that are held out (None: none).

    heldout: other counts of the same documents, or the share of every document's words to take
    away (`thincrm.split_words` with the model's seed).
    """
    if heldout is None:
        return counts, None
    if np.ndim(heldout) == 0 and isinstance(heldout, int | float | np.number):
        counts, held = split_words(counts, check_between("heldout", heldout, 0.0, 1.0), seed)
        if held.sum() == 0 or counts.sum() == 0:
            raise InvalidInput(
                either("heldout=", "--heldout "),
                f"{heldout} takes none of the words, or all: documents are too short for this "
                "share.",
            )
        return counts, held
    held = as_counts(heldout, "heldout")
    if held.shape != counts.shape:
        raise InvalidInput(
            f"heldout has shape {held.shape} but X {counts.shape}: pass other words of the same "
            "documents (tc.split_words)."
        )
    if held.sum() == 0:
        raise InvalidInput("heldout holds no words: nothing to predict.")
    return counts, held


def watch_perplexity(
    row_D: np.ndarray, heldout: CountMatrix, counts: CountMatrix, draws: Sequence[TopicDraw]
) -> Watch:
    """Return what tells the perplexity of held-out words so far, `draws` already taken in."""
    so_far, said = PerplexitySoFar(row_D, heldout, tokens(counts)), ""

    def watch(draw: TopicDraw) -> str:
        nonlocal said
        if draw.documents.shape[0] == heldout.shape[0]:  # it keeps documents
            said = f"held-out perplexity {so_far.add(draw):.1f}"
        return said

    for draw in draws:
        watch(draw)
    return watch
