"""Split a topic in two, or merge two: a Metropolis move on tokens, masses and curves.

Tokens move one by one, so a topic that is cut in two, or two that are one, stay so for thousands of
sweeps. Here whole topics change at once, with the exact acceptance.

* A topic and a partner are chosen (`pair_choice`). Where they are the same it is to be split, with
  an empty atom for the second part; else the partner b is to be merged into a, and is then empty.
* What moves are tables (`seating`), theta integrated out. They are shared out document by document
  (`sharing`): from nothing or, in some moves, from a launch, a few rounds that do not see
  how tables are shared out now, neither in a split nor in the merge that undoes it. Which side of a
  launch is whose is left to a coin in a split; a merge takes what agrees better with how it is.
* Masses and curves of topics that hold tokens are proposed as in `atom_guide`. An empty atom is one
  of a few from the prior, chosen by the chance of its silence; the way back puts the atom that is
  there among others. All this has in the ratio is the mean of those chances.

    log ratio of a split = log [words, urns, weights of atoms: after / before] - log q(sides)
                           + log [chance to choose: the merge / the split]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_expit

from thincrm.models.topics.atom_guide import Atom, AtomGuide, Uses, fit_of, usage_at
from thincrm.models.topics.documents import counted
from thincrm.models.topics.levels import spread
from thincrm.models.topics.pair_choice import choose_pair, log_chance
from thincrm.models.topics.seating import NewTopics, Seating, Wanted, moved, seated
from thincrm.models.topics.sharing import Sharing, share_out
from thincrm.models.topics.state import TopicProblem, TopicState
from thincrm.models.topics.usage import log_silent_at, padded
from thincrm.models.topics.words import draw_topics
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key

__all__ = ["Ratio", "split_or_merge"]

_ROUNDS = 5  # of a launch
_MOST_WORK = 1e8  # tables times tokens of documents, added up
_SHAPE_SPREAD = 0.3  # of the log of a second part's shape, where topics have their own
_CANDIDATES = 8  # to be the empty atom
_LAUNCHED = 0.7, 0.15  # of splits, and of merges
_DRAWN = np.zeros(0, np.int64)


class Ratio(NamedTuple):
    """The parts of the log ratio of a split (minus it, of a merge)."""

    words: float
    urns: float
    atoms: float
    shape: float  # of the second part, where topics have their own
    silence: float  # of the empty atom
    sides: float  # - log q
    choice: float

    def total(self) -> float:
        """Return the log ratio."""
        return sum(self)


class _View(NamedTuple):
    """Two topics, the first of which has or will have all tables, and these tables."""

    problem: TopicProblem
    state: TopicState
    pair: tuple[int, int]
    parts: list[Seating]
    tables: Seating
    n_D: Int  # tokens of both in each document that has any


class _Move(NamedTuple):
    """One topic and an empty atom, or two topics: what is, and what is proposed."""

    one: Atom
    empty: Atom
    two: tuple[Atom, Atom]
    side_I: Int
    sides: float  # - log q
    atoms: float  # log weights of two, less that of one
    silence: float  # of the empty atom, one of several


def split_or_merge(
    rng: np.random.Generator,
    problem: TopicProblem,
    state: TopicState,
    total: Callable[[Ratio], float] = Ratio.total,
) -> TopicState:
    """Try one split or merge; `total` makes the log ratio of its parts."""
    first, holds_K = problem.n_background, state.evidence.total > 0
    held, empty = (first + np.flatnonzero(some) for some in (holds_K[first:], ~holds_K[first:]))
    if held.size == 0:
        return state
    a, b = choose_pair(rng, problem, state, held)
    split = a == b
    if b < first or (split and empty.size == 0):
        return state
    view = _view(rng, problem, state, (a, int(rng.choice(empty)) if split else b))
    if float(np.diff(view.tables.start_D) @ view.n_D) > _MOST_WORK:
        return state
    move = _split(rng, view) if split else _merge(rng, view)
    if move is None:
        return state
    n_one, n_empty = (held.size, empty.size) if split else (held.size - 1, empty.size + 1)
    gain = total(_ratio(view, move, n_one, n_empty))
    if not np.log(rng.random()) < (gain if split else -gain):
        return state
    if split:
        return _accepted(rng, view, move.side_I, move.two)
    return _accepted(rng, view, np.zeros_like(move.side_I), (move.one, move.empty))


def _view(
    rng: np.random.Generator, problem: TopicProblem, state: TopicState, pair: tuple[int, int]
) -> _View:
    """Draw the tables of two topics."""
    own, theta_2P = state.own, np.zeros((2, problem.facts.n_words), np.float32)
    for i, k in enumerate(pair):
        for place in np.flatnonzero(own.seats == k):
            theta_2P[i] = own.theta[:, place]
    n_levels = problem.likelihood.factor.n_levels
    wanted = Wanted(fresh_key(rng), pair, theta_2P, own.burstiness, n_levels)
    parts = list(problem.engine.each(seated, problem.shards, state.local, wanted))
    tables = Seating.joined(parts)
    n_0D, n_1D = tables.tokens(tables.side_I)
    return _View(problem, state, pair, parts, tables, n_0D + n_1D)


def _split(rng: np.random.Generator, view: _View) -> _Move | None:
    """Propose two topics in place of one."""
    one, empty = (_atom(view, k) for k in view.pair)
    side_I, sides = _shared(rng, view, one, _DRAWN)
    if side_I.min() == side_I.max() or sides == np.inf:
        return None
    shape = one.shape
    if view.problem.likelihood.factor.own_shapes:
        shape *= float(np.exp(_SHAPE_SPREAD * rng.standard_normal()))
    n_0D, n_1D = view.tables.tokens(side_I)
    first, gain = _guide(view, n_0D, one.shape).draw(rng)
    second, more = _guide(view, n_1D, shape).draw(rng)
    gain += more - _guide(view, view.n_D, one.shape).log_weight(one)
    silence = _silent_atom(rng, view, empty)[1]
    return _Move(one, empty, (first, second), side_I, sides, gain, silence)


def _merge(rng: np.random.Generator, view: _View) -> _Move | None:
    """Propose one topic in place of two, and an atom that is empty."""
    first, second = (_atom(view, k) for k in view.pair)
    one, loss = _guide(view, view.n_D, first.shape).draw(rng)
    side_I, sides = _shared(rng, view, one, view.tables.side_I)
    if sides == np.inf:
        return None
    n_0D, n_1D = view.tables.tokens(side_I)
    gain = _guide(view, n_0D, first.shape).log_weight(first) - loss
    gain += _guide(view, n_1D, second.shape).log_weight(second)
    empty, silence = _silent_atom(rng, view, None)
    return _Move(one, empty, (first, second), side_I, sides, gain, silence)


def _silent_atom(rng: np.random.Generator, view: _View, now: Atom | None) -> tuple[Atom, float]:
    """Return one of a few atoms from the prior, by the chance of its silence, or the one that is.

    With it comes - log of the mean chance of all: of several, as of one, the prior cancels.
    """
    problem, state = view.problem, view.state
    size = min(_CANDIDATES, problem.n_atoms)
    x = problem.thinning.draw(rng, size, problem.prepared)
    log_mass_C = state.levy.draw_log_mass(rng, problem.n_atoms)[:size]
    shape_C = problem.likelihood.factor.more_shape(rng, state.own.shape, size)[-size:]
    if now is not None:
        log_mass_C[0], shape_C[0] = now.log_mass, now.shape
        for part, value in zip(x, now.x, strict=True):
            part[0] = value[0]
    nowhere = _uses(view, np.zeros_like(view.n_D))
    log_odds_TC = problem.thinning.log_odds(x, problem.prepared)
    weight_C = np.exp(fit_of(problem, state, nowhere, shape_C, log_mass_C, log_odds_TC))
    at = 0 if now is not None else _pick(rng, weight_C)
    chosen = Atom(type(x)(*(part[at : at + 1] for part in x)), log_mass_C[at], shape_C[at])
    return chosen, -float(np.log(max(weight_C.mean(), 1e-300)))


def _pick(rng: np.random.Generator, weight_C: Float) -> int:
    """Return a place drawn by weights."""
    height_C = np.cumsum(weight_C)
    return int(min(np.searchsorted(height_C, rng.random() * height_C[-1]), weight_C.size - 1))


def _atom(view: _View, k: int) -> Atom:
    """Return a topic's curve, mass and shape as they are."""
    state, at = view.state, k - view.problem.n_background
    x = type(state.x)(*(part[at : at + 1] for part in state.x))
    return Atom(x, float(state.log_mass[k]), float(state.own.shape[k]))


