"""Compiled: a cloud of particles, each with topics for the first tokens of one document."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thincrm.numerics.compiled import compiled

__all__ = [
    "Candidates",
    "Cloud",
    "add",
    "drop",
    "fit",
    "learn",
    "settle",
    "unused_topic",
    "used_topic",
    "walk",
]


class Candidates(NamedTuple):
    """What tokens weigh at each candidate: the pieces of `likelihood.documents`, u in doubles."""

    theta: np.ndarray  # P x K
    unused: np.ndarray  # C x K: u
    unused_of: np.ndarray  # K x C: the same
    total: np.ndarray  # P x C: sum_k theta_kp u_ck
    shape: np.ndarray  # K
    gain: np.ndarray  # K: q
    fade: np.ndarray  # J
    echo: np.ndarray  # J


class Cloud(NamedTuple):
    """S particles: their weights, used topics and chances of the candidates."""

    weight: np.ndarray  # S
    chance: np.ndarray  # S x C
    topic: np.ndarray  # S x N: of each token so far
    n_used: np.ndarray  # S
    used: np.ndarray  # S x J
    size: np.ndarray  # S x J: tokens of a used topic
    excess: np.ndarray  # S x J: what they add to the weight it has unused
    part: np.ndarray  # J: scratch
    ring: np.ndarray  # N: the next token so far of the same word, round and round


@compiled
def walk(height: float, weight_J: np.ndarray, size: int) -> tuple[int, float]:
    """Return where the running sum of weights passes `height`, and what is left of it there."""
    chosen = 0
    for j in range(size):
        if weight_J[j] > 0.0:
            chosen = j
            if height < weight_J[j]:
                break
            height -= weight_J[j]
    return chosen, height


@compiled
def unused_topic(height: float, theta_K: np.ndarray, unused_K: np.ndarray) -> int:
    """Return the topic at `height` of the running sum of theta u."""
    topic = 0
    for k in range(theta_K.size):
        weight = theta_K[k] * unused_K[k]
        if weight > 0.0:
            topic = k
            if height < weight:
                break
            height -= weight
    return topic


@compiled
def _slot(cloud: Cloud, s: int, k: int) -> int:
    """Return where particle s has topic k; n_used if it has not."""
    slot = 0
    while slot < cloud.n_used[s] and cloud.used[s, slot] != k:
        slot += 1
    return slot


@compiled
def _echo(model: Candidates, cloud: Cloud, s: int, k: int) -> float:
    """Return what a token in topic k adds to the weight there of another of the same word."""
    size = cloud.size[s, _slot(cloud, s, k)]
    return float((model.shape[k] + size) * model.gain[k] * model.echo[size])


@compiled
def fit(model: Candidates, cloud: Cloud, s: int, n: int, p: int) -> tuple[float, float]:
    """Return what used topics add to the weight of token n: as topics, and as echoes of word p."""
    plain, echo = 0.0, 0.0
    for j in range(cloud.n_used[s]):
        cloud.part[j] = model.theta[p, cloud.used[s, j]] * cloud.excess[s, j]
        plain += cloud.part[j]
    if model.echo[0] > 0.0:
        other = cloud.ring[n]
        while other != n:
            echo += _echo(model, cloud, s, cloud.topic[s, other])
            other = cloud.ring[other]
    return plain, echo


@compiled
def used_topic(height: float, plain: float, model: Candidates, cloud: Cloud, s: int, n: int) -> int:
    """Return the topic at `height` of what `fit` has just found."""
    k = -1
    if height >= plain:
        left, other = height - plain, cloud.ring[n]
        while other != n and left >= 0.0:
            k = cloud.topic[s, other]
            left -= _echo(model, cloud, s, k)
            other = cloud.ring[other]
    if k < 0:
        slot, _ = walk(height, cloud.part, cloud.n_used[s])
        k = cloud.used[s, slot]
    return k


@compiled
def _weight(model: Candidates, k: int, size: int) -> float:
    """Return the weight of a used topic without its theta."""
    return float((model.shape[k] + size) * model.gain[k] * model.fade[size])


@compiled
def add(model: Candidates, cloud: Cloud, s: int, k: int, unused: float) -> None:
    """Add a token to topic k of particle s; `unused` is the topic's weight if it is new."""
    slot = _slot(cloud, s, k)
    if slot == cloud.n_used[s]:
        cloud.used[s, slot] = k
        cloud.size[s, slot] = 0
        cloud.excess[s, slot] = _weight(model, k, 0) - unused
        cloud.n_used[s] += 1
    size = cloud.size[s, slot]
    cloud.excess[s, slot] += _weight(model, k, size + 1) - _weight(model, k, size)
    cloud.size[s, slot] = size + 1


@compiled
def drop(model: Candidates, cloud: Cloud, s: int, k: int) -> None:
    """Take a token out of topic k of particle s."""
    slot = _slot(cloud, s, k)
    size = cloud.size[s, slot]
    cloud.excess[s, slot] += _weight(model, k, size - 1) - _weight(model, k, size)
    cloud.size[s, slot] = size - 1
    if size == 1:
        cloud.n_used[s] -= 1
        last = cloud.n_used[s]
        cloud.used[s, slot] = cloud.used[s, last]
        cloud.size[s, slot] = cloud.size[s, last]
        cloud.excess[s, slot] = cloud.excess[s, last]


@compiled
def learn(model: Candidates, cloud: Cloud, s: int, k: int) -> None:
    """Update the chances of the candidates: p(t | z) ~ p(t) times u_tk of every used topic."""
    total = 0.0
    for c in range(cloud.chance.shape[1]):
        cloud.chance[s, c] *= model.unused_of[k, c]
        total += cloud.chance[s, c]
    for c in range(cloud.chance.shape[1]):
        cloud.chance[s, c] /= total


@compiled
def settle(model: Candidates, cloud: Cloud, s: int) -> None:
    """Set the excesses of particle s to the present chances of the candidates."""
    for j in range(cloud.n_used[s]):
        k = cloud.used[s, j]
        unused = 0.0
        for c in range(cloud.chance.shape[1]):
            unused += cloud.chance[s, c] * model.unused_of[k, c]
        cloud.excess[s, j] = _weight(model, k, cloud.size[s, j]) - unused
