"""Run a feature model's chains and keep draws: the work of `FeatureModel.fit`."""

from __future__ import annotations

import warnings

import numpy as np

from thincrm.draws import FeatureDraw
from thincrm.estimators.journal import Journal
from thincrm.estimators.sampling import Plan
from thincrm.gibbs.chains import Standing, run_chain
from thincrm.gibbs.feature_start import start_state
from thincrm.gibbs.feature_state import FeatureProblem, FeatureState
from thincrm.gibbs.features import SWEEP, hits_of
from thincrm.gibbs.progress import Sweeps
from thincrm.likelihood.feature_laws import squared_error
from thincrm.likelihood.linear_gaussian import Sums
from thincrm.numerics.streams import sweep_generator

__all__ = ["sample_features"]

Row = dict[str, float]


def sample_features(
    problem: FeatureProblem, plan: Plan, journal: Journal | None = None
) -> tuple[list[FeatureDraw], list[Row]]:
    """Return the kept draws of all chains, and label-free quantities after every sweep.

    `journal` knows what was done before, and writes down what is done now.
    """
    journal = Journal() if journal is None else journal
    first = journal.standing.chain if journal.standing else 0
    left = plan.n_sweeps * plan.n_chains - len(journal.trace)
    with Sweeps(left, quiet=plan.quiet) as bar, journal.stopping_cleanly(plan):
        for chain in range(first, plan.n_chains):
            _chain(problem, plan, chain, bar, journal)
        journal.finish()
    draws: list[FeatureDraw] = journal.draws
    full = [draw.scalars["n_features"] >= problem.n_features for draw in draws]
    if np.mean(full) > 0.5:
        warnings.warn(
            f"All {problem.n_features} features are in use: their number is cut off there. "
            "Raise max_features.",
            stacklevel=3,
        )
    return draws, journal.trace


def _chain(problem: FeatureProblem, plan: Plan, chain: int, bar: Sweeps, journal: Journal) -> None:
    here = journal.standing
    if here is None or here.chain != chain:
        here = Standing(chain, 0, start_state(sweep_generator(plan.seed, chain, 0), problem))
        journal.note(here)

    def after(sweep: int, state: FeatureState) -> FeatureState:
        row = scalars(problem, state)
        draw = keep(problem, state, chain, sweep, row) if plan.keeps(sweep) else None
        journal.note(Standing(chain, sweep, state), {"chain": chain, "sweep": sweep, **row}, draw)
        bar.step(f"{row['n_features']:.0f} features")
        return state

    sweeps = range(here.sweep + 1, plan.n_sweeps + 1)
    run_chain(plan.seed, chain, problem, SWEEP, here.state, sweeps, after)


def scalars(problem: FeatureProblem, state: FeatureState) -> Row:
    """Return label-free quantities of a state."""
    total = state.used.sum(0, dtype=np.int64)
    value_NP, seen_NP = problem.table.value_NP, problem.table.seen_NP
    error_P = squared_error(Sums(state.gram, state.cross), (value_NP**2).sum(0), state.feature)
    log_noise = np.log(state.noise / (2 * np.pi))
    fit = 0.5 * float((seen_NP.sum(0) * log_noise - state.noise * error_P).sum())
    found = {
        "n_features": int((total > 0).sum()),
        "n_large_features": int((total >= 0.01 * max(total.sum(), 1)).sum()),
        "features_per_row": float(total.sum()) / len(state.used),
        "log_likelihood": fit,
        "noise": float(np.mean(1.0 / state.noise)),
        "scale": 1.0 / state.scale,
    }
    for name in ("mass", "concentration", "discount"):
        if hasattr(state.levy, name):
            found[name] = float(getattr(state.levy, name))
    return found


def keep(
    problem: FeatureProblem, state: FeatureState, chain: int, sweep: int, row: Row
) -> FeatureDraw:
    """Return the draw of a state."""
    return FeatureDraw(
        chain=chain,
        sweep=sweep,
        feature=np.ascontiguousarray(state.feature),  # sums of it are then those of a loaded one
        noise=state.noise,
        log_mass=state.log_mass,
        x=type(state.x)(*map(np.ascontiguousarray, state.x)),
        hits=np.ascontiguousarray(hits_of(problem, state)),
        scalars=row,
    )