def _shared(rng: np.random.Generator, view: _View, one: Atom, wanted_I: Int) -> tuple[Int, float]:
    """Return the sides of tables, drawn or as wanted, and - log of the chance to draw them.

    Splits have a launch more often than merges, and the chance of that with it.
    """
    problem, tables, drawn = view.problem, view.tables, wanted_I.size == 0
    order_D, law = rng.permutation(tables.row_D.size), _law(view, one)
    sharing = Sharing.none(tables.word_I.size, problem.facts.n_words)

    def share(wanted_I: Int) -> float:
        where = tables.start_D, tables.row_D, tables.word_I, tables.size_I
        a = view.state.own.concentration
        return share_out(fresh_key(rng), order_D, *where, *law, a, wanted_I, sharing)

    in_split, in_merge = _LAUNCHED
    if rng.random() >= (in_split if drawn else in_merge):
        log_q = share(wanted_I)
        return sharing.side_I, float(np.log((1.0 - in_merge) / (1.0 - in_split))) - log_q
    for _ in range(_ROUNDS):
        share(_DRAWN)
    launch_I = sharing.side_I.copy()
    turned = bool(rng.random() < 0.5) if drawn else _agrees_turned(launch_I, wanted_I)
    log_q = share(1 - wanted_I if turned and not drawn else wanted_I)
    side_I = 1 - sharing.side_I if turned else sharing.side_I
    if turned != _agrees_turned(launch_I, side_I):
        return side_I, np.inf
    return side_I, float(np.log(2.0 * in_merge / in_split)) - log_q


