"""The law of a document's length: a sum of independent zero-inflated negative binomials.

Its generating function is G(s) = prod_k (1 - a_k + a_k ((1 - q_k) / (1 - q_k s))^shape_k), and

    P(N) = G(r) r^-N P_r(N),   P_r(n) = P(n) r^n / G(r)

for any radius r: the tilted law P_r is a sum of the same kind, with q_k r for q_k. With r near the
saddle point, where P_r has mean N, P_r(N) is not small and a discrete Fourier transform of its
characteristic function gives it with small relative error, however small P(N) is (Daniels 1954).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.fft import next_fast_len
from scipy.special import expit, log_expit, logsumexp

from thincrm.models.topics.usage import Usage, log_silent_at
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled

__all__ = ["log_length"]

_TURNS = 8  # points on the circle for each token of the longest document
_WRAPPED = -15 * math.log(10.0)  # log of what a turn of the circle adds: the error by aliasing
_SAFE = 1e-5  # tilted probabilities from here on have relative errors below 1e-8


class _Tilted(NamedTuple):
    """The pieces of P_r, for topics that can be open."""

    log_radius: float
    log_total: float  # log G(r)
    shape: Float  # K
    q: Float  # K: q r
    gap: Float  # K: 1 - q r
    opened: Float  # K: P_r(topic is open)

    @property
    def mean(self) -> float:
        return float(np.sum(self.opened * self.shape * self.q / self.gap))


def log_length(usage: Usage, log_odds_CK: Float, length_N: Int) -> Float:
    """Return the (N, C) log probabilities of documents of given lengths at each candidate."""
    if usage.log_share is not None:
        parts = [log_length(usage.at(b), log_odds_CK, length_N) for b in range(len(usage.q))]
        return np.asarray(logsumexp(parts, axis=0, b=np.exp(usage.log_share)[:, None, None]))
    out_NC = np.full((length_N.size, len(log_odds_CK)), -np.inf)
    out_NC[length_N == 0] = log_silent_at(usage, log_odds_CK).sum(axis=1)
    for c, log_odds_K in enumerate(log_odds_CK):
        possible_K = (expit(log_odds_K) > 0.0) & (usage.shape * usage.q > 0.0)
        if possible_K.any():
            _fill(usage.of(possible_K), log_odds_K[possible_K], length_N, out_NC[:, c])
    return out_NC


def _fill(usage: Usage, log_odds_K: Float, length_N: Int, out_N: Float) -> None:
    """Fill out_N where length_N > 0, from the longest down: one circle serves a range of them."""
    todo = np.argsort(-length_N)[: np.count_nonzero(length_N)]
    while todo.size:
        longest = int(length_N[todo[0]])
        size = next_fast_len(_TURNS * longest, real=True)
        tilted = _tilt(usage, log_odds_K, longest, _WRAPPED / size)
        circle = np.empty(size // 2 + 1, complex)
        _characteristic(size, tilted.shape, tilted.q, tilted.gap, tilted.opened, circle)
        chance = np.fft.irfft(circle.conj(), size)[length_N[todo]]
        done = chance >= min(_SAFE, chance[0])
        length = length_N[todo[done]]
        out_N[todo[done]] = tilted.log_total - length * tilted.log_radius + np.log(chance[done])
        todo = todo[~done]


def _tilt(usage: Usage, log_odds_K: Float, mean: int, log_shrink: float) -> _Tilted:
    """Return the law tilted to a mean, its radius then shrunk against aliasing.

    r = (1 - v) / max q, and v = 1 / (1 + e^-x) is found by bisection in x. No small number is
    made by subtraction: q may be within 1e-16 of one.
    """
    rest_K = np.exp(usage.log_rest)
    most, least = usage.q.max(), rest_K.min()

    def at(v: float, log_left: float) -> _Tilted:
        gap_K = (rest_K - least) / most + usage.q / most * v
        lift_K = usage.shape * (usage.log_rest - np.log(gap_K))
        log_total = np.logaddexp(log_expit(-log_odds_K), log_expit(log_odds_K) + lift_K).sum()
        return _Tilted(
            log_left - math.log(most), float(log_total), usage.shape,
            usage.q / most * math.exp(log_left), gap_K, expit(log_odds_K + lift_K),
        )  # fmt: skip

    low, high = -45.0, 45.0
    for _ in range(40):
        x = 0.5 * (low + high)
        if at(float(expit(x)), float(log_expit(-x))).mean > mean:
            low = x
        else:
            high = x
    v = float(expit(low) - math.expm1(log_shrink) * expit(-low))
    return at(v, float(log_expit(-low)) + log_shrink)


@compiled
def _characteristic(
    size: int,
    shape_K: np.ndarray,
    q_K: np.ndarray,
    gap_K: np.ndarray,
    open_K: np.ndarray,
    out_J: np.ndarray,
) -> None:
    """Fill out_J with E exp(i angle N) at the angles 2 pi j / size of half a circle.

    Factors are 1 - a + a ((1 - q) / (1 - q e^(i angle)))^shape, |1 - q e^(i angle)|^2 being
    (1 - q)^2 + 4 q sin^2(angle / 2). A product too small to matter is left unfinished.
    """
    for j in range(out_J.size):
        angle = 2.0 * math.pi * j / size
        sine, square = math.sin(angle), math.sin(0.5 * angle) ** 2
        real, imaginary = 1.0, 0.0
        for k in range(q_K.size):
            gap, q = gap_K[k], q_K[k]
            modulus = open_K[k] * (1.0 + 4.0 * q * square / (gap * gap)) ** (-0.5 * shape_K[k])
            turn = shape_K[k] * math.atan2(q * sine, gap + 2.0 * q * square)
            a = 1.0 - open_K[k] + modulus * math.cos(turn)
            b = modulus * math.sin(turn)
            real, imaginary = real * a - imaginary * b, real * b + imaginary * a
            if real * real + imaginary * imaginary < 1e-40:
                break
        out_J[j] = complex(real, imaginary)
