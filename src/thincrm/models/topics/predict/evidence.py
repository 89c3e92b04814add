"""Evidence of topics and of words in one distribution over dates, each with a learned weight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from thincrm.numerics.arrays import Float, Int

__all__ = ["USUAL", "Weights", "learn_weights", "log_topic_evidence", "weigh"]

_ANY = 0.01  # of every distribution of the topics: that all dates are as likely


class Weights(NamedTuple):
    """How much the logarithms of the two kinds of evidence count."""

    topics: float
    words: float


USUAL = Weights(0.2, 1.0)  # where too few documents say something else
_FIRMNESS = Weights(2.0, 1.0)  # 1 / standard deviation of the weights around the usual ones


def log_topic_evidence(chance_DC: Float, log_prior_C: Float) -> Float:
    """Return log(0.99 p(t | topics) / prior(t) + 0.01): a sampled zero is not certain."""
    chance_C = softmax(log_prior_C)
    return np.asarray(np.log((1.0 - _ANY) * chance_DC / chance_C + _ANY))


def weigh(weights: Weights, log_prior_C: Float, topics_DC: Float, words_DC: Float) -> Float:
    """Return p(t | d) ~ prior(t) exp(weights.topics topics_d(t) + weights.words words_d(t))."""
    score = log_prior_C + weights.topics * topics_DC + weights.words * words_DC
    return np.asarray(softmax(score, axis=1))


def learn_weights(
    log_prior_C: Float, topics_DC: Float, words_DC: Float, row_D: Int
) -> tuple[Weights, float]:
    """Return the weights that date documents of known rows best, and the log score reached.

    The most probable weights >= 0 under sum_d log p(row_d | d), a concave function, and a normal
    prior around the usual weights, which matters with few documents only. The evidence must come
    from fits that have not seen these documents.
    """
    every, parts = np.arange(row_D.size), np.stack([topics_DC, words_DC])
    hit_2D = parts[:, every, row_D]
    usual, firm = np.array(USUAL), np.array(_FIRMNESS)

    def loss(weight: Float) -> tuple[float, Float]:
        log_p_DC = log_softmax(log_prior_C + np.tensordot(weight, parts, 1), axis=1)
        pull = firm * (weight - usual)
        mean_2D = (parts * np.exp(log_p_DC)).sum(axis=2)
        value = 0.5 * float(pull @ pull) - float(log_p_DC[every, row_D].sum())
        return value, firm * pull + (mean_2D - hit_2D).sum(axis=1)

    found = minimize(loss, usual, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * 2)
    return Weights(*map(float, found.x)), -float(found.fun)
