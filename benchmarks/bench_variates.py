"""Nanoseconds per draw, ours (one stream, compiled) and NumPy's (vectorised), on one core."""

import numpy as np
from scipy.stats import truncnorm

from clock import best_seconds
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, open_stream, uniform
from thincrm.numerics.variates import binomial, gamma, log_gamma, normal, positive_normal

N = 200_000
KEY = np.uint64(1)
RNG = np.random.default_rng(1)


@compiled
def uniforms(n):
    state, total = new_stream(KEY, 0), 0.0
    for _ in range(n):
        total += uniform(state)
    return total


@compiled
def normals(n):
    state, total = new_stream(KEY, 0), 0.0
    for _ in range(n):
        total += normal(state)
    return total


@compiled
def gammas(n):
    state, total = new_stream(KEY, 0), 0.0
    for _ in range(n):
        total += gamma(state, 2.5)
    return total


@compiled
def log_gammas(n):
    state, total = new_stream(KEY, 0), 0.0
    for _ in range(n):
        total += log_gamma(state, 0.3)
    return total


@compiled
def binomials(n):
    state, total = new_stream(KEY, 0), 0
    for _ in range(n):
        total += binomial(state, 1000, 0.3)
    return total


@compiled
def truncated(n):
    state, total = new_stream(KEY, 0), 0.0
    for _ in range(n):
        total += positive_normal(state, -1.0)
    return total


@compiled
def streams(n):
    state, total = new_stream(KEY, 0), 0.0
    for item in range(n):
        open_stream(state, KEY, item)
        total += uniform(state)
    return total


CASES = {
    "uniform": (uniforms, RNG.random),
    "normal": (normals, RNG.standard_normal),
    "gamma, shape 2.5": (gammas, lambda n: RNG.standard_gamma(2.5, n)),
    "log gamma, shape 0.3 (NumPy: gamma)": (log_gammas, lambda n: RNG.standard_gamma(0.3, n)),
    "binomial(1000, 0.3)": (binomials, lambda n: RNG.binomial(1000, 0.3, n)),
    "N(-1, 1) above 0 (SciPy: truncnorm)": (
        truncated,
        lambda n: truncnorm.rvs(1.0, np.inf, loc=-1.0, size=n, random_state=RNG),
    ),
    "new stream and its first draw": (streams, None),
}


def main():
    print(f"  {'':36} {'ours':>8} {'NumPy':>8}   ns per draw")
    for name, (ours, theirs) in CASES.items():
        times = [best_seconds(lambda draw=draw: draw(N)) for draw in (ours, theirs) if draw]
        print(f"  {name:36} " + " ".join(f"{1e9 * seconds / N:8.1f}" for seconds in times))


if __name__ == "__main__":
    main()
