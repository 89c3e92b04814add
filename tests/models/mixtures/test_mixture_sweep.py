"""Every product of the mixture model: each block and the whole sweep leave the joint law alone."""

from dataclasses import replace

import numpy as np
import pytest
from mixture_world import Lines, Mixture, World, block, functionals, held_own, many

from thincrm.inference.updates import redraw_activations, redraw_observations, redraw_own
from thincrm.levy import GammaProcess, GeneralizedGammaProcess, StableProcess
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.sweep import redraw_masses, rescale
from thincrm.ports import MassEvidence
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test, two_sample_test
from thincrm.thinning import Always, Bump, ProbitRVM, SigmoidGP

pytestmark = pytest.mark.joint
SEED = 20265
THINNINGS = {
    "always": Always(),
    "rvm": ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8),
    "gp": SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2),
    "bump": Bump(length=(0.4, 0.5), height=0.9),
}
GATES = ("shared", "weighted", "observation")
DIAGONAL, FULL = GaussianClusters("diagonal"), GaussianClusters("full")
STUDENT, FULL_STUDENT = (replace(spec, student=True) for spec in (DIAGONAL, FULL))
CLUSTERS = dict(zip(THINNINGS, (FULL, DIAGONAL, FULL_STUDENT, STUDENT), strict=True))
WORLDS = {
    f"{name}, {gates}": World(thinning, gates, CLUSTERS[name], background=name != "rvm")
    for name, thinning in THINNINGS.items()
    for gates in GATES
}
WORLDS |= {
    "lines, shared": World(THINNINGS["bump"], "shared", Lines()),
    "lines, observation": World(THINNINGS["gp"], "observation", Lines()),
    "mixed, weighted": World(THINNINGS["rvm"], "weighted", Mixture("diagonal")),
    "mixed, shared": World(THINNINGS["gp"], "shared", Mixture(), background=False),
}
SWEEP = (redraw_observations, redraw_activations, redraw_masses, held_own)
GLOBALS = (redraw_activations, redraw_masses, held_own)
every_world = pytest.mark.parametrize("name", WORLDS)


def stays(world, updates, n_first=1_000, n_steps=2):
    blocks = [block(update) for update in updates]
    return two_sample_test(
        many(world), blocks, functionals(world), n_steps=n_steps, n_first=n_first, rng=SEED
    )


@every_world
def test_whole_sweep(name):
    assert_passed(stays(WORLDS[name], SWEEP))


@pytest.mark.parametrize("name", ["gp, shared", "bump, weighted", "rvm, observation"])
def test_rows(name):
    assert_passed(stays(WORLDS[name], [redraw_observations], 2_000))


@pytest.mark.parametrize("name", ["gp, shared", "rvm, shared", "gp, observation"])
def test_globals(name):
    """Activations, masses and clusters, one after the other and back: ranks are exact."""
    blocks = [block(update) for update in GLOBALS]
    world = WORLDS[name]
    assert_passed(
        exact_rank_test(many(world), blocks, functionals(world), n_steps=3, n_first=1_000, rng=SEED)
    )


@pytest.mark.parametrize("update", [redraw_activations, redraw_masses, held_own])
def test_globals_of_weighted_gates(update):
    """One at a time: masses leave the rejected rings behind, which rows draw anew in a sweep."""
    world = WORLDS["bump, weighted"]
    verdict = exact_rank_test(
        many(world), [block(update)], functionals(world), n_steps=3, n_first=1_000, rng=SEED
    )
    assert_passed(verdict)


def alone(name, **changes):
    """Return a world of one replicate a problem: what replicates share may then move."""
    return replace(WORLDS[name], n_replicates=1, **changes)


@pytest.mark.parametrize(
    "name", ["bump, shared", "rvm, weighted", "gp, observation", "lines, shared"]
)
def test_hyper_parameters_and_mass(name):
    """γ, the prior of clusters and the scale of all masses, drawn from their priors first."""
    world = alone(name, learned=True)
    updates = (redraw_observations, redraw_activations, redraw_masses, rescale, redraw_own)
    assert_passed(stays(world, updates, 500, 1))


LINE_LAW = Lines().law()


def noises(rng, n):
    """Draw the prior of lines, and some lines of it, n times."""
    rows = Lines().rows(np.zeros((1, 1)))
    hypers = [LINE_LAW.draw_hyper(rng, rows) for _ in range(n)]
    return [(LINE_LAW.draw(rng, 5, hyper), hyper) for hyper in hypers]


def learned(rng, state):
    return [(params, LINE_LAW.redraw_hyper(rng, params, hyper)) for params, hyper in state]


def another_rate(rng, state):
    """Draw a given a rate that is not the clusters'."""
    wrong = learned(rng, [(params, hyper._replace(rate=0.2)) for params, hyper in state])
    return [
        (params, hyper._replace(shape=new.shape))
        for (params, hyper), (_, new) in zip(state, wrong, strict=True)
    ]


def noise_values(state):
    shape, rate = (np.array([getattr(hyper, name) for _, hyper in state]) for name in NOISE)
    logs = np.array([np.log(params.precision).mean() for params, _ in state])
    tight = np.array([hyper.tightness[0] for _, hyper in state])
    gap = logs - np.log(shape / rate)
    return {"shape": shape, "rate": rate, "gap": gap, "gap, shape": gap * shape, "tight": tight}


NOISE = ("shape", "rate")


