"""Run a topic model's chains and keep draws: the work of `TopicModel.fit`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import gammaln, log_expit

from thincrm.draws import TopicDraw, document_topics
from thincrm.estimators.journal import Journal
from thincrm.gibbs.chains import Standing, run_chain
from thincrm.gibbs.progress import Sweeps
from thincrm.gibbs.topic_merges import merge_topics
from thincrm.gibbs.topic_start import expand, start_state
from thincrm.gibbs.topics import (
    SWEEP,
    TopicProblem,
    TopicState,
    log_odds_of,
    rows_of,
    usage_of,
)
from thincrm.likelihood.levels import spread
from thincrm.likelihood.usage import log_silent_at
from thincrm.numerics.streams import sweep_generator

__all__ = ["Plan", "Watch", "sample"]

Watch = Callable[[TopicDraw], str] | None

_CHECK_EVERY = 20
_FULL = 0.95
_GROWTH = 1.5
_MERGES = 8  # the warm-up is cut into so many parts, with merges between them


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to run, and what to keep."""

    n_sweeps: int
    n_draws: int
    n_chains: int
    seed: int
    grow: bool
    quiet: bool

    @property
    def warmup(self) -> int:
        """Return the sweeps before the first draw is kept: a third of them."""
        return self.n_sweeps // 3

    def merges(self, sweep: int) -> bool:
        """Tell whether topics that are one are merged after `sweep`: some times in the warm-up."""
        return sweep < self.warmup and sweep % max(1, self.warmup // _MERGES) == 0

    def keeps(self, sweep: int) -> bool:
        """Tell whether the state after `sweep` (from 1) is kept: evenly spaced, the last always."""
        left = self.n_sweeps - sweep
        gap = max(1, (self.n_sweeps - self.warmup) // self.n_draws)
        return sweep > self.warmup and left % gap == 0 and left // gap < self.n_draws


def sample(
    problem: TopicProblem, plan: Plan, journal: Journal | None = None, watch: Watch = None
) -> tuple[list[TopicDraw], list[dict[str, float]]]:
    """Return the kept draws of all chains, and label-free quantities after every sweep.

    `journal` knows what was done before, and writes down what is done now; `watch` sees every
    draw that is kept, and what it says is shown beside the progress.
    """
    journal = Journal() if journal is None else journal
    first = journal.standing.chain if journal.standing else 0
    left = plan.n_sweeps * plan.n_chains - len(journal.trace)
    with Sweeps(left, quiet=plan.quiet) as bar, journal.stopping_cleanly(plan):
        for chain in range(first, plan.n_chains):
            _chain(problem, plan, chain, bar, journal, watch)
        journal.finish()
    draws: list[TopicDraw] = journal.draws
    full = [draw.scalars["n_topics"] >= draw.scalars["max_topics"] for draw in draws]
    if np.mean(full) > 0.5 and not plan.grow:
        warnings.warn(
            f"All {problem.n_topics} topics are in use: the number of topics is cut off there. "
            "Raise max_topics, or pass max_topics='grow'.",
            stacklevel=3,
        )
    return draws, journal.trace


def _chain(
    problem: TopicProblem, plan: Plan, chain: int, bar: Sweeps, journal: Journal, watch: Watch
) -> None:
    here, seen = journal.standing, ""
    if here is None or here.chain != chain:
        here = Standing(chain, 0, start_state(sweep_generator(plan.seed, chain, 0), problem))
        journal.note(here)
    states: list[TopicState] = [here.state]  # handed over: each is as large as the corpus
    done = here.sweep
    del here
    problem = replace(problem, n_topics=states[0].shape.size)
    for sweep in range(done + 1, plan.n_sweeps + 1):
        state = run_chain(plan.seed, chain, problem, SWEEP, states.pop(), range(sweep, sweep + 1))
        if plan.merges(sweep):
            state = merge_topics(sweep_generator(plan.seed, chain, sweep, 2), problem, state)
        n_topics = int((state.evidence.total > 0).sum())
        row = {"chain": chain, "sweep": sweep, "n_topics": n_topics, **scalars(state)}
        draw = keep(problem, state, chain, sweep) if plan.keeps(sweep) else None
        full = n_topics > _FULL * problem.n_topics
        if plan.grow and full and sweep <= plan.warmup and sweep % _CHECK_EVERY == 0:
            rng = sweep_generator(plan.seed, chain, sweep, 1)
            problem, state = expand(rng, problem, state, int(problem.n_topics * _GROWTH))
        journal.note(Standing(chain, sweep, state), row, draw)
        seen = seen if draw is None or watch is None else f", {watch(draw)}"
        bar.step(f"{n_topics} topics{seen}")
        states.append(state)
        del state


def scalars(state: TopicState) -> dict[str, float]:
    """Return label-free parameters of a state."""
    found = {
        "concentration": state.concentration,
        "shape": float(np.mean(state.shape)),
        "burstiness": state.burstiness,
    }
    for name in ("mass", "rate", "discount"):
        if hasattr(state.levy, name):
            found[name] = float(getattr(state.levy, name))
    return found


def keep(problem: TopicProblem, state: TopicState, chain: int, sweep: int) -> TopicDraw:
    """Return the draw of a state, without the topics that hold no token."""
    total = state.evidence.total
    used = np.flatnonzero(total > 0)
    rank = np.full(problem.n_topics, -1, np.int32)
    rank[used] = np.arange(used.size)
    _, topic, size = state.usage.pairs(problem.tokens)
    thinned = used[used >= problem.n_background] - problem.n_background
    more = {
        "n_topics": used.size,
        "n_large_topics": int((total >= 0.005 * total.sum()).sum()),
        "max_topics": problem.n_topics,
        "log_joint": log_joint(problem, state),
    }
    return TopicDraw(
        chain=chain,
        sweep=sweep,
        words=sparse.csc_array(state.evidence.of(used)),
        concentration=state.concentration,
        usage=usage_of(problem, state).of(used),
        log_odds=np.ascontiguousarray(log_odds_of(problem, state.x)[:, used]),  # as files have it
        x=type(state.x)(*(np.ascontiguousarray(part[thinned]) for part in state.x)),
        documents=document_topics(state.usage.n_used, rank[topic], size, used.size),
        scalars={**more, **scalars(state)},
        burstiness=state.burstiness,
        labels=rank[state.topic].astype(state.topic.dtype) if state.burstiness > 0.0 else None,
        level=state.level,
    )


def log_joint(problem: TopicProblem, state: TopicState) -> float:
    """Return log p(words, their topics, levels | globals); topics, gates, usages are out."""
    words, a = len(state.theta), state.concentration
    counts, total = state.evidence.counts, state.evidence.total
    fit = (gammaln(words * a) - gammaln(words * a + total)).sum()
    cells = counts[counts > 0]
    fit += (gammaln(a + cells) - gammaln(a)).sum()
    usage, log_odds = spread(usage_of(problem, state), log_odds_of(problem, state.x))
    document, topic, size = state.usage.pairs(problem.tokens)
    fit += (gammaln(usage.shape[topic] + size) - gammaln(usage.shape[topic])).sum()
    with np.errstate(divide="ignore"):
        log_q, log_silent = np.broadcast_arrays(np.log(usage.q), usage.log_silent, log_odds)[:2]
    pair = rows_of(problem, state.level)[document], topic
    fit += (size * log_q[pair] + log_silent[pair]).sum()
    fit += log_expit(log_odds[pair]).sum()
    silent = state.evidence.trials[:, None] - state.evidence.positive
    fit += (silent * log_silent_at(usage, log_odds)).sum()
    if state.log_share is not None:
        fit += state.log_share[state.level].sum()
    return float(fit)
