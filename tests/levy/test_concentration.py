"""The beta process's concentration, learned with its masses integrated out."""

import numpy as np

from thincrm.levy import BetaProcess, GammaProcess
from thincrm.levy.learning import PRIORS, learn_concentration
from thincrm.ports import MassEvidence
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test, looped

SEED, K = 20266, 4
CONCENTRATION_PRIOR = PRIORS.concentration
TRIALS = np.array([3, 10, 30, 0])


def draw(rng):
    c = rng.gamma(CONCENTRATION_PRIOR[0]) / CONCENTRATION_PRIOR[1]
    levy = BetaProcess(1.5, max(c, 1e-3))
    mass = np.exp(levy.draw_log_mass(rng, K))
    hits = rng.binomial(TRIALS, np.minimum(mass, 1.0))
    return levy, MassEvidence.of(K, hits=hits, misses=TRIALS - hits)


def functionals(state):
    levy, evidence = state
    log_c = np.log(levy.concentration)
    return {
        "concentration": levy.concentration,
        "log": log_c,
        "hits times log": evidence.hits.sum() * log_c,
        "ends times log": ((evidence.hits == 0) | (evidence.misses == 0)).sum() * log_c,
    }


def ranks(update):
    return exact_rank_test(*looped(draw, [update], functionals), n_steps=3, n_first=2_000, rng=SEED)


def test_the_law_stays():
    assert_passed(
        ranks(lambda rng, state: (learn_concentration(state[0], rng, state[1]), state[1]))
    )


def test_misses_forgotten_are_seen():
    def wrong(rng, state):
        evidence = MassEvidence.of(K, hits=state[1].hits, misses=0.0)
        return learn_concentration(state[0], rng, evidence), state[1]

    assert_rejected(ranks(wrong))


def test_other_measures_have_none():
    levy = GammaProcess()
    assert learn_concentration(levy, np.random.default_rng(0), MassEvidence.of(K)) is levy
