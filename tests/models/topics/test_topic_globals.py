"""Masses and shapes: every topic is a replicate, so that errors of ten per cent show.

Activations are given; documents are drawn gate by gate. The state holds what these updates read.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import expit, gammaln
from topic_world import ROW, TIMES, TRIALS, draw_sizes, with_likelihood

from thincrm.inference.engine import Serial
from thincrm.inference.updates import log_odds_of, redraw_masses
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics.factors import NegativeBinomialFactor, PoissonFactor
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.state import TopicGlobals
from thincrm.models.topics.sweep import redraw_shape
from thincrm.models.topics.usage import TopicEvidence
from thincrm.ports import MassEvidence, Problem, State
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test

pytestmark = pytest.mark.joint
SEED = 20262
MASS = {"poisson": (0.9, 0.7), "negative binomial": (0.3, 8.0)}  # of one topic; rate or c
E = 0.8
every_factor = pytest.mark.parametrize("name", MASS)


class Given:
    """A thinning function whose variables are the (K, T) log odds themselves."""

    def log_odds(self, x, prepared):
        return x.T


def draw(name, thinned=True):
    """Return draw(rng, n): n topics, each with documents of its own."""
    poisson = name == "poisson"

    def of(rng, n):
        a, b = MASS[name]
        odds_KT = rng.normal(0.5, 2.0, (n, TIMES.size)) if thinned else np.full((n, 3), np.inf)
        mass = rng.gamma(a, 1 / b, n) if poisson else rng.beta(b * a, b * (1 - a), n)
        shape = np.full(n, E) if poisson else rng.gamma(1.0, 1.0, n)
        size_DK = draw_sizes(rng, poisson, shape, mass, expit(odds_KT.T)[ROW])
        positive = np.stack([(size_DK[ROW == t] > 0).sum(0) for t in range(TIMES.size)])
        above = np.stack([(size_DK > j).sum(0) for j in range(max(1, size_DK.max()))])
        evidence = TopicEvidence(np.zeros((1, n)), positive, above, TRIALS, np.arange(n))
        own = TopicGlobals(None, None, 1.0, shape)
        state = State((), own, np.log(mass), odds_KT, None, evidence)
        return problem_of(name, n), size_DK, state

    return of


def problem_of(name, n):
    a, b = MASS[name]
    factor = PoissonFactor(E) if name == "poisson" else NegativeBinomialFactor()
    return Problem(
        levy=(GammaProcess if name == "poisson" else BetaProcess)(a * n, b), thinning=Given(),
        likelihood=TopicLikelihood(factor), prepared=None, shards=(), trials=TRIALS, n_atoms=n,
        engine=Serial(), learn_levy=False,
    )  # fmt: skip


def block(update, change=lambda problem: problem):
    def lifted(rng, triple):
        problem, size_DK, state = triple
        changed = change(problem)
        return problem, size_DK, update(rng, changed, replace(state, levy=changed.levy))

    return lifted


def functionals(name):
    def values(triple):
        _, size_DK, state = triple
        m, h, log_m = np.exp(state.log_mass), state.own.shape, state.log_mass
        q = m / (1 + m) if name == "poisson" else m
        log_rest = np.log1p(-np.minimum(q, 1 - 1e-16))
        p_DK = expit(state.x.T)[ROW]
        seen = gammaln(h + size_DK) - gammaln(h) + size_DK * np.log(q) + h * log_rest
        silent = np.log(1 - p_DK + p_DK * np.exp(h * log_rest))
        return {
            "log mass": log_m,
            "mass squared": m * m,
            "tokens times log mass": size_DK.sum(0) * log_m,
            "silence times log rest": (size_DK == 0).sum(0) * log_rest,
            "pairs times log rest": (size_DK > 0).sum(0) * log_rest,
            "shape": h,
            "log shape squared": np.log(h) ** 2,
            "pairs times log shape": (size_DK > 0).sum(0) * np.log(h),
            "mean": h * q / (1 - np.minimum(q, 1 - 1e-16)),
            "log-likelihood": np.where(size_DK > 0, seen, silent).sum(0),
        }

    return values


def verdict(name, blocks, thinned=True, n_first=20_000):
    return exact_rank_test(
        draw(name, thinned), blocks, functionals(name), n_first=n_first, rng=SEED
    )


@every_factor
@pytest.mark.parametrize("thinned", [True, False], ids=["thinned", "always"])
def test_masses(name, thinned):
    assert_passed(verdict(name, [block(redraw_masses)], thinned))


@pytest.mark.parametrize("thinned", [True, False], ids=["thinned", "always"])
def test_shapes(thinned):
    assert_passed(verdict("negative binomial", [block(redraw_shape)], thinned))


def test_masses_and_shapes():
    assert_passed(verdict("negative binomial", [block(redraw_shape), block(redraw_masses)]))


def more_mass(problem):
    return replace(problem, levy=replace(problem.levy, mass=1.1 * problem.levy.mass))


def more_rate(problem):
    name = "rate" if isinstance(problem.levy, GammaProcess) else "concentration"
    return replace(problem, levy=replace(problem.levy, **{name: 1.1 * getattr(problem.levy, name)}))


def more_shape(problem):
    return with_factor(problem, Stretched(problem.likelihood.factor))


def with_factor(problem, factor):
    return replace(problem, likelihood=replace(problem.likelihood, factor=factor))


class Stretched:
    """A factor that takes shapes ten per cent too large where it adds up masses' evidence."""

    def __init__(self, factor):
        self.usage, self.factor = factor.usage, factor

    def mass_evidence(self, rng, shape, *rest):
        return self.factor.mass_evidence(rng, 1.1 * shape, *rest)


