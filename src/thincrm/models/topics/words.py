"""Topics and their concentration, given which words each topic holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from thincrm.models.topics.dirichlet import draw_gammas, normalise, tally
from thincrm.models.topics.usage import MOST_SHAPE, padded
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.slice import slice_move
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import block_ends, map_blocks

__all__ = [
    "CONCENTRATION_PRIOR",
    "URN_LAW",
    "UrnLaw",
    "concentration_density",
    "draw_topics",
    "redraw_burstiness",
    "redraw_concentration",
    "urn_density",
]

CONCENTRATION_PRIOR = (1.0, 1.0)  # Gamma(shape, rate)
_BLOCK = 256  # words to count
_ROUNDS = (4, 2, 1)  # words of a thread's blocks of topics to draw, one after another


class UrnLaw(NamedTuple):
    """The prior of the urn s of bursty words: Gamma(shape, rate), cut off below."""

    shape: float = 1.0
    rate: float = 0.01
    least: float = MOST_SHAPE


URN_LAW = UrnLaw()


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
    rng: np.random.Generator,
    counts_PK: np.ndarray,
    concentration: float,
    prior: tuple[float, float] = CONCENTRATION_PRIOR,
) -> float:
    """Slice the concentration a with the topics integrated out (redraw them after)."""
    density = concentration_density(counts_PK, prior)
    moved = slice_move(rng, np.array([math.log(concentration)]), density, width=0.2)
    return math.exp(float(moved[0]))


def concentration_density(
    counts_PK: np.ndarray, prior: tuple[float, float] = CONCENTRATION_PRIOR
) -> Callable[[Float], Float]:
    """Return g(log a) = the log density of the concentration, topics integrated out.

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
        return np.array([fit + prior[0] * math.log(a) - prior[1] * a])

    return log_density


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
    rng: np.random.Generator,
    n_fresh: int,
    above_J: Int,
    burstiness: float,
    law: UrnLaw = URN_LAW,
) -> float:
    """Slice the urn s = 1 / burstiness, given how many tokens are fresh draws of their topic."""
    density = urn_density(n_fresh, above_J, law)
    moved = slice_move(rng, np.array([-math.log(burstiness)]), density, width=0.1)
    return math.exp(-float(moved[0]))


def urn_density(n_fresh: int, above_J: Int, law: UrnLaw = URN_LAW) -> Callable[[Float], Float]:
    """Return f(log s) = the log density of the urn.

    log f(s) = fresh log s - sum_dk log G(s + n_dk) / G(s)
    """
    step_J = np.arange(above_J.size)

    def log_density(log_s: Float) -> Float:
        s = math.exp(float(log_s[0]))
        if s < law.least:
            return np.array([-np.inf])
        fit = n_fresh * math.log(s) - float(above_J @ np.log(s + step_J))
        return np.array([fit + law.shape * math.log(s) - law.rate * s])

    return log_density
