"""Topics and their concentration, given which words each topic holds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from thincrm.models.topics.dirichlet import draw_gammas, normalise, tally
from thincrm.models.topics.usage import MOST_SHAPE, padded
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.slice import slice_move
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import block_ends, map_blocks

__all__ = [
    "BURST_PRIOR",
    "CONCENTRATION_PRIOR",
    "draw_topics",
    "redraw_burstiness",
    "redraw_concentration",
]

CONCENTRATION_PRIOR = (1.0, 1.0)  # Gamma(shape, rate)
BURST_PRIOR = (1.0, 0.01)  # Gamma(shape, rate) of the urn s, cut off below MOST_SHAPE
_BLOCK = 256  # words to count
_ROUNDS = (4, 2, 1)  # words of a thread's blocks of topics to draw, one after another


def draw_topics(
    rng: np.random.Generator,
    counts_PK: np.ndarray,
    concentration: float,
    topic_U: Int,
    meanwhile: Callable[[], None] = lambda: None,
) -> np.ndarray:
    """Draw theta_k ~ Dirichlet(concentration + counts) of some columns; float32, in whole lanes.

    This thread does `meanwhile` before it joins the others.
    """
    theta_PU = np.zeros((len(counts_PK), padded(topic_U.size)), np.float32)
    key = fresh_key(rng)

    ends = np.rint(block_ends(_ROUNDS, n_late=1) * len(counts_PK)).astype(int)
    bounds = [0, *ends.tolist()]

    def rows(block: int, _: int) -> None:
        words = bounds[block], bounds[block + 1]
        draw_gammas(*words, key, counts_PK, concentration, topic_U, theta_PU)

    map_blocks(rows, len(bounds) - 1, 1, meanwhile)
    normalise(key, counts_PK, concentration, topic_U, theta_PU)
    return theta_PU


def redraw_concentration(
    rng: np.random.Generator, counts_PK: np.ndarray, concentration: float
) -> float:
    """Slice the concentration a with the topics integrated out (redraw them after).

    log f(a) = sum_k log G(P a) / G(P a + n_k) + sum_kp log G(a + n_kp) / G(a);  unused topics
    drop out. The last sum needs only how many cells hold more than j tokens.
    """
    total_K, above_J = _word_counts(counts_PK)
    step_J = np.arange(above_J.size)
    n_words, used_K = len(counts_PK), total_K[total_K > 0]

    def log_density(log_a: Float) -> Float:
        a = math.exp(float(log_a[0]))
        fit = used_K.size * gammaln(n_words * a) - gammaln(n_words * a + used_K).sum()
        fit += float(above_J @ np.log(a + step_J))
        return np.array([fit + CONCENTRATION_PRIOR[0] * math.log(a) - CONCENTRATION_PRIOR[1] * a])

    moved = slice_move(rng, np.array([math.log(concentration)]), log_density, width=0.2)
    return math.exp(float(moved[0]))


def _word_counts(counts_PK: np.ndarray) -> tuple[Int, Float]:
    """Return the (K,) tokens of each topic, and (J,) cells of word and topic with more than j."""
    parts = map_blocks(lambda first, stop: tally(first, stop, counts_PK), len(counts_PK), _BLOCK)
    total_K = np.zeros(counts_PK.shape[1], np.int64)
    size_J = np.zeros(max(len(found) for _, found in parts))
    for total, found in parts:
        total_K += total
        size_J[: found.size] += found
    return total_K, np.cumsum(size_J[::-1])[::-1]


def redraw_burstiness(
    rng: np.random.Generator, n_seats: int, above_J: Int, burstiness: float
) -> float:
    """Slice the urn s = 1 / burstiness, given how many tokens are fresh draws of their topic.

    log f(s) = seats log s - sum_dk log G(s + n_dk) / G(s)
    """
    step_J = np.arange(above_J.size)

    def log_density(log_s: Float) -> Float:
        s = math.exp(float(log_s[0]))
        if s < MOST_SHAPE:
            return np.array([-np.inf])
        fit = n_seats * math.log(s) - float(above_J @ np.log(s + step_J))
        return np.array([fit + BURST_PRIOR[0] * math.log(s) - BURST_PRIOR[1] * s])

    moved = slice_move(rng, np.array([-math.log(burstiness)]), log_density, width=0.1)
    return math.exp(-float(moved[0]))
