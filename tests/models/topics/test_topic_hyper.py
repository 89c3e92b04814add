"""Whole sweeps with everything learned, and with background topics: one world at a time."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import expit, gammaln
from topic_world import (
    ROW,
    TIMES,
    all_topics,
    as_state,
    draw_sizes,
    draw_tokens,
    level_of,
    problem_of,
    rows_of,
    sizes,
    topics_of,
)

from thincrm.inference.updates import redraw_masses
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.levy.learning import LevyPriors
from thincrm.models.topics.factors import (
    GammaNegativeBinomialFactor,
    NegativeBinomialFactor,
    PoissonFactor,
)
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.sweep import (
    SWEEP,
    redraw_bursts,
    redraw_globals,
    redraw_shape,
    redraw_topics,
)
from thincrm.models.topics.words import UrnLaw
from thincrm.testing import assert_passed, assert_rejected, looped, two_sample_test
from thincrm.thinning import Always, Bump, ProbitRVM, SigmoidGP

pytestmark = pytest.mark.joint
SEED = 20265
K, P, C = 3, 4, 6.0
# documents of worlds from the library's own wide priors would be huge now and then
MASS_PRIOR = {True: (3.0, 1.0), False: (3.0, 6.0)}
RATE_PRIOR = (4.0, 4.0)
URN_LAW = UrnLaw(2.0, 0.5, least=1.0)
CASES = {
    "rvm, poisson": (ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8), True, 0),
    "gp, negative binomial": (SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2), False, 1),
    "bump, poisson": (Bump(length=(0.4, 0.5), height=0.9), True, 2),
    "always, negative binomial": (Always(), False, 0),
    "rvm, levels": (ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8), True, 1),
}
ODDS = np.array([0.3, 1.0, 4.0])  # of levels


def with_priors(poisson):
    """Return the updates whose priors are tight here."""
    priors = LevyPriors(mass=MASS_PRIOR[poisson], rate=RATE_PRIOR)
    masses = partial(redraw_masses, priors=priors)
    bursts = partial(redraw_bursts, law=URN_LAW)
    return {
        redraw_masses: masses,
        redraw_bursts: bursts,
        redraw_globals: partial(redraw_globals, without_words=(redraw_shape, masses, bursts)),
    }


def gamma(rng, prior):
    return rng.gamma(prior[0]) / prior[1]


def draw_levy(rng, poisson):
    """Draw the measure's parameters; the beta process has its mass below K."""
    mass = gamma(rng, MASS_PRIOR[poisson])
    if poisson:
        return GammaProcess(mass, gamma(rng, RATE_PRIOR))
    while mass >= K:
        mass = gamma(rng, MASS_PRIOR[poisson])
    return BetaProcess(mass, C)


def draw_log_mass(rng, levy):
    """Draw log masses without underflow, however small the shape."""

    def log_gamma(shape):
        return np.log(rng.gamma(shape + 1.0, size=K)) + np.log(rng.random(K)) / shape

    share = levy.mass / K
    if isinstance(levy, GammaProcess):
        return log_gamma(share) - np.log(levy.rate)
    return -np.logaddexp(0.0, log_gamma(C * (1 - share)) - log_gamma(C * share))


def draw_urn(rng):
    """Draw s ~ Gamma, cut off below."""
    s = gamma(rng, URN_LAW)
    while s < URN_LAW.least:
        s = gamma(rng, URN_LAW)
    return s


def draw(name):
    """Return draw(rng): (problem, state) with every parameter from its prior."""
    thinning, poisson, n_background = CASES[name]
    row = np.zeros_like(ROW) if isinstance(thinning, Always) else ROW
    prepared = thinning.prepare(np.zeros(ROW.size) if row.max() == 0 else TIMES[ROW])

    def of(rng):
        levy, concentration, s = draw_levy(rng, poisson), rng.gamma(1.0), draw_urn(rng)
        log_mass = draw_log_mass(rng, levy)
        mass = np.minimum(np.exp(log_mass), 1e4 if poisson else 1 - 1e-9)
        shape = np.full(K, rng.gamma(1.0)) if poisson else rng.gamma(1.0, size=K)
        x = thinning.draw(rng, K - n_background, prepared)
        open_TK = expit(thinning.log_odds(x, prepared))
        open_TK = np.hstack([np.ones((len(open_TK), n_background)), open_TK])
        share = rng.dirichlet(np.ones(ODDS.size))
        if name.endswith("levels"):
            level, shape = rng.choice(ODDS.size, ROW.size, p=share), np.ones(K)
            q_D1 = (ODDS / (1 + ODDS))[level, None]
            size_DK = draw_sizes(rng, False, mass, q_D1, open_TK[row])
        else:
            level, size_DK = None, draw_sizes(rng, poisson, shape, mass, open_TK[row])
        theta_PK = rng.dirichlet(np.full(P, concentration), K).T
        document, topic = np.nonzero(size_DK)
        pairs = document, topic, size_DK[document, topic]
        tokens, label, fresh = draw_tokens(rng, pairs, theta_PK, ROW.size, 1 / s)
        problem = problem_of(
            tokens, row, levy=levy, thinning=thinning, prepared=prepared,
            likelihood=TopicLikelihood(factor_of(name), None, None), trials=np.bincount(row),
            n_atoms=K, n_background=n_background,
        )  # fmt: skip
        state = as_state(problem, label, fresh, theta_PK, shape, log_mass, x, level)
        if level is not None:
            state = state.with_own(log_share=np.log(share))
        return problem, state.with_own(concentration=concentration, burstiness=1 / s)

    return of


