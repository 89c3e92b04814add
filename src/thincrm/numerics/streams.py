"""Random streams that are opened, not handed on: keyed by (seed, chain, sweep, item).

A stream is the four words of a xoshiro256++ state (Blackman and Vigna 2021), filled by
SplitMix64 (Steele, Lea and Flood 2014) from a key and an item number. Opening one costs a few
nanoseconds, so every document and every atom has its own, and the draws are the same whatever
thread or machine makes them. The map (key, item) -> state is one-to-one.
"""

from __future__ import annotations

import numpy as np

from thincrm.numerics.arrays import Seed, as_generator
from thincrm.numerics.compiled import compiled

__all__ = ["fold_key", "fresh_key", "new_stream", "open_stream", "sweep_generator", "uniform"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_U12, _U17, _U19, _U23, _U27, _U30, _U31, _U41, _U45 = (
    np.uint64(n) for n in (12, 17, 19, 23, 27, 30, 31, 41, 45)
)
_TO_UNIT = 2.0**-52  # with 53 bits the half step would round the largest draw up to 1


@compiled
def _mix(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> _U30)) * _MIX_A
    word = (word ^ (word >> _U27)) * _MIX_B
    return word ^ (word >> _U31)


@compiled
def fold_key(key: np.uint64, number: int) -> np.uint64:
    """Return the key of branch `number` of `key`: fold_key(fold_key(seed, chain), sweep).

    Outside compiled code wrap it: `np.uint64(fold_key(...))`, since numba returns a Python int.
    """
    return _mix(_mix(np.uint64(key) + _GOLDEN) ^ (np.uint64(number) * _GOLDEN + _MIX_B))


@compiled
def open_stream(state: np.ndarray, key: np.uint64, item: int) -> None:
    """Fill `state` (4 uint64) with the stream of `item` under `key`."""
    word = np.uint64(item)
    start = np.uint64(key) + _GOLDEN  # a signed key would be added as a float
    state[0] = _mix(start)
    state[1] = _mix(start + _GOLDEN)
    state[2] = _mix(word ^ state[0])
    state[3] = _mix(word + state[1])


@compiled
def new_stream(key: np.uint64, item: int) -> np.ndarray:
    """Return a new stream of `item` under `key`."""
    state = np.empty(4, np.uint64)
    open_stream(state, key, item)
    return state


@compiled
def uniform(state: np.ndarray) -> float:
    """Return a uniform in the open interval (0, 1): its log is always finite."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    total = s0 + s3
    out = ((total << _U23) | (total >> _U41)) + s0
    shifted = s1 << _U17
    s2 ^= s0
    s3 ^= s1
    state[1] = s1 ^ s2
    state[0] = s0 ^ s3
    state[2] = s2 ^ shifted
    state[3] = (s3 << _U45) | (s3 >> _U19)
    return (np.float64(out >> _U12) + 0.5) * _TO_UNIT


def fresh_key(rng: Seed) -> np.uint64:
    """Take one 64-bit key for compiled streams out of a NumPy generator."""
    return np.uint64(as_generator(rng).integers(0, 2**64, dtype=np.uint64))


def sweep_generator(seed: int, *path: int) -> np.random.Generator:
    """Return the generator of (seed, chain, sweep, ...): no state to save, only its address."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=path)))
