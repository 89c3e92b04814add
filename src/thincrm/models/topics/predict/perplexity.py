"""Perplexity of held-out words: one definition, with its Monte Carlo error."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thincrm.data.counts import CountMatrix, Tokens
from thincrm.errors import InvalidInput
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.levels import level_rows, spread
from thincrm.models.topics.predict.rates import add_rates
from thincrm.models.topics.usage import token_rates
from thincrm.numerics.arrays import Float
from thincrm.numerics.threads import map_blocks

__all__ = ["Perplexity", "PerplexitySoFar", "heldout_log_likelihoods", "perplexity"]

_BATCHES = 5
_BLOCK = 4096


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
    words = _checked_words(draws, row_D, heldout)
    n_batches = min(_BATCHES, len(draws))
    parts = [_rates(draws[b::n_batches], row_D, heldout, documents) for b in range(n_batches)]
    cell_BC, total_BD = (np.stack(part) for part in zip(*parts, strict=True))
    document = np.repeat(np.arange(heldout.shape[0]), np.diff(heldout.indptr))

    def log_perplexity(cell_C: Float, total_D: Float) -> float:
        share_C = cell_C / total_D[document]
        return float(-(heldout.data * np.log(share_C)).sum() / words)

    value = log_perplexity(cell_BC.sum(0), total_BD.sum(0))
    error = np.nan
    if n_batches > 1:
        left = [
            log_perplexity(np.delete(cell_BC, b, 0).sum(0), np.delete(total_BD, b, 0).sum(0))
            for b in range(n_batches)
        ]
        error = float(np.sqrt((n_batches - 1) / n_batches * np.var(left) * n_batches))
    return Perplexity(float(np.exp(value)), float(np.exp(value) * error), words, len(draws))


class PerplexitySoFar:
    """The perplexity of held-out counts as draws come in, one at a time.

    Parameters
    ----------
    row_D, heldout, documents
        As of `perplexity`.
    """

    def __init__(self, row_D: np.ndarray, heldout: CountMatrix, documents: Tokens) -> None:
        self._given = (row_D, heldout, documents)
        self._document = np.repeat(np.arange(heldout.shape[0]), np.diff(heldout.indptr))
        self._cell_C, self._total_D = np.zeros(heldout.nnz), np.zeros(heldout.shape[0])

    def add(self, draw: TopicDraw) -> float:
        """Take in a draw, and return the perplexity of all so far."""
        words = _checked_words([draw], *self._given[:2])
        cell_C, total_D = _rates([draw], *self._given)
        self._cell_C += cell_C
        self._total_D += total_D
        share_C = self._cell_C / self._total_D[self._document]
        return float(np.exp(-(self._given[1].data * np.log(share_C)).sum() / words))


def heldout_log_likelihoods(
    draws: Sequence[TopicDraw], row_D: np.ndarray, heldout: CountMatrix, documents: Tokens
) -> Float:
    """Return the (B,) mean log probability of a held-out word under each draw alone.

    A label-free quantity of a draw, for R-hat; their mean is no perplexity, which averages
    probabilities over draws before it takes the logarithm.
    """
    words = _checked_words(draws, row_D, heldout)
    document = np.repeat(np.arange(heldout.shape[0]), np.diff(heldout.indptr))
    rates = (_rates([draw], row_D, heldout, documents) for draw in draws)
    return np.array(
        [(heldout.data * np.log(cell / total[document])).sum() / words for cell, total in rates]
    )


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


def _rates(
    draws: Sequence[TopicDraw], row_D: np.ndarray, heldout: CountMatrix, documents: Tokens
) -> tuple[Float, Float]:
    cell_C, total_D = np.zeros(heldout.nnz), np.zeros(heldout.shape[0])
    longest = int(np.diff(documents.start).max(initial=0))
    for draw in draws:
        theta_PK, (usage, log_odds) = draw.theta, spread(draw.usage, draw.log_odds)
        rates = token_rates(usage, log_odds, theta_PK, draw.burstiness, longest)
        level_D = draw.level
        scale_D = np.ones(len(row_D)) if level_D is None else draw.usage.q[level_D, 0]
        spread_TP = rates.unused_TK.astype(float) @ theta_PK.T.astype(float)
        arguments = (
            level_rows(row_D, level_D, len(draw.usage.q)),
            documents.start,
            documents.word,
            draw.token_topics(),
            heldout.indptr,
            heldout.indices,
            rates,
            spread_TP,
            scale_D,
            cell_C,
            total_D,
        )
        map_blocks(partial(_add, arguments), len(row_D), _BLOCK)
    return cell_C, total_D


def _add(arguments: tuple[Any, ...], first: int, stop: int) -> None:
    add_rates(first, stop, *arguments)