def factor_of(name):
    if name.endswith("levels"):
        return GammaNegativeBinomialFactor(tuple(ODDS))
    return PoissonFactor() if CASES[name][1] else NegativeBinomialFactor()


def functionals(name):
    thinning, poisson, n_background = CASES[name]

    def values(pair):
        problem, state = pair
        size_DK, levy = sizes(problem, state), state.levy
        odds = thinning.log_odds(state.x, problem.prepared)
        theta, counts = topics_of(state)
        log_theta, log_mass = np.log(np.maximum(theta, 1e-30)), state.log_mass
        a, h, s = state.own.concentration, state.own.shape, 1 / state.own.burstiness
        urn = (gammaln(s + size_DK) - gammaln(s)).sum()
        level, log_share = level_of(state), state.own.log_share
        if level is None:
            level, log_share = np.zeros(ROW.size, int), np.zeros(1)
        return {
            "tokens of topic 0 in document 0": size_DK[0, 0],
            "squares": (size_DK**2).sum(),
            "word 0 in topic 0": counts[0, 0],
            "theta": theta[0, 0],
            "words given topics": (counts * log_theta).sum(),
            "concentration": a,
            "a log theta": a * log_theta.sum(),
            "log mass": log_mass[0],
            "last log mass": log_mass[-1],
            "tokens times log mass": (size_DK.sum(0) * log_mass).sum(),
            "shape": h[0],
            "pairs times log shape": ((size_DK > 0).sum(0) * np.log(h)).sum(),
            "size given shape": (gammaln(h + size_DK) - gammaln(h)).sum(),
            "total mass": levy.mass,
            "total mass times log mass": levy.mass * log_mass.sum(),
            "rate": levy.rate if poisson else 0.0,
            "rate times mass": (levy.rate if poisson else 1.0) * np.exp(log_mass).sum(),
            "p": expit(odds[0, 0]),
            "p squared": (expit(odds) ** 2).sum(),
            "p times tokens": (expit(odds)[rows_of(problem)] * size_DK[:, n_background:]).sum(),
            "level": level[0],
            "level times tokens": (level * size_DK.sum(1)).sum(),
            "log share": log_share[0],
            "levels given shares": log_share[level].sum(),
            "urn": s,
            "urn given echoes": counts.sum() * np.log(s) - urn,
        }

    return values


def verdict(name, updates, n_first, n_steps=2):
    def block(update):
        return lambda rng, pair: (pair[0], all_topics(rng, pair[0], update(rng, *pair)))

    own = with_priors(CASES[name][1])
    blocks = [block(own.get(update, update)) for update in updates]
    arguments = looped(draw(name), blocks, functionals(name))
    return two_sample_test(*arguments, n_steps=n_steps, n_first=n_first, rng=SEED)


@pytest.mark.parametrize("name", CASES)
def test_whole_sweep_with_everything_learned(name):
    assert_passed(verdict(name, SWEEP, n_first=1_000))


@pytest.mark.parametrize(
    "update",
    [redraw_masses, redraw_topics, redraw_bursts, redraw_globals],
    ids=lambda u: u.__name__,
)
@pytest.mark.parametrize("name", ["bump, poisson", "gp, negative binomial"])
def test_blocks_with_parameters_of_their_own(name, update):
    assert_passed(verdict(name, [update], n_first=1_000))


def stale_topics(rng, problem, state):
    """Draw the concentration without the topics, and leave those as they were."""
    return state.with_own(concentration=redraw_topics(rng, problem, state).own.concentration)


def topics_before_concentration(rng, problem, state):
    """Draw topics with the concentration of before."""
    fixed = replace(problem, likelihood=replace(problem.likelihood, concentration=1.0))
    before = redraw_topics(rng, fixed, state)
    return before.with_own(concentration=redraw_topics(rng, problem, state).own.concentration)


@pytest.mark.parametrize(
    "update", [stale_topics, topics_before_concentration], ids=lambda u: u.__name__
)
def test_stale_topics_are_rejected(update):
    assert_rejected(verdict("bump, poisson", [update], n_first=2_000, n_steps=3))
