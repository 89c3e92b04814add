"""Rows that choose one by one: densities are ratios of marginals, the joint law stays."""

from dataclasses import replace

import numpy as np
import pytest
from mixture_world import Lines, Mixture, World, block, functionals, many

from thincrm.levy import GammaProcess, GeneralizedGammaProcess
from thincrm.levy.marginal import log_evidence, log_mean_mass
from thincrm.models.mixtures.collapsed import reseat, weights_of
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.seats import Seats
from thincrm.testing import assert_passed, assert_rejected, two_sample_test
from thincrm.thinning import Always, Bump, ProbitRVM, SigmoidGP

SEED = 20271
BUMP = Bump(length=(0.4, 0.5), height=0.9)
RVM = ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8)
DIAGONAL, FULL = GaussianClusters("diagonal"), GaussianClusters("full")
STUDENT, FULL_STUDENT = (replace(spec, student=True) for spec in (DIAGONAL, FULL))
WORLDS = {
    "always, shared, diagonal": World(Always(), "shared", DIAGONAL),
    "bump, weighted, full": World(BUMP, "weighted", FULL),
    "rvm, weighted, Student": World(RVM, "weighted", STUDENT, background=False),
    "gp, observation, full Student": World(
        SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2), "observation", FULL_STUDENT
    ),
    "bump, shared, lines": World(BUMP, "shared", Lines()),
    "bump, weighted, mixed": World(BUMP, "weighted", Mixture("diagonal")),
    "rvm, shared, mixed full": World(RVM, "shared", Mixture("full")),
    "generalised gamma": World(
        BUMP, "weighted", DIAGONAL, n_replicates=1, levy=GeneralizedGammaProcess(2.0, 0.3)
    ),
}


def stays(world, update, n_first=1_000, n_steps=2):
    return two_sample_test(
        many(world), [block(update)], functionals(world), n_steps=n_steps, n_first=n_first, rng=SEED
    )


@pytest.mark.joint
@pytest.mark.parametrize("name", WORLDS)
def test_reseat(name):
    world = WORLDS[name]
    assert_passed(stays(world, reseat, 500 if world.n_replicates == 1 else 1_000))


def without_exposure(rng, view):
    log_weight, place_N, exposure_K = weights_of(rng, view)
    return log_weight, place_N, np.zeros_like(exposure_K)


def gates_from_the_prior(rng, view):
    """Silent gates are drawn as if no clock had run."""
    stopped = view.clocks._replace(clock_T=0.0 * view.clocks.clock_T)
    log_weight, place_N, _ = weights_of(rng, view._replace(clocks=stopped))
    return log_weight, place_N, view.clocks.clock_T @ (log_weight == 0.0)


TWINS = {
    "without exposure": ("bump, weighted, full", without_exposure),
    "silent gates from the prior": ("bump, shared, lines", gates_from_the_prior),
}


@pytest.mark.joint
@pytest.mark.parametrize("name", TWINS)
def test_a_broken_pass_is_rejected(name):
    world, weigh = TWINS[name]

    def broken(rng, problem, state):
        return reseat(rng, problem, state, weigh)

    assert_rejected(stays(WORLDS[world], broken, 2_000))


@pytest.mark.joint
def test_holes_left_as_they_were_are_rejected():
    """A row moves, its filled holes do not."""

    def broken(rng, problem, state):
        law = problem.likelihood.clusters

        class Twin(type(law)):
            def reseat(self, key, rows, complete, seats, stats, hyper):
                kept = complete.value.copy()
                super().reseat(key, rows, complete, seats, stats, hyper)
                complete.value[:] = kept
                fresh = self.add_rows(
                    0, len(kept), key, 0, complete, seats.label_N, self.packed(state.own.params),
                    problem.n_atoms,
                )  # fmt: skip
                for old, new in zip(stats, fresh, strict=True):
                    old[:] = new

        twin = Twin(*(getattr(law, name) for name in law.__dataclass_fields__))
        likelihood = replace(problem.likelihood, clusters=twin)
        return reseat(rng, replace(problem, likelihood=likelihood), state)

    assert_rejected(stays(WORLDS["bump, weighted, full"], broken, 2_000))


LAWS = {
    "diagonal": DIAGONAL,
    "full": FULL,
    "lines": Lines(),
    "mixed": Mixture("diagonal"),
    "mixed full": Mixture("full"),
}


@pytest.mark.parametrize("name", LAWS)
def test_choices_are_by_ratios_of_marginals(name):
    """P(c_n = k) ∝ w E[π] m(rows of k and n) / m(rows of k), of rows without holes."""
    rng, n_atoms, n_rows = np.random.default_rng(5), 4, 6
    world = World(Always(), "weighted", LAWS[name], holes=0.0)
    law = world.clusters.law()
    hyper = law.start_hyper(world.rows(1))
    params = law.draw(rng, n_atoms, hyper)
    packed = law.packed(params)
    label = np.array([0, 0, 1, 1, 2, 0], np.int32)
    rows = law.complete(np.uint64(1), whole_rows(rng, world, params, label), label, packed)
    log_weight = rng.standard_normal((1, n_atoms))
    log_mass = log_mean_mass(GammaProcess(2.0), n_atoms, n_rows, np.arange(1.0, 5.0))

    def stats_of(labels):
        return law.add_rows(0, n_rows, np.uint64(0), 0, rows, labels, packed, n_atoms)

    log_K = np.empty(n_atoms)
    for k in range(n_atoms):
        moved = label.copy()
        moved[0] = k
        log_K[k] = law.log_marginal(stats_of(moved), hyper).sum() + log_weight[0, k]
        log_K[k] += log_mass[k, (label[1:] == k).sum()]
    chance = np.exp(log_K - log_K.max())
    n_tries, seen = 4_000, np.zeros(n_atoms)
    for key in range(n_tries):
        seats = Seats(
            label.copy(), np.bincount(label, minlength=n_atoms), np.array([0]),
            np.zeros(n_rows, int), log_weight, log_mass,
        )  # fmt: skip
        law.reseat(np.uint64(key), rows, rows, seats, stats_of(label), hyper)
        seen[seats.label_N[0]] += 1
        assert (seats.label_N[1:] == label[1:]).all()
    expected = chance / chance.sum()
    error = np.sqrt(expected * (1 - expected) / n_tries)
    assert np.all(np.abs(seen / n_tries - expected) < 5.2 * error + 1e-9)


def whole_rows(rng, world, params, label):
    """Draw rows without holes."""
    law = world.clusters.law()
    if isinstance(world.clusters, Lines):
        rows = world.clusters.rows(np.zeros((label.size, 1)))
        y = law.sample(rng, params, label, rows.column)
        return rows._replace(low=y, high=y)
    value = law.sample(rng, params, label)
    return (world.clusters.parts if isinstance(world.clusters, Mixture) else world.clusters.rows)(
        value
    )


@pytest.mark.parametrize("levy", [GammaProcess(2.0, 1.5), GeneralizedGammaProcess(2.0, 0.3)])
def test_mean_masses(levy):
    exposure = np.array([0.0, 0.5, 30.0])
    found = log_mean_mass(levy, 7, 4, exposure)
    assert found.shape == (3, 5)
    for k, value in enumerate(exposure):
        for hits in range(5):
            ends = log_evidence(levy, 7, np.array([hits, hits + 1.0]), np.full(2, value))
            assert found[k, hits] == pytest.approx(ends[1] - ends[0], abs=1e-10)
