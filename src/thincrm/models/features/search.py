"""Search for the vector of a feature, its usages summed out; maps over shards of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from thincrm.models.features.kernel import Features
from thincrm.models.features.search_kernel import Pair, look_at, strip, take_up
from thincrm.models.features.state import (
    FeatureEvidence,
    FeatureLocal,
    FeatureProblem,
    FeatureShard,
    FeatureState,
    add_evidence,
    entry_prior,
    evidence_of,
    features_of,
)
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks

__all__ = ["Search"]

L = TypeVar("L")
M = TypeVar("M")
R = TypeVar("R")
S = TypeVar("S")


class _Stripped(NamedTuple):
    """A shard's usages, and what is left of its rows without the pair."""

    local: FeatureLocal
    left_NP: Float


@dataclass(frozen=True, slots=True)
class _Strip:
    k: int
    j: int
    features: Features


@dataclass(frozen=True, slots=True)
class _Look:
    pair: Pair
    a_P: Float
    b_P: Float


@dataclass(frozen=True, slots=True)
class _Take:
    key: np.uint64
    k: int
    j: int
    look: _Look
    background: bool


def _blocks(shard: FeatureShard, work: Callable[[int, int], R]) -> list[R]:
    cuts = shard.blocks()
    return map_blocks(lambda b, _: work(cuts[b], cuts[b + 1]), len(cuts) - 1, 1)


def _strip(shard: FeatureShard, local: FeatureLocal, message: _Strip) -> tuple[_Stripped, Float]:
    left_NP = np.empty(shard.table.value_NP.shape)
    k, j, features = message.k, message.j, message.features
    _blocks(
        shard,
        lambda first, stop: strip(first, stop, k, j, shard.table, features, *local, left_NP),
    )
    return _Stripped(local, left_NP), (left_NP**2).sum(0)


def _look(
    shard: FeatureShard, here: _Stripped, message: _Look
) -> tuple[_Stripped, tuple[float, Float]]:
    def work(first: int, stop: int) -> tuple[float, Float]:
        pull = np.zeros((2, message.a_P.size))
        log = look_at(
            first, stop, shard.table, message.pair, here.left_NP, message.a_P, message.b_P, pull
        )
        return log, pull

    parts = _blocks(shard, work)
    return here, (sum(part[0] for part in parts), np.sum([part[1] for part in parts], axis=0))


def _take(
    shard: FeatureShard, here: _Stripped, message: _Take
) -> tuple[FeatureLocal, FeatureEvidence]:
    old = here.local
    local = FeatureLocal(old.used.copy(), old.weight.copy(), old.dense)
    look = message.look
    _blocks(
        shard,
        lambda first, stop: take_up(
            first, stop, message.key, message.k, message.j, shard.table, look.pair, here.left_NP,
            look.a_P, look.b_P, local.used, local.weight,
        ),
    )  # fmt: skip
    return local, evidence_of(shard, local, message.background)


def _residual(shard: FeatureShard, here: _Stripped, row: int) -> tuple[_Stripped, Float | None]:
    """Return the residual of a row, if it is in the shard."""
    place = row - shard.first
    return here, here.left_NP[place] if 0 <= place < len(here.left_NP) else None


def _likeness(
    shard: FeatureShard, here: _Stripped, message: tuple[Float, Float]
) -> tuple[_Stripped, Float]:
    """Return each row's projection on a residual, over the residual's seen cells."""
    weight_P, residual_P = message
    size_N = np.sqrt(shard.table.seen_NP @ (weight_P * residual_P) + 1e-12)
    return here, here.left_NP @ weight_P / size_N


def _sum_of(
    shard: FeatureShard, here: _Stripped, rows: Int
) -> tuple[_Stripped, tuple[Float, Float]]:
    """Return the sums over those of some rows that are in the shard."""
    places = rows - shard.first
    places = places[(places >= 0) & (places < len(here.left_NP))]
    return here, (here.left_NP[places].sum(0), shard.table.seen_NP[places].sum(0))


