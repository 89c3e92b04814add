"""One partition for many draws: the one of least expected variation of information.

    VI(a, b) = (1/N) [ Σ_k f(n_k) + Σ_j f(m_j) - 2 Σ_kj f(n_kj) ],   f(n) = n log n,  in nats

with n_kj the rows in cluster k of a and cluster j of b (Meilă 2007; Wade and Ghahramani 2018). The
search starts from several draws; rows move one at a time, then whole clusters merge, as long as the
expectation falls. A row that is now of one cluster, now of another, is best alone by that measure,
though it hardly ever is in a draw: clusters that fewer than half of the draws have are given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from thincrm.errors import check_between
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled

__all__ = ["CredibleBall", "Partition", "by_size", "variation_of_information"]

_MOST_DRAWS, _MOST_ROWS = 200, 20_000  # looked at in the search
_STARTS, _PASSES = 3, 30
_LEAST_GAIN = 1e-9
_LEAST_PRESENCE = 0.5


class CredibleBall(NamedTuple):
    """The draws that are nearest to the partition, as many as the level says.

    Attributes
    ----------
    radius : float
        Their largest variation of information from the partition, in nats.
    horizontal : (N,) int
        The partition at that distance.
    upper : (N,) int
        Of those in the ball with the fewest clusters, the farthest.
    lower : (N,) int
        Of those with the most clusters, the farthest.
    """

    radius: float
    horizontal: Int
    upper: Int
    lower: Int


class Partition:
    """The partition that draws of labels agree on, and how much they do.

    Parameters
    ----------
    labels_BN : sequence of (N,) int
        Cluster of every row, in every draw.
    """

    def __init__(self, labels_BN: Sequence[np.ndarray]) -> None:
        self.labels_BN = labels_BN

    @cached_property
    def labels(self) -> Int:
        """Return the (N,) partition, the largest cluster first."""
        n_draws, n_rows = len(self.labels_BN), len(self.labels_BN[0])
        draws = spread(n_draws, _MOST_DRAWS)
        rows = spread(n_rows, _MOST_ROWS)
        sample_BN = np.stack([self.labels_BN[b][rows] for b in draws]).astype(np.int32)
        found = dissolved(by_size(least_expected(sample_BN)), sample_BN)
        if rows.size < n_rows:
            found = self._extended(found, rows, draws)
        return by_size(found)

    def _extended(self, found: Int, rows: Int, draws: Int) -> Int:
        """Return all rows' clusters: each goes where the rows beside it, over draws, are."""
        n_clusters = int(found.max()) + 1
        total = np.zeros((len(self.labels_BN[0]), n_clusters))
        for b in draws:
            label_N = self.labels_BN[b]
            table_JK = contingency(label_N[rows], found)
            share_JK = np.zeros((int(label_N.max()) + 1, n_clusters))
            share_JK[: len(table_JK)] = table_JK / np.maximum(table_JK.sum(1, keepdims=True), 1)
            total += share_JK[label_N]
        out: Int = total.argmax(1)
        out[rows] = found
        return out

    @cached_property
    def distances(self) -> Float:
        """Return the (B,) variations of information of the draws from the partition."""
        return np.array([variation_of_information(self.labels, draw) for draw in self.labels_BN])

    def ball(self, level: float) -> CredibleBall:
        """Return the credible ball that holds `level` of the draws."""
        check_between("level", level, 0.0, 1.0)
        radius = float(np.quantile(self.distances, level, method="higher"))
        inside = np.flatnonzero(self.distances <= radius)
        far = inside[np.argsort(-self.distances[inside], kind="stable")]
        size = np.array([np.unique(self.labels_BN[b]).size for b in far])
        chosen = (far[0], far[size.argmin()], far[size.argmax()])
        return CredibleBall(radius, *(by_size(self.labels_BN[b]) for b in chosen))

    def similarity(self, rows: Int) -> Float:
        """Return the (R, R) shares of draws in which two of the rows are in one cluster."""
        total = np.zeros((rows.size, rows.size))
        for label_N in self.labels_BN:
            mine = label_N[rows]
            total += mine[:, None] == mine
        return total / len(self.labels_BN)


