"""Split a cluster in two, or merge two: a Metropolis move on (c, x, π, θ), gates summed out.

Two rows n, m are drawn. Of one cluster i, an empty atom j is drawn and i's rows shared out between
i and j; of two clusters, j's rows go to i and j is empty. θ is integrated out given the rows'
augmentations, so a cluster's factor is its marginal likelihood. Given the clocks an atom's factor
is H(x) f_K(π) π^n e^g (`atoms`), and

    log ratio of a split = log [factors after / before] - log q(shares) + log(empty atoms)

* Shares (Jain and Neal 2004): a few rounds from n and m alone give two laws and two weights, the
  same way for a split and for the merge that undoes it; rows are then drawn independently.
* x: M candidates from H, one taken with chances w(x), so H cancels and the ratio gains the mean of
  w over w(x). The move back puts the atom's x among M - 1 others. An emptied atom's x is from H.
  With chance 1/2 the x of i is proposed in the same way, else it stays.
* π: from f_K(π) π^n e^{-Eπ} / Z(n, E).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from thincrm.inference.updates import log_odds_of
from thincrm.levy.marginal import log_evidence
from thincrm.models.mixtures.atoms import Clocks, exposure_of, log_gates
from thincrm.models.mixtures.clusters import Stats, take_rows
from thincrm.models.mixtures.launch import launch_shares
from thincrm.models.mixtures.shards import MixtureLocal
from thincrm.models.mixtures.state import MixtureOwn, MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.ports import MassEvidence

__all__ = ["Ratio", "explore", "split_or_merge"]

_MOST_CANDIDATES, _LEAST_CANDIDATES, _CANDIDATE_ROWS = 64, 4, 200_000
_SMALL, _MOST_TRIES = 50_000, 4


class Ratio(NamedTuple):
    """The parts of the log ratio of a split (minus it, of a merge)."""

    fit: float  # marginal likelihoods
    atoms: float  # masses and gates
    x: float  # of the candidates: mean of w over w(x)
    shares: float  # - log q
    empty: float  # log number of empty atoms

    def total(self) -> float:
        """Return the log ratio."""
        return sum(self)


class _Atom(NamedTuple):
    """One atom of a proposal, or as it is now."""

    x: Any  # its row of the thinning's tuple, or None (background)
    log_mass: float
    value: float  # log of exp(g + Eπ) Z(n, E)
    pool: float  # log of the mean of w over w(x); 0 where x stays


class _View(NamedTuple):
    """What a move looks at: all rows, in the order of shards."""

    problem: MixtureProblem
    state: MixtureState
    label_N: np.ndarray
    row_N: Int
    clocks: Clocks
    log_odds_TK: Float


def explore(rng: np.random.Generator, problem: MixtureProblem, state: MixtureState) -> MixtureState:
    """Try to split or merge: a few times where rows are few, else once."""
    n_rows = int(problem.trials.sum())
    for _ in range(int(np.clip(_SMALL // n_rows, 1, _MOST_TRIES))):
        state = split_or_merge(rng, problem, state)
    return state


def split_or_merge(
    rng: np.random.Generator,
    problem: MixtureProblem,
    state: MixtureState,
    total: Any = Ratio.total,
) -> MixtureState:
    """Try one split or merge; `total` makes the log ratio of its parts."""
    n_rows = int(problem.trials.sum())
    if n_rows < 2 or problem.n_atoms < 2:
        return state
    view = _view(problem, state)
    n, m = rng.choice(n_rows, 2, replace=False)
    i, j = int(view.label_N[n]), int(view.label_N[m])
    empty = np.flatnonzero(state.evidence.counts.sum(0) == 0)
    split = i == j
    if split and empty.size == 0:
        return state
    if split:
        j = int(rng.choice(empty))
    n_empty = empty.size + (0 if split else 1)
    law, hyper = problem.likelihood.clusters, state.own.hyper
    where = np.flatnonzero((view.label_N == i) | (view.label_N == j))
    label = view.label_N[where]
    packed = law.packed(state.own.params)
    rows = law.complete(fresh_key(rng), _take(problem, where), label, packed)
    ends = int(np.searchsorted(where, n)), int(np.searchsorted(where, m))
    log_share = launch_shares(rng, law, rows, packed, ends, hyper)
    side = rng.random(where.size) >= np.exp(log_share[:, 0]) if split else label == j
    side[ends[0]], side[ends[1]] = False, True
    chosen = np.take_along_axis(log_share, side[:, None].astype(int), 1)[:, 0]
    log_q = float(chosen.sum() - chosen[ends[0]] - chosen[ends[1]])
    two = _stats(law, rows, packed, side)
    one = _stats(law, rows, packed, np.zeros(side.size, bool))
    fit = law.log_marginal(two, hyper).sum() - law.log_marginal(take_rows(one, [0]), hyper)[0]
    renew = bool(rng.random() < 0.5)
    parts = (where[~side], where[side])
    new = _atoms(rng, view, (i, j), parts if split else (where, where[:0]), renew, split, True)
    old = _atoms(rng, view, (i, j), (where, where[:0]) if split else parts, renew, not split, False)
    after, before = (new, old) if split else (old, new)
    ratio = Ratio(
        float(fit),
        sum(atom.value for atom in after) - sum(atom.value for atom in before),
        sum(atom.pool for atom in after) - sum(atom.pool for atom in before),
        -log_q,
        float(np.log(n_empty)),
    )
    gain = total(ratio) if split else -total(ratio)
    if not np.log(rng.random()) < gain:
        return state
    return _accepted(rng, view, (i, j), new, where, side if split else side & False, two, one)


def _view(problem: MixtureProblem, state: MixtureState) -> _View:
    local = problem.engine.fetch(state.local)
    label_N = np.concatenate([own.label for own in local])
    row_N = np.repeat(np.arange(problem.trials.size), problem.trials)
    found, gating = state.evidence, problem.likelihood.gates
    clock_N, clock_T = np.zeros(0), found.pace * found.clock
    if gating == "observation":
        clock_N = found.pace * np.concatenate([own.clock for own in local])
        clock_T = np.bincount(row_N, clock_N, problem.trials.size) / problem.trials
    clocks = Clocks(gating, clock_T, problem.trials, clock_N, row_N)
    return _View(problem, state, label_N, row_N, clocks, log_odds_of(problem, state.x))


def _take(problem: MixtureProblem, where: Int) -> Any:
    """Return the rows of given places in the order of shards."""
    parts, begin = [], 0
    for shard in problem.shards:
        size = shard.order.size
        inside = where[(where >= begin) & (where < begin + size)] - begin
        parts.append(take_rows(shard.rows, inside))
        begin += size
    return type(parts[0])(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _stats(law: Any, rows: Any, packed: Any, side: np.ndarray) -> Stats:
    """Return the statistics of complete rows shared out between two clusters."""
    label = side.astype(np.int32)
    return law.add_rows(0, label.size, np.uint64(0), 0, rows, label, packed, 2)


def _atoms(
    rng: np.random.Generator, view: _View, pair: tuple[int, int], parts: tuple[Int, Int],
    renew: bool, apart: bool, fresh: bool,
) -> tuple[_Atom, _Atom]:  # fmt: skip
    """Return atoms i and j with given rows: proposed if `fresh`, else as they are.

    Atom i's x takes part where it is renewed; atom j's where it has rows (`apart`).
    """
    first = _atom(rng, view, pair[0], parts[0], renew, fresh)
    return first, _atom(rng, view, pair[1], parts[1], True, fresh, n_tries=None if apart else 1)


def _atom(
    rng: np.random.Generator, view: _View, k: int, rows: Int, free: bool, fresh: bool,
    n_tries: int | None = None,
) -> _Atom:  # fmt: skip
    """Return one atom with given rows; `free`: its x is one of several candidates from H."""
    problem, state, clocks = view.problem, view.state, view.clocks
    count_T = np.bincount(view.row_N[rows], minlength=problem.trials.size)
    used = float(clocks.clock_N[rows].sum()) if clocks.clock_N.size else 0.0
    place, n_atoms = k - problem.n_background, problem.n_atoms
    hits = np.array([float(rows.size)])
    x: Any = None
    log_odds_T, pool, choice = view.log_odds_TK[:, k], 0.0, 0
    if place >= 0:
        x = take_rows(state.x, [place])
    if place >= 0 and free:
        size = n_tries or _n_candidates(problem)
        several = problem.thinning.draw(rng, size, problem.prepared)
        if not fresh:  # the atom's own x is one of the candidates
            several = type(x)(
                *(np.concatenate([a, b[1:]]) for a, b in zip(x, several, strict=True))
            )
        log_odds_TM = problem.thinning.log_odds(several, problem.prepared)
        exposure_M, fit_M = exposure_of(clocks, log_odds_TM, count_T, used)
        log_w = fit_M + log_evidence(state.levy, n_atoms, np.repeat(hits, size), exposure_M)
        top = log_w.max()
        weight = np.exp(log_w - top) if top > -np.inf else np.ones(size)
        if fresh:
            choice = int(rng.choice(size, p=weight / weight.sum()))
            x = take_rows(several, [choice])
            log_odds_T = log_odds_TM[:, choice]
        with np.errstate(divide="ignore", invalid="ignore"):
            pool = float(np.log(weight.mean()) - np.log(weight[choice]))
    exposure, _ = exposure_of(clocks, log_odds_T[:, None], count_T, used)
    log_mass = float(state.log_mass[k])
    if fresh:
        log_mass = _draw_mass(rng, view, k, rows.size, float(exposure[0]))
    mass = float(np.exp(log_mass))
    value = log_gates(clocks, log_odds_T, count_T, rows, mass) + float(exposure[0]) * mass
    value += float(log_evidence(state.levy, n_atoms, hits, exposure)[0])
    return _Atom(x, log_mass, value, pool)


def _draw_mass(rng: np.random.Generator, view: _View, k: int, hits: int, exposure: float) -> float:
    """Draw log π from f_K(π) π^hits e^{-exposure π} / Z."""
    state = view.state
    hits_K, exposure_K = np.zeros(state.log_mass.size), np.ones(state.log_mass.size)
    hits_K[k], exposure_K[k] = hits, exposure
    found = MassEvidence.of(state.log_mass.size, hits=hits_K, exposure=exposure_K)
    return float(state.levy.redraw(rng, state.log_mass, found)[k])


def _n_candidates(problem: MixtureProblem) -> int:
    n_rows = problem.trials.size
    return int(np.clip(_CANDIDATE_ROWS // n_rows, _LEAST_CANDIDATES, _MOST_CANDIDATES))


def _accepted(
    rng: np.random.Generator, view: _View, pair: tuple[int, int], new: tuple[_Atom, _Atom],
    where: Int, side: np.ndarray, two: Stats, one: Stats,
) -> MixtureState:  # fmt: skip
    """Return the state after the move, θ of both atoms redrawn."""
    problem, state = view.problem, view.state
    law, hyper = problem.likelihood.clusters, state.own.hyper
    label_N = view.label_N.copy()
    label_N[where] = np.where(side, pair[1], pair[0])
    both = law.redraw(rng, two if side.any() else one, hyper)
    params = type(both)(*(np.array(array) for array in state.own.params))
    log_mass, x = state.log_mass.copy(), type(state.x)(*(np.array(field) for field in state.x))
    counts = state.evidence.counts.copy()
    for place, (k, atom) in enumerate(zip(pair, new, strict=True)):
        for array, drawn in zip(params, both, strict=True):
            array[k] = drawn[place]
        log_mass[k] = atom.log_mass
        if atom.x is not None:
            for field, value in zip(x, atom.x, strict=True):
                field[k - problem.n_background] = value[0]
        mine = where[side == bool(place)]
        counts[:, k] = np.bincount(view.row_N[mine], minlength=problem.trials.size)
    ends = np.cumsum([shard.order.size for shard in problem.shards])[:-1]
    local = tuple(
        MixtureLocal(label, own.clock)
        for label, own in zip(
            np.split(label_N, ends), problem.engine.fetch(state.local), strict=True
        )
    )
    return replace(
        state, local=local, own=MixtureOwn(params, hyper), log_mass=log_mass, x=x,
        evidence=state.evidence._replace(counts=counts),
    )  # fmt: skip
