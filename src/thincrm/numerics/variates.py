"""Compiled random variates, in logs where the plain value would underflow.

Every function takes a stream (`streams.open_stream`) first. `Gamma(shape, rate)` throughout.
"""

from __future__ import annotations

import math

import numpy as np

from thincrm.numerics.cholesky import factor, solve_factor, solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import uniform

__all__ = [
    "beta_logs",
    "binomial",
    "crt",
    "crt_sum",
    "gamma",
    "gaussian_from_precision",
    "log_dirichlet",
    "log_gamma",
    "multinomial",
    "normal",
    "poisson",
    "positive_normal",
]

_FAR = 1e8  # standard deviations


@compiled
def normal(state: np.ndarray) -> float:
    """Return a standard normal (Marsaglia's polar method)."""
    while True:
        u = 2.0 * uniform(state) - 1.0
        v = 2.0 * uniform(state) - 1.0
        square = u * u + v * v
        if 0.0 < square < 1.0:
            return float(u * math.sqrt(-2.0 * math.log(square) / square))


@compiled
def _gamma_at_least_one(state: np.ndarray, shape: float) -> float:
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(state)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = uniform(state)
        if u < 1.0 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@compiled
def log_gamma(state: np.ndarray, shape: float) -> float:
    """Return log G, G ~ Gamma(shape, 1), for any shape > 0: log G(a) = log G(a+1) + log(U)/a."""
    if shape >= 1.0:
        return math.log(_gamma_at_least_one(state, shape))
    return math.log(_gamma_at_least_one(state, shape + 1.0)) + math.log(uniform(state)) / shape


@compiled
def gamma(state: np.ndarray, shape: float) -> float:
    """Return G ~ Gamma(shape, 1); exactly 0 where it underflows (use `log_gamma` there)."""
    if shape >= 1.0:
        return _gamma_at_least_one(state, shape)
    return math.exp(log_gamma(state, shape))


@compiled
def beta_logs(state: np.ndarray, a: float, b: float) -> tuple[float, float]:
    """Return (log x, log(1 - x)) for x ~ Beta(a, b)."""
    log_x = log_gamma(state, a)
    log_y = log_gamma(state, b)
    top = max(log_x, log_y)
    log_sum = top + math.log(math.exp(log_x - top) + math.exp(log_y - top))
    return log_x - log_sum, log_y - log_sum


@compiled
def log_dirichlet(state: np.ndarray, shape_P: np.ndarray, out_P: np.ndarray) -> None:
    """Fill `out_P` with the logs of a Dirichlet(shape_P) draw."""
    top = -np.inf
    for p in range(shape_P.size):
        out_P[p] = log_gamma(state, shape_P[p])
        top = max(top, out_P[p])
    total = 0.0
    for p in range(shape_P.size):
        total += math.exp(out_P[p] - top)
    log_total = top + math.log(total)
    for p in range(shape_P.size):
        out_P[p] -= log_total


@compiled
def positive_normal(state: np.ndarray, mean: float) -> float:
    """Return x ~ N(mean, 1) given x > 0, at any mean (Robert 1995 below -0.5)."""
    if mean > -0.5:
        while True:
            x = mean + normal(state)
            if x > 0.0:
                return x
    if not mean > -_FAR:  # exponential to the last bit; squares would overflow
        return float(math.log(uniform(state)) / mean)
    rate = 0.5 * (math.sqrt(mean * mean + 4.0) - mean)
    while True:
        x = -math.log(uniform(state)) / rate
        gap = x - mean - rate
        if math.log(uniform(state)) <= -0.5 * gap * gap:
            return x


@compiled
def _stirling_tail(k: float) -> float:
    """Return log k! minus Stirling's leading terms (Hoermann 1993)."""
    table = (
        0.08106146679532726,
        0.04134069595540929,
        0.02767792568499834,
        0.02079067210376509,
        0.01664469118982119,
        0.01387612882307075,
        0.01189670994589177,
        0.01041126526197209,
        0.009255462182712733,
        0.008330563433362871,
    )
    if k < 10:
        return table[int(k)]
    inverse = 1.0 / (k + 1.0)
    square = inverse * inverse
    return (1.0 / 12.0 - (1.0 / 360.0 - square / 1260.0) * square) * inverse