def _agrees_turned(launch_I: Int, side_I: Int) -> bool:
    """Tell whether sides agree with a launch better the other way round."""
    return bool(2 * np.count_nonzero(launch_I != side_I) > side_I.size)


def _law(view: _View, one: Atom) -> tuple[Float, Float, Float]:
    """Return `heard_R`, `silent_R` and `rise_J` of two topics taken as one."""
    problem, state = view.problem, view.state
    usage = usage_at(problem, state, one.shape, np.array([one.log_mass]))
    log_odds_T1 = problem.thinning.log_odds(one.x, problem.prepared)
    usage, log_odds_R1 = spread(usage, log_odds_T1)
    heard_R1 = log_expit(log_odds_R1) + usage.log_silent
    silent_R1 = np.exp(log_silent_at(usage, log_odds_R1))
    rise_J = gammaln(usage.shape[0] + np.arange(view.n_D.max() + 1.0)) - gammaln(usage.shape[0])
    return heard_R1[:, 0], silent_R1[:, 0], rise_J - _urn(view)


def _urn(view: _View) -> Float:
    """Return log s^-n G(s + n) / G(s) = sum_{j < n} log(1 + j / s) of 0, 1, ... tokens."""
    more_J = np.log1p(view.state.own.burstiness * np.arange(view.n_D.max()))
    return np.concatenate([[0.0], np.cumsum(more_J)])


def _uses(view: _View, n_D: Int) -> Uses:
    return Uses.of(n_D, view.tables.row_D, view.state.evidence.trials)


def _guide(view: _View, n_D: Int, shape: float) -> AtomGuide:
    """Return the law of an atom whose topic has so many tokens in documents."""
    return AtomGuide.of(view.problem, view.state, _uses(view, n_D), shape)