@every_factor
@pytest.mark.parametrize("change", [more_mass, more_rate, more_shape], ids=lambda f: f.__name__)
def test_ten_percent_errors_of_masses_are_rejected(name, change):
    assert_rejected(verdict(name, [block(redraw_masses, change)], n_first=80_000))


OPEN = {  # how many documents a topic is open in: wrong answers
    "all documents": lambda rng, evidence, odds: np.broadcast_to(
        evidence.trials[:, None], odds.shape
    ),
    "only those with tokens": lambda rng, evidence, odds: evidence.positive,
    "silent ones as likely as any": lambda rng, evidence, odds: (
        evidence.positive + rng.binomial(evidence.trials[:, None] - evidence.positive, expit(odds))
    ),
}


@every_factor
@pytest.mark.parametrize("twin", OPEN)
def test_wrong_counts_of_open_documents_are_rejected(name, twin):
    """The first is the paper's printed rate of a mass, a sum over all documents."""

    class Twin(TopicLikelihood):
        def mass_evidence(self, rng, problem, state):
            opened = OPEN[twin](rng, state.evidence, log_odds_of(problem, state.x))
            seen = state.own.shape, state.log_mass, state.evidence, opened
            return self.factor.mass_evidence(rng, *seen)

    assert_rejected(verdict(name, [block(redraw_masses, partial(with_likelihood, Twin))]))


class WithoutTokens(PoissonFactor):
    """A factor whose overflow leaves the tokens out."""

    def mass_evidence(self, rng, shape, log_mass, evidence, opened):
        return MassEvidence.of(shape.size, hits=evidence.total, overflow=shape * opened.sum(0))


def test_overflow_without_the_tokens_is_rejected():
    def change(problem):
        return with_factor(problem, WithoutTokens(E))

    assert_rejected(verdict("poisson", [block(redraw_masses, change)]))


PRIORS = {
    "rate ten per cent too large": ((1.0, 1.1), 80_000),
    "a Jacobian too many": ((2.0, 1.0), 5_000),
    "no rate": ((1.0, 0.02), 5_000),
}


@pytest.mark.parametrize("twin", PRIORS)
def test_wrong_priors_of_shapes_are_rejected(twin):
    prior, n_first = PRIORS[twin]

    class Twin(NegativeBinomialFactor):
        def redraw_shape(self, *seen):
            return NegativeBinomialFactor.redraw_shape(self, *seen, prior=prior)

    def change(problem):
        return with_factor(problem, Twin())

    assert_rejected(verdict("negative binomial", [block(redraw_shape, change)], n_first=n_first))


def test_shapes_with_all_gates_open_are_rejected():
    def wrong(rng, problem, state):
        moved = redraw_shape(rng, problem, replace(state, x=np.full(state.x.shape, np.inf)))
        return replace(moved, x=state.x)

    assert_rejected(verdict("negative binomial", [block(wrong)], n_first=5_000))
