"""Perplexity of held-out words: one definition, with its Monte Carlo error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thincrm.data.counts import CountMatrix, Tokens
from thincrm.errors import InvalidInput
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.predict.heldout_shards import HeldoutWords
from thincrm.models.topics.state import shards_of
from thincrm.numerics.arrays import Float

__all__ = ["Perplexity", "PerplexitySoFar", "heldout_log_likelihoods", "perplexity"]

_BATCHES = 5


class Perplexity(NamedTuple):
    """exp(- sum y log f / sum y) over held-out cells, and its Monte Carlo standard error.

    f_dp = sum_b lambda_dp / sum_b lambda_d. over kept draws b (a ratio of sums, as in the paper
    and in Zhou and others 2012). The error is that of the kept draws, not of the split: the
    spread of the log perplexities that leave out a fifth of the draws in turn (jackknife).
    """

    value: float
    error: float
    n_words: int
    n_draws: int


def perplexity(
    draws: Sequence[TopicDraw], row_D: np.ndarray, heldout: CountMatrix, documents: Tokens
) -> Perplexity:
    """Return the perplexity of held-out counts of the fitted documents (same rows).

    Parameters
    ----------
    draws : sequence of TopicDraw
        Kept draws, all chains.
    row_D : (D,) int
        Covariate row of each document.
    heldout : (D, P) sparse int
        Held-out counts; documents without any are passed over.
    documents : Tokens
        The documents the model was fitted to.
    """
    n_words = _checked_words(draws, row_D, heldout)
    held = HeldoutWords(shards_of(documents, row_D), heldout)
    n_batches = min(_BATCHES, len(draws))
    parts = [held.rates(draws[b::n_batches]) for b in range(n_batches)]
    cell_BC, total_BD = (np.stack(part) for part in zip(*parts, strict=True))
    value = -held.mean_log_share(cell_BC.sum(0), total_BD.sum(0))
    error = np.nan
    if n_batches > 1:
        left = [
            held.mean_log_share(np.delete(cell_BC, b, 0).sum(0), np.delete(total_BD, b, 0).sum(0))
            for b in range(n_batches)
        ]
        error = float(np.sqrt((n_batches - 1) / n_batches * np.var(left) * n_batches))
    return Perplexity(float(np.exp(value)), float(np.exp(value) * error), n_words, len(draws))


class PerplexitySoFar:
    """The perplexity of held-out counts as draws come in, one at a time.

    Parameters
    ----------
    row_D, heldout, documents
        As of `perplexity`.
    """

    def __init__(self, row_D: np.ndarray, heldout: CountMatrix, documents: Tokens) -> None:
        self._row_D = row_D
        self._held = HeldoutWords(shards_of(documents, row_D), heldout)
        self._cell_C, self._total_D = np.zeros(heldout.nnz), np.zeros(heldout.shape[0])

    def add(self, draw: TopicDraw) -> float:
        """Take in a draw, and return the perplexity of all so far."""
        _checked_words([draw], self._row_D, self._held.counts)
        cell_C, total_D = self._held.rates([draw])
        self._cell_C += cell_C
        self._total_D += total_D
        return float(np.exp(-self._held.mean_log_share(self._cell_C, self._total_D)))


def heldout_log_likelihoods(
    draws: Sequence[TopicDraw], row_D: np.ndarray, heldout: CountMatrix, documents: Tokens
) -> Float:
    """Return the (B,) mean log probability of a held-out word under each draw alone.

    A label-free quantity of a draw, for R-hat; their mean is no perplexity, which averages
    probabilities over draws before it takes the logarithm.
    """
    _checked_words(draws, row_D, heldout)
    held = HeldoutWords(shards_of(documents, row_D), heldout)
    return np.array([held.mean_log_share(*held.rates([draw])) for draw in draws])


def _checked_words(draws: Sequence[TopicDraw], row_D: np.ndarray, heldout: CountMatrix) -> int:
    if heldout.shape != (len(row_D), draws[0].words.shape[0]):
        raise InvalidInput(
            f"heldout has shape {heldout.shape}, but the model was fitted to {len(row_D)} "
            f"documents and {draws[0].words.shape[0]} words: pass the held-out counts of the "
            "same documents."
        )
    words = int(heldout.sum())
    if words == 0:
        raise InvalidInput("heldout holds no words: nothing to predict.")
    return words
