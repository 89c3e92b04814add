"""A Lévy measure's own parameters, learned with its masses integrated out."""

import dataclasses

import numpy as np
import pytest
from scipy import integrate, special, stats

from thincrm.levy import BetaProcess, GammaProcess, GeneralizedGammaProcess
from thincrm.levy.learning import PRIORS, LevyPriors, learn, mass_density
from thincrm.ports import MassEvidence
from thincrm.testing import (
    assert_passed,
    assert_rejected,
    check_conditional,
    looped,
    two_sample_test,
)

SEED, K, C = 20264, 3, 5.0
EXPOSURE = np.array([0.0, 0.8, 3.0])
MISSES = np.array([0.0, 1.5, 4.0])
TIGHT = (10.0, 5.0)  # priors under which ten per cent is a large part of the spread


def log_gamma(rng, shape):
    """Draw log G, G ~ Gamma(shape), however small the shape."""
    return np.log(rng.gamma(shape + 1.0, size=K)) + np.log(rng.random(K)) / shape


def prior_draw(rng, prior):
    return rng.gamma(prior[0]) / prior[1]


class Gamma:
    """mass, rate, masses, and counts Poisson(m exposure)."""

    @staticmethod
    def draw(mass_prior, rate_prior):
        def of(rng):
            mass, rate = prior_draw(rng, mass_prior), prior_draw(rng, rate_prior)
            log_mass = log_gamma(rng, mass / K) - np.log(rate)
            hits = rng.poisson(np.exp(log_mass) * EXPOSURE)
            evidence = MassEvidence.of(K, hits=hits, exposure=EXPOSURE)
            return GammaProcess(mass, rate), log_mass, evidence

        return of

    @staticmethod
    def functionals(state):
        levy, log_mass, evidence = state
        a, m = levy.mass / K, np.exp(log_mass)
        prior = a * log_mass - levy.rate * m - special.gammaln(a) + a * np.log(levy.rate)
        return {
            "mass": levy.mass,
            "log mass": np.log(levy.mass),
            "rate": levy.rate,
            "log rate": np.log(levy.rate),
            "mass log rate": levy.mass * np.log(levy.rate),
            "atom": log_mass[0],
            "total": m.sum(),
            "hits atom": (evidence.hits * log_mass).sum(),
            "hits mass": evidence.hits.sum() * np.log(levy.mass),
            "rate total": levy.rate * m.sum(),
            "log prior": prior.sum(),
        }


class Beta:
    """mass below K, masses, and counts Binomial with given misses: m^hits (1 - m)^misses."""

    @staticmethod
    def draw(mass_prior, _):
        def of(rng):
            mass = prior_draw(rng, mass_prior)
            while mass >= K:
                mass = prior_draw(rng, mass_prior)
            x = special.log_expit(log_gamma(rng, C * mass / K) - log_gamma(rng, C * (1 - mass / K)))
            m = np.exp(x)
            # negative binomial counts with shape `misses`: their likelihood is m^n (1 - m)^misses
            usage = rng.gamma(np.maximum(MISSES, 1e-9)) * m / np.maximum(1 - m, 1e-12)
            hits = np.where(MISSES > 0, rng.poisson(np.minimum(usage, 1e6)), 0)
            evidence = MassEvidence.of(K, hits=hits, misses=MISSES)
            return BetaProcess(mass, C), np.minimum(x, -1e-300), evidence

        return of

    @staticmethod
    def functionals(state):
        levy, log_mass, evidence = state
        a, b = C * levy.mass / K, C * (1 - levy.mass / K)
        log_rest = np.log(-np.expm1(log_mass))
        prior = a * log_mass + (b - 1) * log_rest - special.betaln(a, b)
        return {
            "mass": levy.mass,
            "mass squared": levy.mass**2,
            "atom": log_mass[0],
            "total": np.exp(log_mass).sum(),
            "hits atom": (evidence.hits * log_mass).sum(),
            "rest": log_rest.sum(),
            "hits mass": evidence.hits.sum() * np.log(levy.mass),
            "log prior": prior.sum(),
        }


def block(priors):
    """Return the update, with given priors."""

    def update(rng, state):
        levy, log_mass, evidence = state
        return *learn(levy, rng, log_mass, evidence, priors), evidence

    return update


def verdict(kind, priors, update, n_first, n_steps=4):
    arguments = looped(kind.draw(priors.mass, priors.rate), [update], kind.functionals)
    return two_sample_test(*arguments, n_steps=n_steps, n_first=n_first, rng=SEED)


BOTH_TIGHT = LevyPriors(TIGHT, TIGHT)


@pytest.mark.joint
@pytest.mark.parametrize("priors", [PRIORS, BOTH_TIGHT], ids=["as it is", "tight"])
@pytest.mark.parametrize("kind", [Gamma, Beta], ids=["gamma", "beta"])
def test_parameters_and_masses(kind, priors):
    assert_passed(verdict(kind, priors, block(priors), n_first=3_000))


WRONG = {
    "shape of the mass": LevyPriors((11.0, 5.0), TIGHT),
    "rate of the mass": LevyPriors((10.0, 5.5), TIGHT),
    "shape of the rate": LevyPriors(TIGHT, (11.0, 5.0)),
    "rate of the rate": LevyPriors(TIGHT, (10.0, 5.5)),
}


