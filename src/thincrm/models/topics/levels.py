"""Levels: a document's own probability q, one of a few that all documents share.

Documents differ in length for reasons that are not their topics. A document has level b with
probability share_b, and then n_dk | open ~ NB(shape_k, q_b) for each of its topics. Tables have a
row for every pair of a covariate row t and a level b: r = t B + b.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import expit

from thincrm.models.topics.usage import TopicEvidence, Usage, log_silent_at
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import open_stream, uniform
from thincrm.numerics.threads import map_blocks
from thincrm.ports import GateEvidence

__all__ = [
    "add_levels",
    "draw_levels",
    "draw_shares",
    "level_gates",
    "level_rows",
    "spread",
    "sum_levels",
]

_BLOCK = 1024  # documents a thread takes at a time


def spread(usage: Usage, log_odds_TK: Float) -> tuple[Usage, Float]:
    """Return both with a row for every pair of a row and a level (as they are without levels)."""
    if usage.log_share is None:
        return usage, log_odds_TK
    times = (len(log_odds_TK), 1)
    wide = usage._replace(q=np.tile(usage.q, times), log_rest=np.tile(usage.log_rest, times))
    return wide, np.repeat(log_odds_TK, usage.log_share.size, axis=0)


def level_rows(row_D: np.ndarray, level_D: np.ndarray | None, n_levels: int) -> np.ndarray:
    """Return each document's row in tables with levels."""
    return row_D if level_D is None else row_D * n_levels + level_D.astype(row_D.dtype)


def add_levels(usage: Usage, log_weight_DC: Float, length_D: Int) -> Float:
    """Return (D, C B) log weights of pairs of candidate and level: + log share_b q_b^n_d."""
    if usage.log_share is None:
        return log_weight_DC
    own_DB = usage.log_share + length_D[:, None] * np.log(usage.q[:, 0])
    return np.asarray((log_weight_DC[:, :, None] + own_DB[:, None]).reshape(len(own_DB), -1))


def sum_levels(usage: Usage, value_DR: Float, add: Callable[..., Float] = np.sum) -> Float:
    """Return (D, C) sums over the levels of a (D, C B) table; add: np.sum, or logsumexp."""
    if usage.log_share is None:
        return value_DR
    shape = (len(value_DR), value_DR.shape[1] // usage.log_share.size, usage.log_share.size)
    return np.asarray(add(value_DR.reshape(shape), axis=2))


def draw_shares(rng: np.random.Generator, level_D: np.ndarray, n_levels: int) -> Float:
    """Draw the (B,) log shares of the levels; their prior is a uniform Dirichlet."""
    return np.log(rng.dirichlet(1.0 + np.bincount(level_D, minlength=n_levels)))


def draw_levels(
    key: np.uint64,
    items_D: Int,
    row_D: np.ndarray,
    start_D: np.ndarray,
    topics: tuple[np.ndarray, np.ndarray, np.ndarray],
    usage: Usage,
    log_odds_TK: Float,
) -> np.ndarray:
    """Draw every document's level given its topics, gates and usages integrated out.

    P(b) ~ share_b q_b^n_d prod_k silent_tbk prod_used (1 - q_b)^shape_k / silent_tbk

    topics: as `redraw_documents` leaves them; of those beyond the usage's nothing is said.
    """
    wide, log_odds_RK = spread(usage, log_odds_TK)
    log_silent_RK = log_silent_at(wide, log_odds_RK)
    n_levels, n_topics = len(usage.q), usage.shape.size
    silent_TB = log_silent_RK.sum(axis=1).reshape(-1, n_levels) + usage.log_share
    used_TBK = (wide.log_silent - log_silent_RK).reshape(-1, n_levels, n_topics)
    used_TKB = np.ascontiguousarray(used_TBK.transpose(0, 2, 1))
    log_q_B, level_D = np.log(usage.q[:, 0]), np.zeros(row_D.size, np.int32)

    def work(first: int, stop: int) -> None:
        _draw(
            first, stop, key, items_D, row_D, start_D, *topics, log_q_B, silent_TB, used_TKB,
            level_D,
        )  # fmt: skip

    map_blocks(work, row_D.size, _BLOCK)
    return level_D


@compiled
def _draw(
    first: int,
    stop: int,
    key: np.uint64,
    items_D: np.ndarray,
    row_D: np.ndarray,
    start_D: np.ndarray,
    n_used_D: np.ndarray,
    used_N: np.ndarray,
    size_N: np.ndarray,
    log_q_B: np.ndarray,
    silent_TB: np.ndarray,
    used_TKB: np.ndarray,
    level_D: np.ndarray,
) -> None:
    """Fill level_D[first:stop]: the largest of the log weights plus Gumbel variates."""
    score_B, state = np.empty(log_q_B.size), np.empty(4, np.uint64)
    for d in range(first, stop):
        t, length = row_D[d], 0
        score_B[:] = silent_TB[t]
        for i in range(start_D[d], start_D[d] + n_used_D[d]):
            k = used_N[i]
            if k < used_TKB.shape[1]:
                length += size_N[i]
                for b in range(score_B.size):
                    score_B[b] += used_TKB[t, k, b]
        open_stream(state, key, items_D[d])
        best = -np.inf
        for b in range(score_B.size):
            score = score_B[b] + length * log_q_B[b] - math.log(-math.log(uniform(state)))
            if score > best:
                best = score
                level_D[d] = b


def level_gates(
    rng: np.random.Generator, usage: Usage, evidence: TopicEvidence, log_odds_TK: Float
) -> GateEvidence:
    """Return what documents of all levels say of the gates of each row; most are integrated out.

    A silent document of level b has probability 1 - a + a q_b = (1 - a + a q) + a (q_b - q), q_b
    being P(silent | open) and q the least of them among the documents there: with the chance that
    the second part has in the sum it is surely open, and otherwise as silent as one of that level.
    """
    n_rows, n_levels = len(log_odds_TK), len(usage.q)
    wide, log_odds_RK = spread(usage, log_odds_TK)
    trials_TB = evidence.trials.reshape(n_rows, n_levels)
    log_rest_T1 = np.where(trials_TB > 0, usage.log_rest[:, 0], 0.0).min(axis=1, keepdims=True)
    log_least_TK = usage.shape * log_rest_T1
    below_RK = np.repeat(log_least_TK, n_levels, axis=0) - wide.log_silent
    excess_RK = -np.expm1(np.minimum(below_RK, 0.0))  # above 0: no document has the level
    chance_RK = expit(log_odds_RK + wide.log_silent) * excess_RK
    sure_RK = rng.binomial(evidence.trials[:, None] - evidence.positive, chance_RK)
    positive_RK = evidence.positive + sure_RK
    positive_TK = positive_RK.reshape(n_rows, n_levels, -1).sum(axis=1)
    return GateEvidence(positive_TK, trials_TB.sum(axis=1), log_least_TK)
