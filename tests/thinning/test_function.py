"""Any function as a thinning function."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from thincrm.errors import ThincrmError
from thincrm.ports import GateEvidence, Thinning
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test
from thincrm.thinning.function import FunctionThinning

T = np.array([0.0, 0.4, 1.0])
TRIALS = np.array([2, 1, 3])


def wave(x, t):
    return expit(3 * np.sin(4 * (t[:, None] - x[:, 0])) + x[:, 1])


def draw_wave(rng, n):
    return np.column_stack([rng.uniform(0, 1.5, n), rng.normal(-1, 0.7, n)])


def log_prior_wave(x):
    return stats.uniform(0, 1.5).logpdf(x[:, 0]) + stats.norm(-1, 0.7).logpdf(x[:, 1])


WAVE = FunctionThinning(wave, draw_wave, log_prior_wave)


def test_it_is_the_function():
    assert isinstance(WAVE, Thinning)
    prepared = WAVE.prepare(T)
    x = WAVE.draw(0, 4, prepared)
    assert np.allclose(expit(WAVE.log_odds(x, prepared)), wave(x.value, T))
    assert np.allclose(expit(WAVE.log_odds(x, prepared, 0.7)), wave(x.value, np.array([0.7])))
    assert np.allclose(WAVE.log_prob(x, prepared), log_prior_wave(x.value))


def test_sure_gates_and_rows_of_several_columns():
    def corner(x, t):
        return (t[:, :1] > x) * (t[:, 1:] > x) * 1.0

    thinning = FunctionThinning(corner, lambda rng, n: rng.random(n))
    prepared = thinning.prepare([[0.0, 0.9], [0.5, 0.5]])
    log_odds = thinning.log_odds(thinning.draw(0, 6, prepared), prepared)
    assert set(np.unique(log_odds)) <= {-np.inf, np.inf}
    assert thinning.mean_activation(prepared) == pytest.approx([0.0, 0.5], abs=5 * 0.0011)
    pair = thinning.pair_activation(prepared, [[0.8, 0.8]], [[0.5, 0.6], [0.9, 0.9]], "independent")
    assert pair == pytest.approx(np.array([[0.5, 0.8]]), abs=5 * 0.0011)


def test_prior_means_are_within_their_stated_error():
    thinning = FunctionThinning(
        lambda x, t: np.exp(-t[:, None] * x), lambda rng, n: rng.standard_exponential(n)
    )
    t = np.array([0.5, 1.0, 3.0])
    prepared = thinning.prepare(t)
    # E e^{-tx} = 1/(1+t), E min(e^{-sx}, e^{-tx}) = 1/(1+max); five standard errors
    assert thinning.mean_activation(prepared) == pytest.approx(1 / (1 + t), abs=5 * 0.0011)
    product = thinning.pair_activation(prepared, t, t, "independent")
    assert product == pytest.approx(1 / (1 + np.add.outer(t, t)), abs=5 * 0.0011)
    smaller = thinning.pair_activation(prepared, t, t, "comonotone")
    assert smaller == pytest.approx(1 / (1 + np.maximum.outer(t, t)), abs=5 * 0.0011)
    assert np.array_equal(product, thinning.pair_activation(prepared, t, t, "independent"))


def rank_test(thinning, mover):
    prepared = thinning.prepare(T)
    log_q = np.log([0.3, 0.6, 0.8])

    def draw(rng, n):
        x = thinning.draw(rng, n, prepared)
        opened = rng.binomial(TRIALS[:, None], expit(thinning.log_odds(x, prepared)))
        positive = rng.binomial(opened, -np.expm1(log_q)[:, None])
        return x, GateEvidence.of(positive, TRIALS, np.repeat(log_q[:, None], n, axis=1))

    def functionals(state):
        x, evidence = state
        return {
            "phase": x.value[:, 0],
            "bias": x.value[:, 1],
            "fit": (evidence.positive * expit(thinning.log_odds(x, prepared))).sum(0),
        }

    def block(rng, state):
        return mover.redraw(rng, *state, prepared), state[1]

    return exact_rank_test(draw, [block], functionals, n_steps=3, n_first=5000, rng=1)


@pytest.mark.parametrize("log_prior", [log_prior_wave, None])
def test_redraw_leaves_the_posterior_invariant(log_prior):
    thinning = FunctionThinning(wave, draw_wave, log_prior)
    assert_passed(rank_test(thinning, thinning))


def test_a_density_that_is_not_the_sampler_is_rejected():
    wrong = FunctionThinning(wave, draw_wave, lambda x: log_prior_wave(x) + 0.7 * x[:, 1])
    assert_rejected(rank_test(WAVE, wrong))


@pytest.mark.parametrize(
    ("thinning", "words"),
    [
        (FunctionThinning(lambda x, t: wave(x, t).T, draw_wave), r"shape \(4, 3\)"),
        (FunctionThinning(lambda x, t: 1.5 + 0 * wave(x, t), draw_wave), "1.5 at t = 0.0"),
        (FunctionThinning(lambda x, t: np.nan * wave(x, t), draw_wave), "nan at t = 0.0"),
        (FunctionThinning(lambda x, t: wave(x, t) - (t[:, None] > 0.5), draw_wave), "at t = 1.0"),
        (FunctionThinning(wave, lambda rng, n: np.zeros((n + 1, 2))), "one per atom"),
        (FunctionThinning(wave, lambda rng, n: 0.5), "one per atom"),
        (FunctionThinning(wave, lambda rng, n: np.full((n, 2), np.nan)), "not finite"),
    ],
)
def test_a_bad_function_gives_a_sentence(thinning, words):
    prepared = thinning.prepare(T)
    with pytest.raises(ThincrmError, match=words):
        thinning.log_odds(thinning.draw(0, 4, prepared), prepared)


def test_bad_arguments_give_a_sentence():
    with pytest.raises(ThincrmError, match="function must be callable"):
        FunctionThinning(3, draw_wave)
    with pytest.raises(ThincrmError, match="draw_x must be callable"):
        FunctionThinning(wave, None)
    with pytest.raises(ThincrmError, match="log_prior must be callable or None"):
        FunctionThinning(wave, draw_wave, 3)
    without = FunctionThinning(wave, draw_wave)
    prepared = without.prepare(T)
    with pytest.raises(ThincrmError, match="pass log_prior"):
        without.log_prob(without.draw(0, 2, prepared), prepared)
    shapeless = FunctionThinning(wave, draw_wave, lambda x: 0.0)
    with pytest.raises(ThincrmError, match="one number"):
        shapeless.log_prob(shapeless.draw(0, 2, prepared), prepared)