@pytest.mark.joint
@pytest.mark.parametrize("name", WRONG)
def test_ten_percent_errors_of_a_gamma_process_are_rejected(name):
    wrong = block(WRONG[name])
    assert_rejected(verdict(Gamma, BOTH_TIGHT, wrong, n_first=3_000, n_steps=5))


WIDE = LevyPriors((2.0, 1.0), (2.0, 1.0))


def written_out(concentration):
    """Return the gamma process's update with the tables of CRT(hits, concentration(mass))."""

    def update(rng, state):
        levy, _, evidence = state
        c, step = concentration(levy.mass), np.arange(evidence.hits.max(initial=0))
        tables = sum((rng.random(int(n)) * (c + step[: int(n)]) < c).sum() for n in evidence.hits)
        pull = np.log1p(evidence.exposure / levy.rate).sum() / K
        mass = rng.gamma(WIDE.mass[0] + tables) / (WIDE.mass[1] + pull)
        log_mass = log_gamma(rng, mass / K + evidence.hits) - np.log(levy.rate + evidence.exposure)
        rate = rng.gamma(WIDE.rate[0] + mass) / (WIDE.rate[1] + np.exp(log_mass).sum())
        return GammaProcess(mass, rate), log_mass, evidence

    return update


@pytest.mark.joint
def test_tables_of_the_wrong_restaurant_are_rejected():
    """CRT(hits, mass) instead of CRT(hits, mass / K); written out, as the library has the right."""
    assert_passed(verdict(Gamma, WIDE, written_out(lambda mass: mass / K), n_first=3_000))
    assert_rejected(verdict(Gamma, WIDE, written_out(lambda mass: mass), n_first=6_000))


@pytest.mark.joint
def test_stale_masses_are_rejected():
    """Parameters drawn with the masses integrated out, and masses left as they were."""
    right = block(BOTH_TIGHT)

    def stale(rng, state):
        return right(rng, state)[0], state[1], state[2]

    assert_rejected(verdict(Gamma, BOTH_TIGHT, stale, n_first=3_000))


def test_mass_of_a_beta_process_has_its_conditional():
    """The masses are integrated out by quadrature here."""
    hits = np.array([0.0, 2.0, 9.0])
    evidence = MassEvidence.of(K, hits=hits, misses=MISSES)
    of_logit = mass_density(BetaProcess(0.9, C), evidence)

    def density(mass):
        return float(of_logit(np.array([special.logit(mass / K)]))[0])

    def log_joint(mass, prior=PRIORS.mass):
        share = mass / K
        fit = stats.gamma.logpdf(mass, prior[0], scale=1 / prior[1]) + np.log(mass * (1 - share))
        for h, f in zip(hits, MISSES, strict=True):
            law = stats.beta(C * share, C * (1 - share))
            of = integrate.quad(
                lambda u, h=h, f=f, law=law: law.ppf(u) ** h * (1 - law.ppf(u)) ** f,
                0, 1, epsabs=1e-13, epsrel=1e-11, limit=200,
            )  # fmt: skip
            fit += np.log(of[0])
        return fit

    grid = [0.3, 0.8, 1.0, 1.7, 2.6]
    check_conditional(log_joint, density, grid, tolerance=1e-6)
    for prior in ((1.1, 0.1), (1.0, 0.2)):
        with pytest.raises(AssertionError, match="the conditional says"):
            check_conditional(lambda m, p=prior: log_joint(m, p), density, grid, tolerance=1e-6)
    assert density(1e-306) == -np.inf
    assert density(np.nextafter(K, 0)) > -np.inf


@pytest.mark.parametrize("levy", [GammaProcess(2.0, 0.5), BetaProcess(2.0, 3.0)], ids=repr)
@pytest.mark.parametrize("hits", [0, 40_000])
def test_learning_at_the_ends_of_the_evidence(levy, hits):
    """No evidence at all, or plenty: finite parameters, masses inside, nothing else changed."""
    rng = np.random.default_rng(1)
    log_mass = levy.draw_log_mass(rng, 10)
    side = "exposure" if isinstance(levy, GammaProcess) else "misses"
    evidence = MassEvidence.of(10, hits=hits, **{side: 0.1 * hits})
    for _ in range(50):
        levy, log_mass = learn(levy, rng, log_mass, evidence)
        values = dataclasses.astuple(levy)
        assert all(np.isfinite(value) and value > 0 for value in values)
        assert np.all(np.isfinite(log_mass))
        assert np.all(np.exp(log_mass) <= levy.support)
    if isinstance(levy, BetaProcess):
        assert levy.mass < 10
        assert levy.concentration == 3.0


def test_a_measure_without_a_rule_keeps_its_parameters():
    rng, levy = np.random.default_rng(2), GeneralizedGammaProcess(2.0, 0.3, 1.0)
    log_mass = levy.draw_log_mass(rng, 5)
    evidence = MassEvidence.of(5, hits=3.0, exposure=2.0)
    same, moved = learn(levy, rng, log_mass, evidence)
    assert same is levy
    assert np.all(moved != log_mass)
