"""Moves of whole clusters and of curves leave the joint law alone; forgetting a part does not."""

from dataclasses import replace

import numpy as np
import pytest
from mixture_world import Lines, World, block, functionals, many

from thincrm.levy import GeneralizedGammaProcess
from thincrm.models.mixtures import curves
from thincrm.models.mixtures.curves import renew_curves
from thincrm.models.mixtures.exchange import exchange
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.split_merge import split_or_merge
from thincrm.testing import assert_passed, assert_rejected, two_sample_test
from thincrm.thinning import Always, Bump, ProbitRVM, SigmoidGP
from thincrm.thinning.near_bumps import NearBumps

pytestmark = pytest.mark.joint
SEED = 20266
BUMP = Bump(length=(0.4, 0.5), height=0.9)
DIAGONAL = GaussianClusters("diagonal")
WORLDS = {
    "always, shared": World(Always(), "shared", DIAGONAL, n_replicates=1),
    "bump, shared": World(BUMP, "shared", DIAGONAL, n_replicates=1),
    "bump, weighted, no background": World(
        BUMP, "weighted", DIAGONAL, n_replicates=1, background=False
    ),
    "bump, weighted": World(BUMP, "weighted", DIAGONAL, n_replicates=1),
    "bump, observation": World(BUMP, "observation", DIAGONAL, n_replicates=1),
    "rvm, shared, Student, generalised gamma": World(
        ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8), "shared",
        replace(DIAGONAL, student=True), n_replicates=1, levy=GeneralizedGammaProcess(2.0, 0.3),
    ),
    "bump, weighted, lines": World(BUMP, "weighted", Lines(), n_replicates=1),
    "gp, observation, full": World(
        SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2), "observation",
        GaussianClusters("full", student=True), n_replicates=1,
    ),
}  # fmt: skip


def stays(world, move, n_first, n_moves=3):
    return two_sample_test(
        many(world), [block(move)] * n_moves, functionals(world), n_steps=1, n_first=n_first,
        rng=SEED,
    )  # fmt: skip


@pytest.mark.parametrize("name", [name for name in WORLDS if name != "bump, weighted"])
def test_split_and_merge(name):
    assert_passed(stays(WORLDS[name], split_or_merge, 400))


def without(part):
    def move(rng, problem, state):
        return split_or_merge(
            rng, problem, state, lambda ratio: ratio._replace(**{part: 0.0}).total()
        )

    return move


@pytest.mark.parametrize("part", ["atoms", "x", "shares"])
def test_a_ratio_without_a_part_is_rejected(part):
    """Without `x` the new atom's own variables are left out of the ratio."""
    assert_rejected(stays(WORLDS["bump, weighted, no background"], without(part), 600, 20))


def test_curves_near_rows_taken_for_any_are_rejected(monkeypatch):
    """Candidates lie where the atom's rows are, and their weights do not say so."""
    monkeypatch.setattr(NearBumps, "log_prior_over", lambda self, x: np.zeros(len(x[0])))
    assert_rejected(stays(WORLDS["bump, weighted"], exchange, 600, 10))


@pytest.mark.parametrize(
    "name", ["bump, shared", "bump, weighted", "bump, observation", "gp, observation, full"]
)
def test_exchange(name):
    assert_passed(stays(WORLDS[name], exchange, 400))


def test_an_exchange_without_the_gates_is_rejected():
    def move(rng, problem, state):
        return exchange(rng, problem, state, lambda gain: gain.x)

    assert_rejected(stays(WORLDS["bump, weighted"], move, 600, 10))


@pytest.mark.parametrize("name", ["bump, weighted", "bump, weighted, no background"])
def test_new_curves(name):
    assert_passed(stays(WORLDS[name], renew_curves, 400))


def test_new_curves_of_another_levy_measure():
    levy = GeneralizedGammaProcess(2.0, 0.3)
    assert_passed(stays(replace(WORLDS["bump, weighted"], levy=levy), renew_curves, 400))


def test_new_curves_without_the_masses_are_rejected():
    """Curves are chosen by the rows alone, as if being open cost nothing."""

    def move(rng, problem, state):
        return renew_curves(rng, problem, state, lambda fit, evidence: fit)

    assert_rejected(stays(WORLDS["bump, weighted, no background"], move, 600))


class NoPrior(Bump):
    """A bump that does not say how likely x is."""

    def log_prob(self, x, prepared):
        return np.zeros(len(x.log_length))


@pytest.mark.parametrize("thinning", [Bump, NoPrior])
def test_near_curves_need_their_prior(thinning, monkeypatch):
    """Many steps: the draws from the prior before them put right what a few do wrong."""
    monkeypatch.setattr(curves, "_STEPS", 60)
    world = WORLDS["bump, weighted, no background"]
    world = replace(world, thinning=thinning(length=(0.4, 0.5), height=0.9))
    judge = assert_passed if thinning is Bump else assert_rejected
    judge(stays(world, renew_curves, 300, 2))
