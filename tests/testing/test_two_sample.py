import numpy as np
import pytest
from scipy import stats
from toy_samplers import LEVEL_REPEATS, RIGHT, TWINS, Hierarchy, NormalGamma, Probit

from thincrm.errors import InvalidInput
from thincrm.testing import assert_passed, assert_rejected, two_sample_test
from thincrm.testing.two_sample import _p_rank_sum


@pytest.mark.parametrize("toy", RIGHT)
def test_right_samplers_pass(toy):
    assert_passed(two_sample_test(toy.draw, toy.blocks(), toy.functionals, rng=1))


@pytest.mark.parametrize("name", TWINS)
def test_broken_twins_are_rejected(name):
    toy, bug = TWINS[name]
    assert_rejected(two_sample_test(toy.draw, toy.blocks(**bug), toy.functionals, rng=2))


@pytest.mark.parametrize("repeats", LEVEL_REPEATS)
@pytest.mark.parametrize("toy", RIGHT)
def test_level(toy, repeats):
    """A right sampler, tested at a nominal 5 %, is rejected no more often than that."""
    rejected = sum(
        not two_sample_test(
            toy.draw, toy.blocks(), toy.functionals, level=0.05, n_first=200, rng=seed
        )
        for seed in range(repeats)
    )
    assert stats.binom.sf(rejected - 1, repeats, 0.05) > 1e-5, rejected


def test_nothing_has_to_be_reversible():
    def scan(rng, s):
        return Hierarchy.redraw_b(rng, Hierarchy.redraw_a_without_b(rng, s))

    draw, functionals = Hierarchy.draw, Hierarchy.functionals
    assert_passed(two_sample_test(draw, [scan], functionals, rng=3))
    stale = [Hierarchy.redraw_b, Hierarchy.redraw_a_without_b]
    assert_rejected(two_sample_test(draw, stale, functionals, rng=3))


def test_data_redrawn_between_sweeps():
    def redraw_y(rng, s):
        noise = rng.normal(size=s["y"].shape) / np.sqrt(s["tau"])
        return s | {"y": s["mu"] + noise}

    toy = NormalGamma
    assert_passed(two_sample_test(toy.draw, [*toy.blocks(), redraw_y], toy.functionals, rng=4))
    wrong = [*toy.blocks(rate=1.03), redraw_y]
    assert_rejected(two_sample_test(toy.draw, wrong, toy.functionals, rng=4))


def test_a_wrong_variance_shows_in_the_spread_alone():
    def functionals(s):
        return {"b1": s["b"][1]}

    verdict = two_sample_test(Probit.draw, Probit.blocks(precision=0.8), functionals, rng=5)
    assert_rejected(verdict)
    assert verdict.p_values["b1 spread"] < 1e-6
    assert verdict.p_values["b1"] > 1e-5


def test_rank_sum_agrees_with_scipy():
    rng = np.random.default_rng(6)
    for x, y in [
        (rng.normal(size=40), rng.normal(0.3, 1.0, size=40)),
        (rng.integers(0, 4, 60).astype(float), rng.integers(0, 5, 60).astype(float)),
    ]:
        ours = _p_rank_sum(x, y)
        theirs = stats.mannwhitneyu(x, y, method="asymptotic", use_continuity=False).pvalue
        assert ours == pytest.approx(theirs, rel=1e-12)
    assert _p_rank_sum(np.ones(5), np.ones(5)) == 1.0


def test_no_blocks():
    with pytest.raises(InvalidInput, match="blocks is empty"):
        two_sample_test(NormalGamma.draw, [], NormalGamma.functionals, rng=1)