def spread(size: int, most: int) -> Int:
    """Return at most `most` places of so many, evenly spread."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(np.int64))


def by_size(label_N: np.ndarray) -> Int:
    """Return labels 0, 1, ... in the order of size, ties in the order of first rows."""
    _, first, place, count = np.unique(
        label_N, return_index=True, return_inverse=True, return_counts=True
    )
    name = np.empty(count.size, np.int64)
    name[np.lexsort((first, -count))] = np.arange(count.size)
    return np.asarray(name[place.reshape(-1)])


def contingency(a_N: np.ndarray, b_N: np.ndarray) -> Int:
    """Return how many rows are in cluster k of a and j of b."""
    n_a, n_b = int(a_N.max()) + 1, int(b_N.max()) + 1
    place = a_N.astype(np.int64) * n_b + b_N
    return np.bincount(place, minlength=n_a * n_b).reshape(n_a, n_b)


def _times_log(count: np.ndarray) -> Float:
    return np.asarray(count * np.log(np.maximum(count, 1)))


def variation_of_information(a_N: np.ndarray, b_N: np.ndarray) -> float:
    """Return the variation of information of two partitions, in nats."""
    table = contingency(a_N, b_N)
    both = _times_log(table).sum()
    alone = _times_log(table.sum(0)).sum() + _times_log(table.sum(1)).sum()
    return max(float(alone - 2.0 * both) / a_N.size, 0.0)


def least_expected(label_BN: np.ndarray) -> Int:
    """Return the best partition that the search finds."""
    n_rows = label_BN.shape[1]
    gain_n = np.diff(_times_log(np.arange(n_rows + 2)))
    expected = np.array([_expected(label_BN, draw) for draw in label_BN])
    starts = [label_BN[b] for b in np.argsort(expected, kind="stable")[:_STARTS]]
    starts.append(np.zeros(n_rows, np.int32))
    best, found = np.inf, np.zeros(n_rows, np.int64)
    for start in starts:
        label_N = by_size(start).astype(np.int32)
        _settle(label_N, label_BN, gain_n)
        value = _expected(label_BN, label_N)
        if value < best - _LEAST_GAIN:
            best, found = value, label_N.astype(np.int64)
    return found


def dissolved(label_N: Int, label_BN: np.ndarray) -> Int:
    """Return labels without clusters that fewer than half of the draws have.

    Such are rows of which it is not known where they belong: each goes where it is most often. A
    draw has a cluster if one of its own has most of its rows there.
    """
    home_BN, n_clusters = np.empty(label_BN.shape, np.int64), int(label_N.max()) + 1
    presence_K = np.zeros(n_clusters)
    for home_N, draw_N in zip(home_BN, label_BN, strict=True):
        home = contingency(draw_N, label_N).argmax(1)
        home_N[:] = home[draw_N]
        presence_K[np.unique(home)] += 1.0 / len(label_BN)
    left = presence_K >= _LEAST_PRESENCE
    out = label_N.copy()
    if left.any():
        for n in np.flatnonzero(~left[label_N]):
            votes = np.bincount(home_BN[:, n], minlength=n_clusters) * left
            out[n] = votes.argmax() if votes.any() else np.flatnonzero(left)[0]
    return by_size(out)


def _expected(label_BN: np.ndarray, label_N: np.ndarray) -> float:
    """Return the mean variation of information from the draws, less what all partitions share."""
    both = np.mean([_times_log(contingency(label_N, draw)).sum() for draw in label_BN])
    return float(_times_log(np.bincount(label_N)).sum() - 2.0 * both) / label_N.size


def _settle(label_N: np.ndarray, label_BN: np.ndarray, gain_n: Float) -> None:
    """Move rows and merge clusters, in place, until nothing gains."""
    n_clusters = int(max(label_BN.max(), label_N.max())) + 2
    for _ in range(_PASSES):
        table_BJK = np.zeros((len(label_BN), int(label_BN.max()) + 1, n_clusters), np.int64)
        _count(label_N, label_BN, table_BJK)
        size_K = np.bincount(label_N, minlength=n_clusters)
        for _ in range(_PASSES):
            if not _move_rows(label_N, label_BN, table_BJK, size_K, gain_n):
                break
        pair = _best_merge(table_BJK, size_K)
        if pair is None:
            return
        label_N[label_N == pair[1]] = pair[0]


def _best_merge(table_BJK: np.ndarray, size_K: np.ndarray) -> tuple[int, int] | None:
    """Return the two clusters whose merge lowers the expectation most, if one does."""
    best, found = -_LEAST_GAIN * size_K.sum(), None
    used = np.flatnonzero(size_K)
    alone_BJK = _times_log(table_BJK)
    for place, k in enumerate(used):
        rest = used[place + 1 :]
        merged = _times_log(table_BJK[:, :, k, None] + table_BJK[:, :, rest])
        both = merged - alone_BJK[:, :, k, None] - alone_BJK[:, :, rest]
        change = _times_log(size_K[k] + size_K[rest]) - _times_log(size_K[rest])
        change = change - _times_log(size_K[k]) - 2.0 * both.sum((0, 1)) / len(table_BJK)
        if rest.size and change.min() < best:
            best, found = float(change.min()), (int(k), int(rest[change.argmin()]))
    return found


@compiled
def _count(label_N: np.ndarray, label_BN: np.ndarray, table_BJK: np.ndarray) -> None:
    for b in range(label_BN.shape[0]):
        for n in range(label_N.size):
            table_BJK[b, label_BN[b, n], label_N[n]] += 1


@compiled
def _move_rows(
    label_N: np.ndarray, label_BN: np.ndarray, table_BJK: np.ndarray, size_K: np.ndarray,
    gain_n: np.ndarray,
) -> bool:  # fmt: skip
    """Move every row to where the expectation is least; tell whether one moved.

    gain_n[n] = f(n + 1) - f(n). An empty cluster costs nothing to a row alone.
    """
    n_draws, n_clusters = label_BN.shape[0], size_K.size
    cost_K = np.empty(n_clusters)
    moved = False
    for n in range(label_N.size):
        old = label_N[n]
        size_K[old] -= 1
        cost_K[:] = 0.0
        for b in range(n_draws):
            row_K = table_BJK[b, label_BN[b, n]]
            row_K[old] -= 1
            for k in range(n_clusters):
                cost_K[k] += gain_n[row_K[k]]
        new, least = old, gain_n[size_K[old]] - 2.0 * cost_K[old] / n_draws - 1e-9
        for k in range(n_clusters):
            cost = gain_n[size_K[k]] - 2.0 * cost_K[k] / n_draws
            if cost < least:
                new, least = k, cost
        label_N[n] = new
        size_K[new] += 1
        for b in range(n_draws):
            table_BJK[b, label_BN[b, n], new] += 1
        moved = moved or new != old
    return moved