@compiled
def _binomial_rejection(state: np.ndarray, n: int, p: float) -> int:
    """Draw by transformed rejection with squeeze, n p >= 10 and p <= 1/2 (Hoermann 1993, BTRS)."""
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    mode = math.floor((n + 1) * p)
    odds = p / (1.0 - p)
    while True:
        u = uniform(state) - 0.5
        v = uniform(state)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + c)
        if us >= 0.07 and v <= v_r:
            return int(k)
        if k < 0 or k > n:
            continue
        v = math.log(v * alpha / (a / (us * us) + b))
        bound = (
            (mode + 0.5) * math.log((mode + 1.0) / (odds * (n - mode + 1.0)))
            + (n + 1.0) * math.log((n - mode + 1.0) / (n - k + 1.0))
            + (k + 0.5) * math.log(odds * (n - k + 1.0) / (k + 1.0))
            + _stirling_tail(mode)
            + _stirling_tail(n - mode)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        if v <= bound:
            return int(k)


@compiled
def binomial(state: np.ndarray, n: int, p: float) -> int:
    """Return a Binomial(n, p) draw: by waiting times for small n p, by rejection for large."""
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - binomial(state, n, 1.0 - p)
    if n * p >= 10.0:
        return _binomial_rejection(state, n, p)
    u = uniform(state)
    if u <= 1.0 - n * p:  # <= (1 - p)^n
        return 0
    log_q = math.log1p(-p)
    successes = 0
    trials = 0.0
    while True:
        wait = math.log(u) / log_q
        if not wait < n:  # too long for an integer when p is tiny
            return successes
        trials += math.floor(wait) + 1.0
        if trials > n:
            return successes
        successes += 1
        u = uniform(state)


@compiled
def poisson(state: np.ndarray, mean: float) -> int:
    """Return a Poisson(mean) draw: a large mean is cut at a gamma arrival (Ahrens, Dieter 1974).

    The m-th arrival is x ~ Gamma(m, 1). Beyond the mean, Binomial(m - 1, mean / x) come before;
    else m, and those in what is left of the mean.
    """
    count = 0
    while mean > 16.0:
        m = int(0.875 * mean)
        arrival = gamma(state, float(m))
        if arrival > mean:
            return count + binomial(state, m - 1, mean / arrival)
        count += m
        mean -= arrival
    limit, product = math.exp(-mean), uniform(state)
    while product > limit:
        count += 1
        product *= uniform(state)
    return count


@compiled
def multinomial(state: np.ndarray, n: int, weight_K: np.ndarray, out_K: np.ndarray) -> None:
    """Fill `out_K` with a Multinomial(n, weight_K / sum) draw, by conditional binomials."""
    rest = weight_K.sum()
    left = n
    for k in range(weight_K.size):
        if left > 0 and k + 1 < weight_K.size:
            out_K[k] = binomial(state, left, min(1.0, weight_K[k] / rest) if rest > 0.0 else 0.0)
        else:
            out_K[k] = left
        left -= out_K[k]
        rest -= weight_K[k]


@compiled
def crt(state: np.ndarray, n: int, concentration: float) -> int:
    """Return the tables of a Chinese restaurant: sum over j < n of Bernoulli(a / (a + j)).

    From j to 2j the chances are at most a / (a + j): guests are skipped to the next that would
    open a table at that chance, so the work grows as (1 + a) log n.
    """
    tables, j = min(n, 1), 1
    while j < n:
        bound, end = concentration + j, min(n, 2 * j)
        log_shut = math.log1p(-concentration / bound)
        while True:
            skipped = math.log(uniform(state)) / log_shut
            if not skipped < end - j:
                j = end
                break
            j += int(skipped)
            if uniform(state) * (concentration + j) < bound:
                tables += 1
            j += 1
    return tables


@compiled
def crt_sum(state: np.ndarray, above_J: np.ndarray, concentration: float) -> int:
    """Return the sum of CRT(n_i, a) over items, from above_J[j] = number of items with n_i > j."""
    tables = 0
    for j in range(above_J.size):
        tables += binomial(state, above_J[j], concentration / (concentration + j))
    return tables


@compiled
def gaussian_from_precision(
    state: np.ndarray, precision_JJ: np.ndarray, shift_J: np.ndarray, out_J: np.ndarray
) -> None:
    """Fill `out_J` with a N(Q^-1 b, Q^-1) draw, Q = precision, b = shift; Q is overwritten.

    Q = R'R, then R out = R'^-1 b + normals: never an inverse, never a jitter.
    """
    factor(precision_JJ)
    out_J[:] = shift_J
    solve_transposed(precision_JJ, out_J)
    for j in range(out_J.size):
        out_J[j] += normal(state)
    solve_factor(precision_JJ, out_J)
