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
_SAFE = 1e-7  # tilted probabilities from here on have relative errors below 1e-8 by rounding,
_SEEN = 1e-7  # and from here on, before the radius is shrunk, by aliasing
_NOISE = 1e-12  # below it a tilted probability is mostly rounding
_ROOM = 2**22  # points of all circles at a time


class _Tilted(NamedTuple):
    """What the laws P_r of all candidates have in common, for topics that can be open."""

    log_radius: float
    shape: Float  # K
    q: Float  # K: q r
    gap: Float  # K: 1 - q r
    lift: Float  # K: log of what r makes of an open topic's chance

    def opened(self, log_odds_CK: Float) -> Float:
        """Return P_r(topic is open)."""
        return np.asarray(expit(log_odds_CK + self.lift))

    def log_total(self, log_odds_CK: Float) -> Float:
        """Return log G(r)."""
        part = np.logaddexp(log_expit(-log_odds_CK), log_expit(log_odds_CK) + self.lift)
        return np.asarray(part.sum(axis=-1))

    def mean(self, log_odds_K: Float) -> float:
        return float(np.sum(self.opened(log_odds_K) * self.shape * self.q / self.gap))


def log_length(usage: Usage, log_odds_CK: Float, length_N: Int) -> Float:
    """Return the (N, C) log probabilities of documents of given lengths at each candidate."""
    if usage.log_share is not None:
        parts = [log_length(usage.at(b), log_odds_CK, length_N) for b in range(len(usage.q))]
        return np.asarray(logsumexp(parts, axis=0, b=np.exp(usage.log_share)[:, None, None]))
    out_NC = np.full((length_N.size, len(log_odds_CK)), -np.inf)
    out_NC[length_N == 0] = log_silent_at(usage, log_odds_CK).sum(axis=1)
    possible_CK = (expit(log_odds_CK) > 0.0) & (usage.shape * usage.q > 0.0)
    todo_NC = (length_N > 0)[:, None] & possible_CK.any(axis=1)
    while todo_NC.any():
        _fill(usage, log_odds_CK, possible_CK, length_N, todo_NC, out_NC)
    return out_NC


def _fill(
    usage: Usage,
    log_odds_CK: Float,
    possible_CK: np.ndarray,
    length_N: Int,
    todo_NC: np.ndarray,
    out_NC: Float,
) -> None:
    """Fill what one circle gives of what is to do: the longest, at one candidate, and many others.

    The radius suits that candidate. The powers on the circle are the same for all candidates whose
    topics are among its own, so these are filled too, wherever the error is small.
    """
    longest = int(length_N[todo_NC.any(axis=1)].max())
    left_C = np.flatnonzero(todo_NC[length_N == longest].any(axis=0))
    first = left_C[left_C.size // 2]
    possible_K = possible_CK[first]
    size = next_fast_len(_TURNS * longest, real=True)
    alike_C = np.flatnonzero(todo_NC.any(axis=0) & ~possible_CK[:, ~possible_K].any(axis=1))
    nearest = np.argsort(np.abs(alike_C - first), kind="stable")
    member_M = alike_C[nearest[: max(1, _ROOM // size)]]
    odds_MK, log_shrink = log_odds_CK[np.ix_(member_M, possible_K)], _WRAPPED / size
    saddle, tilted = _tilt(usage.of(possible_K), odds_MK[0], longest, log_shrink)
    circle_MJ = np.empty((member_M.size, size // 2 + 1), complex)
    opened_MK = tilted.opened(odds_MK)
    _characteristic(size, tilted.shape, tilted.q, tilted.gap, opened_MK, circle_MJ)
    chance_NM = np.fft.irfft(circle_MJ.conj(), size, axis=1).T[np.minimum(length_N, longest)]
    log_total_M = tilted.log_total(odds_MK)
    log_lost_M = log_total_M - saddle.log_total(odds_MK)
    log_chance_NM = np.log(np.maximum(chance_NM, 1e-300))
    own = chance_NM[length_N == longest, 0][0]
    sure_NM = chance_NM >= min(_SAFE, max(own, _NOISE))
    sure_NM &= log_chance_NM - length_N[:, None] * log_shrink + log_lost_M >= math.log(_SEEN)
    sure_NM[length_N == longest, 0] = True
    done_NM = sure_NM & todo_NC[:, member_M]
    log_NM = log_total_M - length_N[:, None] * tilted.log_radius + log_chance_NM
    out_NC[:, member_M] = np.where(done_NM, log_NM, out_NC[:, member_M])
    todo_NC[:, member_M] &= ~done_NM


def _tilt(usage: Usage, log_odds_K: Float, mean: int, log_shrink: float) -> tuple[_Tilted, _Tilted]:
    """Return the law tilted to a mean, and with its radius then shrunk against aliasing.

    r = (1 - v) / max q, and v = 1 / (1 + e^-x) is found by bisection in x. No small number is
    made by subtraction: q may be within 1e-16 of one.
    """
    rest_K = np.exp(usage.log_rest)
    most, least = usage.q.max(), rest_K.min()

    def at(v: float, log_left: float) -> _Tilted:
        gap_K = (rest_K - least) / most + usage.q / most * v
        lift_K = usage.shape * (usage.log_rest - np.log(gap_K))
        q_K = usage.q / most * math.exp(log_left)
        return _Tilted(log_left - math.log(most), usage.shape, q_K, gap_K, lift_K)

    low, high = -45.0, 45.0
    for _ in range(40):
        x = 0.5 * (low + high)
        if at(float(expit(x)), float(log_expit(-x))).mean(log_odds_K) > mean:
            low = x
        else:
            high = x
    v, log_left = float(expit(low)), float(log_expit(-low))
    shrunk = v - math.expm1(log_shrink) * float(expit(-low))
    return at(v, log_left), at(shrunk, log_left + log_shrink)


@compiled
def _characteristic(
    size: int,
    shape_K: np.ndarray,
    q_K: np.ndarray,
    gap_K: np.ndarray,
    open_CK: np.ndarray,
    out_CJ: np.ndarray,
) -> None:
    """Fill out_CJ with E exp(i angle N) at the angles 2 pi j / size of half a circle.

    Factors are 1 - a + a ((1 - q) / (1 - q e^(i angle)))^shape, |1 - q e^(i angle)|^2 being
    (1 - q)^2 + 4 q sin^2(angle / 2). A product too small to matter is left unfinished.
    """
    real_K, imaginary_K = np.empty(q_K.size), np.empty(q_K.size)
    for j in range(out_CJ.shape[1]):
        angle = 2.0 * math.pi * j / size
        sine, square = math.sin(angle), math.sin(0.5 * angle) ** 2
        for k in range(q_K.size):
            gap, q = gap_K[k], q_K[k]
            modulus = (1.0 + 4.0 * q * square / (gap * gap)) ** (-0.5 * shape_K[k])
            turn = shape_K[k] * math.atan2(q * sine, gap + 2.0 * q * square)
            real_K[k], imaginary_K[k] = modulus * math.cos(turn), modulus * math.sin(turn)
        for c in range(open_CK.shape[0]):
            real, imaginary = 1.0, 0.0
            for k in range(q_K.size):
                a = 1.0 - open_CK[c, k] + open_CK[c, k] * real_K[k]
                b = open_CK[c, k] * imaginary_K[k]
                real, imaginary = real * a - imaginary * b, real * b + imaginary * a
                if real * real + imaginary * imaginary < 1e-40:
                    break
            out_CJ[c, j] = complex(real, imaginary)