def _ratio(view: _View, move: _Move, n_one: int, n_empty: int) -> Ratio:
    """Return the log ratio of a split; n_one topics hold tokens while the two are one."""
    problem, own, tables = view.problem, view.state.own, view.tables
    side_I, (first, second) = move.side_I, move.two
    count_2P, token_2P = _words(view, side_I)
    words = [_log_words(count_P, own.concentration) for count_P in (*count_2P, count_2P.sum(0))]
    n_0D, n_1D = tables.tokens(side_I)
    urn_J = _urn(view)
    shape = 0.0
    if problem.likelihood.factor.own_shapes:
        away = np.log(second.shape / first.shape) / _SHAPE_SPREAD
        shape = problem.likelihood.factor.log_shape_prior(second.shape)
        shape += float(0.5 * away**2 + np.log(_SHAPE_SPREAD * np.sqrt(2.0 * np.pi)))
    both_P, everywhere_P = token_2P.sum(axis=0), problem.facts.word_total
    merge = log_chance(token_2P[0], token_2P[1], everywhere_P, n_one + 1)
    split = log_chance(both_P, both_P, everywhere_P, n_one) - np.log(n_empty)
    return Ratio(
        words=words[0] + words[1] - words[2],
        urns=float((urn_J[view.n_D] - urn_J[n_0D] - urn_J[n_1D]).sum()),
        atoms=move.atoms,
        shape=shape,
        silence=move.silence,
        sides=move.sides,
        choice=float(merge - split),
    )


def _words(view: _View, side_I: Int) -> tuple[Int, Float]:
    """Return the (2, P) tables, and tokens, of words on either side."""
    word_I, n_words = view.tables.word_I, view.problem.facts.n_words
    place_I = side_I * n_words + word_I
    count = np.bincount(place_I, minlength=2 * n_words)
    token = np.bincount(place_I, view.tables.size_I, 2 * n_words)
    return count.reshape(2, n_words), np.asarray(token.reshape(2, n_words), float)


def _log_words(count_P: Int, concentration: float) -> float:
    """Return the log density of a topic's fresh draws, theta integrated out."""
    seen_P, whole = count_P[count_P > 0], count_P.size * concentration
    fit = gammaln(whole) - gammaln(whole + seen_P.sum())
    return float(fit + (gammaln(concentration + seen_P) - gammaln(concentration)).sum())


def _accepted(
    rng: np.random.Generator, view: _View, side_I: Int, atoms: tuple[Atom, Atom]
) -> TopicState:
    """Return the state with tables on given sides, and theta of both topics drawn anew."""
    problem, old, pair = view.problem, view.state, view.pair
    begin, found = 0, {}
    for part in view.parts:
        side_M = side_I[begin : begin + part.word_I.size][part.table_M]
        found[part.first] = part.place_M, np.where(side_M == 0, *pair)
        begin += part.word_I.size
    local, _ = problem.engine.map(moved, problem.shards, old.local, NewTopics(found))
    x, log_mass = type(old.x)(*(part.copy() for part in old.x)), old.log_mass.copy()
    shape = old.own.shape.copy()
    for k, atom in zip(pair, atoms, strict=True):
        log_mass[k], shape[k] = atom.log_mass, atom.shape
        for part, value in zip(x, atom.x, strict=True):
            part[k - problem.n_background] = value[0]
    state = counted(problem, replace(old, local=local, x=x, log_mass=log_mass))
    fresh_P2 = np.ascontiguousarray(_words(view, side_I)[0].T, np.int32)
    counts, seats = _with_columns(old.evidence.counts, old.evidence.seats, pair, fresh_P2)
    evidence = state.evidence._replace(counts=counts, seats=seats)
    theta_P2 = draw_topics(rng, fresh_P2, old.own.concentration, np.arange(2))
    theta, places = _with_columns(old.own.theta, old.own.seats, pair, theta_P2)
    return replace(state, evidence=evidence).with_own(shape=shape, theta=theta, seats=places)


def _with_columns(
    table_PA: np.ndarray, seats: Int, pair: tuple[int, int], new_P2: np.ndarray
) -> tuple[np.ndarray, Int]:
    """Return a table, and whose its columns are, with those of two topics replaced or added."""
    more = [k for k in pair if k not in seats]
    seats = np.concatenate([seats, np.array(more, seats.dtype)])
    out = np.zeros((len(table_PA), padded(seats.size)), table_PA.dtype)
    width = min(out.shape[1], table_PA.shape[1])
    out[:, :width] = table_PA[:, :width]
    for i, k in enumerate(pair):
        out[:, np.flatnonzero(seats == k)[0]] = new_P2[:, i]
    return out, seats