@pytest.mark.parametrize("move", [learned, another_rate])
def test_the_prior_of_noises(move):
    judge = assert_passed if move is learned else assert_rejected
    judge(two_sample_test(noises, [move], noise_values, n_steps=1, n_first=2_000, rng=SEED))


LEVIES = {
    "gamma": GammaProcess(2.0),
    "generalised gamma": GeneralizedGammaProcess(2.0, 0.3),
    "stable": StableProcess(1.0, 0.4),
}


@pytest.mark.parametrize("levy", LEVIES)
@pytest.mark.parametrize("name", ["bump, shared", "gp, observation"])
def test_other_levy_measures(name, levy):
    world = alone(name, levy=LEVIES[levy])
    assert_passed(stays(world, (redraw_observations, redraw_masses, rescale), 500))


def silent_gates_from_the_prior(rng, problem, state):
    """r ~ Bernoulli(p) where nothing was seen, whatever the clock says."""
    quiet = state.evidence._replace(pace=0.0)
    found = problem.likelihood.mass_evidence(rng, problem, replace(state, evidence=quiet))
    opened = found.exposure  # 0: only its gates are wanted
    log_odds = problem.thinning.log_odds(state.x, problem.prepared)
    open_TK = rng.random(log_odds.shape) < 1.0 / (1.0 + np.exp(-log_odds))
    open_TK |= state.evidence.counts > 0
    exposure = opened + (state.evidence.clock[:, None] * open_TK).sum(0)
    found = MassEvidence.of(problem.n_atoms, hits=found.hits, exposure=exposure)
    return replace(state, log_mass=state.levy.redraw(rng, state.log_mass, found))


def exposure_without_gates(rng, problem, state):
    """Every row exposes every atom of its replicate."""
    found = problem.likelihood.mass_evidence(rng, problem, state)
    owner = problem.thinning.owner_K
    clock_N = np.concatenate([own.clock for own in state.local])
    per = clock_N.reshape(problem.thinning.n_replicates, -1).sum(1)
    found = MassEvidence.of(problem.n_atoms, hits=found.hits, exposure=per[owner])
    return replace(state, log_mass=state.levy.redraw(rng, state.log_mass, found))


def rejected_rings_not_counted(rng, problem, state):
    """Expose every atom to the whole clock, and count accepted rings alone."""
    found = problem.likelihood.mass_evidence(rng, problem, state)
    per = state.evidence.clock.reshape(problem.thinning.n_replicates, -1).sum(1)
    exposure = per[problem.thinning.owner_K]
    found = MassEvidence.of(problem.n_atoms, hits=found.hits, exposure=exposure)
    return replace(state, log_mass=state.levy.redraw(rng, state.log_mass, found))


def flip_without_the_normaliser(rng, problem, state):
    """Weigh a gate by what it does to the densities, not to B: as if log odds were larger."""
    mass_K = np.exp(state.log_mass)
    owner = problem.thinning.owner_K
    total = np.bincount(owner, mass_K)[owner]
    more = np.outer(problem.trials, np.log1p(mass_K / np.maximum(total - mass_K, 1e-300)))

    class Tilted:
        def log_odds(self, x, prepared):
            return problem.thinning.log_odds(x, prepared) + more

    return redraw_observations(rng, replace(problem, thinning=Tilted()), state)


def silence_for_a_shut_gate(rng, problem, state):
    """Take q = 0: what was not seen was shut."""
    frozen = state.evidence._replace(clock=state.evidence.clock + 1e6)
    moved = redraw_activations(rng, problem, replace(state, evidence=frozen))
    return replace(state, x=moved.x)


def clusters_without_prior(rng, problem, state):
    hyper = state.own.hyper._replace(tightness=0.1 * state.own.hyper.tightness)
    moved = held_own(rng, problem, replace(state, own=state.own._replace(hyper=hyper)))
    return replace(moved, own=moved.own._replace(hyper=state.own.hyper))


TWINS = {
    "silent gates from the prior": ("bump, shared", {redraw_masses: silent_gates_from_the_prior}),
    "exposure without gates": ("rvm, observation", {redraw_masses: exposure_without_gates}),
    "rejected rings not counted": ("rvm, weighted", {redraw_masses: rejected_rings_not_counted}),
    "flip without the normaliser": (
        "bump, shared",
        {redraw_observations: flip_without_the_normaliser},
    ),
    "silence for a shut gate": ("rvm, shared", {redraw_activations: silence_for_a_shut_gate}),
    "clusters without prior": ("rvm, shared", {held_own: clusters_without_prior}),
}


@pytest.mark.parametrize("twin", TWINS)
def test_wrong_sweeps_are_rejected(twin):
    name, wrong = TWINS[twin]
    assert_rejected(stays(WORLDS[name], [wrong.get(update, update) for update in SWEEP], 3_000, 3))


def clocks_the_wrong_way(rng, problem, state):
    """Multiply the clocks where they have to be divided."""
    moved = rescale(rng, problem, state)
    pace = state.evidence.pace**2 / moved.evidence.pace
    return replace(moved, evidence=moved.evidence._replace(pace=pace))


def test_a_scale_with_clocks_the_wrong_way_is_rejected():
    world = alone("gp, shared")
    assert_rejected(stays(world, (clocks_the_wrong_way, redraw_masses), 1_000, 3))


def test_the_scale_and_the_masses():
    world = alone("gp, shared")
    assert_passed(stays(world, (rescale, redraw_masses), 1_000, 3))