class Search:
    """Looks for the vector of feature k, all but it and its partner j given (j < 0: no partner)."""

    def __init__(self, problem: FeatureProblem, state: FeatureState, k: int, j: int = -1) -> None:
        self.problem, self.state, self.k, self.j = problem, state, k, j
        own, features = state.own, features_of(problem, state)
        both = [k, j if j >= 0 else k]
        self.pair = Pair(
            np.ascontiguousarray(features.log_open_TK[:, both].T),
            np.ascontiguousarray(features.log_shut_TK[:, both].T),
            features.log_mass_K[both],
            features.log_rest_K[both],
            own.noise,
            problem.likelihood.real,
        )
        self.partner_P = own.feature[j] if j >= 0 else np.zeros(own.noise.size)
        message = _Strip(k, j, features)
        self.stripped, squares = self._map(_strip, state.local, message)
        self.square_P: Float = np.sum(squares, axis=0)

    def _map(
        self, work: Callable[[FeatureShard, L, M], tuple[R, S]], local: tuple[L, ...], message: M
    ) -> tuple[tuple[R, ...], list[S]]:
        return self.problem.engine.map(work, self.problem.shards, local, message)

    @property
    def log_bare(self) -> float:
        """Return the log likelihood of the rows without the pair, up to a constant."""
        return -0.5 * float(self.square_P @ self.state.own.noise)

    def residuals(self) -> tuple[Float, ...]:
        """Return what is left of the rows, shard by shard."""
        return tuple(part.left_NP for part in self.problem.engine.fetch(self.stripped))

    def look(self, a_P: Float, b_P: Float | None = None) -> tuple[float, Float, Float]:
        """Return the candidate's log marginal likelihood, and the normal law it suggests.

        The law is that of a feature whose rows use it as they would use the candidate: mean and
        precision of every entry.
        """
        noise, beside_P = self.state.own.noise, self.partner_P if b_P is None else b_P
        _, parts = self._map(_look, self.stripped, _Look(self.pair, a_P, beside_P))
        pull = np.sum([part[1] for part in parts], axis=0)
        precision_P = noise * pull[1] + entry_prior(self.problem, self.state.own)
        return sum(part[0] for part in parts), noise * pull[0] / precision_P, precision_P

    def climb(self, row: int, share: float, n_steps: int) -> tuple[Float, Float]:
        """Return the normal law (mean, precision) reached from the rows most like a given one.

        Likeness is the projection on the row's residual, over the row's seen cells; the first
        guess is the mean residual of the `share` of rows most like it.
        """
        _, found = self._map(_residual, self.stripped, row)
        residual_P = next(part for part in found if part is not None)
        weight_P = self.state.own.noise * residual_P
        _, likes = self._map(_likeness, self.stripped, (weight_P, residual_P))
        like_N = likes[0] if len(likes) == 1 else np.concatenate(likes)
        n_like = max(2, round(share * like_N.size))
        most = np.argpartition(-like_N, min(n_like, like_N.size) - 1)[:n_like]
        _, sums = self._map(_sum_of, self.stripped, most)
        left_P, seen_P = (np.sum(part, axis=0) for part in zip(*sums, strict=True))
        a_P = left_P / np.maximum(seen_P, 1.0)
        precision_P = a_P
        for _ in range(n_steps):
            _, a_P, precision_P = self.look(a_P)
        return a_P, precision_P

    def take(self, rng: np.random.Generator, a_P: Float, b_P: Float | None = None) -> FeatureState:
        """Return the state with feature k (and j) replaced, and usages of both drawn."""
        state, problem, key = self.state, self.problem, fresh_key(rng)
        feature = state.own.feature.copy()
        feature[self.k] = a_P
        beside_P = self.partner_P if b_P is None else b_P
        if self.j >= 0:
            feature[self.j] = beside_P
        look = _Look(self.pair, a_P, beside_P)
        message = _Take(key, self.k, self.j, look, problem.likelihood.background)
        local, parts = self._map(_take, self.stripped, message)
        state = replace(state, local=local, evidence=add_evidence(parts))
        return state.with_own(feature=feature)
