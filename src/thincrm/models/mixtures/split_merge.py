"""Split a cluster in two, or merge two: a Metropolis move on (c, x, π, θ), gates summed out.

Two rows n, m are drawn. Of one cluster i, an empty atom j is drawn and i's rows shared out between
i and j; of two clusters, j's rows go to i and j is empty. θ is integrated out given the rows'
augmentations, so a cluster's factor is its marginal likelihood. Given the clocks an atom's factor
is H(x) f_K(π) π^n e^g (`atoms`), and

    log ratio of a split = log [factors after / before] - log q(shares) + log(empty atoms)

* Shares (Jain and Neal 2004): a few rounds from n and m alone give two laws, of cells and of
  covariates, and two weights, the same way for a split and for the merge that undoes it; rows are
  then drawn independently.
* x and π are proposed as in `proposals`. An emptied atom's x is from H. With chance 1/2 the x
  of i is proposed too, else it stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from thincrm.models.mixtures.clusters import Stats, take_rows
from thincrm.models.mixtures.launch import launch_shares
from thincrm.models.mixtures.proposals import Atom, View, atom_with, split_local, view_of
from thincrm.models.mixtures.shards import rows_at
from thincrm.models.mixtures.state import MixtureOwn, MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key

__all__ = ["Ratio", "split_or_merge"]


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
    view = view_of(problem, state)
    n, m = _two_rows(rng, n_rows)
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
    log_share = launch_shares(
        rng, law, rows, packed, ends, hyper, _places(problem), view.row_N[where]
    )
    side = rng.random(where.size) >= np.exp(log_share[:, 0]) if split else label == j
    side[ends[0]], side[ends[1]] = False, True
    chosen = np.take_along_axis(log_share, side[:, None].astype(int), 1)[:, 0]
    log_q = float(chosen.sum() - chosen[ends[0]] - chosen[ends[1]])
    two = _stats(law, rows, packed, side)
    one = type(two)(*(np.stack([part.sum(axis=0), np.zeros_like(part[0])]) for part in two))
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


def _two_rows(rng: np.random.Generator, n_rows: int) -> tuple[int, int]:
    """Draw two rows, which are sorted by covariates: as likely near each other as far apart.

    Clusters far apart along a covariate are hardly ever one.
    """
    while True:
        n, apart = int(rng.integers(n_rows)), int(n_rows ** rng.random())
        m = n + apart if rng.random() < 0.5 else n - apart
        if 0 <= m < n_rows:
            return n, m


def _places(problem: MixtureProblem) -> Float:
    """Return the (T, C) covariates that vary; none where curves do not."""
    known = getattr(problem.prepared, "covariates", None)
    if known is None or not problem.thinning.varies:
        return np.zeros((problem.trials.size, 0))
    return np.asarray(known.rows[:, np.ptp(known.rows, axis=0) > 0.0])


def _take(problem: MixtureProblem, where: Int) -> Any:
    """Return the rows of given places in the order of shards."""
    chosen, begin = [], 0
    for shard in problem.shards:
        size = shard.order.size
        chosen.append(where[(where >= begin) & (where < begin + size)] - begin)
        begin += size
    return rows_at(problem.engine, problem.shards, chosen)


def _stats(law: Any, rows: Any, packed: Any, side: np.ndarray) -> Stats:
    """Return the statistics of complete rows shared out between two clusters."""
    label = side.astype(np.int32)
    return law.add_rows(0, label.size, np.uint64(0), 0, rows, label, packed, 2)


def _atoms(
    rng: np.random.Generator, view: View, pair: tuple[int, int], parts: tuple[Int, Int],
    renew: bool, apart: bool, fresh: bool,
) -> tuple[Atom, Atom]:  # fmt: skip
    """Return atoms i and j with given rows: proposed if `fresh`, else as they are.

    Atom i's x takes part where it is renewed; atom j's where it has rows (`apart`).
    """
    first = atom_with(rng, view, pair[0], parts[0], renew, fresh)
    return first, atom_with(rng, view, pair[1], parts[1], True, fresh, n_tries=None if apart else 1)


def _accepted(
    rng: np.random.Generator, view: View, pair: tuple[int, int], new: tuple[Atom, Atom],
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
    local = split_local(view, label_N)
    return replace(
        state, local=local, own=MixtureOwn(params, hyper), log_mass=log_mass, x=x,
        evidence=state.evidence._replace(counts=counts),
    )  # fmt: skip
