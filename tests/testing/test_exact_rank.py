import numpy as np
import pytest
from scipy import stats
from toy_samplers import LEVEL_REPEATS, RIGHT, TWINS, Hierarchy, NormalGamma, Probit

from thincrm.errors import InvalidInput, InvalidType
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test, looped
from thincrm.testing.rank import _p_uniform, _rank_counts


@pytest.mark.parametrize("toy", RIGHT)
def test_right_samplers_pass(toy):
    assert_passed(exact_rank_test(toy.draw, toy.blocks(), toy.functionals, rng=1))


@pytest.mark.parametrize("name", TWINS)
def test_broken_twins_are_rejected(name):
    toy, bug = TWINS[name]
    assert_rejected(exact_rank_test(toy.draw, toy.blocks(**bug), toy.functionals, rng=2))


@pytest.mark.parametrize("repeats", LEVEL_REPEATS)
@pytest.mark.parametrize("toy", RIGHT)
def test_level(toy, repeats):
    """A right sampler, tested at a nominal 5 %, is rejected no more often than that."""
    rejected = sum(
        not exact_rank_test(
            toy.draw, toy.blocks(), toy.functionals, level=0.05, n_first=200, rng=seed
        )
        for seed in range(repeats)
    )
    assert stats.binom.sf(rejected - 1, repeats, 0.05) > 1e-5, rejected


def test_blocks_that_integrate_out_must_carry_their_redraw():
    """(a without b, then b) is one block; in the other order b is stale when a is drawn."""

    def a_then_b(rng, s):
        return Hierarchy.redraw_b(rng, Hierarchy.redraw_a_without_b(rng, s))

    a_out, b = Hierarchy.redraw_a_without_b, Hierarchy.redraw_b
    draw, functionals = Hierarchy.draw, Hierarchy.functionals
    assert_passed(exact_rank_test(draw, [a_then_b], functionals, rng=3))
    assert_passed(exact_rank_test(draw, [Hierarchy.redraw_a, b], functionals, rng=3))
    assert_rejected(exact_rank_test(draw, [b, a_out], functionals, rng=3))


def test_why_the_backward_leg_is_reversed():
    """A sweep in fixed order is not its own time reversal: run back with it, a right one fails."""
    blocks = Probit.blocks()
    options = {"n_first": 100_000, "rng": 4}
    assert_passed(exact_rank_test(Probit.draw, blocks, Probit.functionals, **options))
    naive = exact_rank_test(Probit.draw, blocks, Probit.functionals, backward=blocks, **options)
    assert_rejected(naive)


def test_a_scan_inside_a_block_needs_its_own_reversal():
    def scan(*updates):
        def block(rng, s):
            for update in updates:
                s = update(rng, s)
            return s

        return block

    z, b = Probit.blocks()
    options = {"n_first": 100_000, "rng": 5}
    naive = exact_rank_test(Probit.draw, [scan(z, b)], Probit.functionals, **options)
    assert_rejected(naive)
    right = exact_rank_test(
        Probit.draw, [scan(z, b)], Probit.functionals, backward=[scan(b, z)], **options
    )
    assert_passed(right)


def test_each_replicate_has_a_place_of_its_own():
    """Given the place a rank is not uniform: at one end of a drifting path it cannot be."""

    def draw(rng, n):
        return rng.random(n)

    def up(rng, x):  # rotation: invariant for the uniform law, far from reversible
        return (x + 0.1) % 1.0

    def down(rng, x):
        return (x - 0.1) % 1.0

    verdict = exact_rank_test(draw, [up], lambda x: {"x": x}, backward=[down], rng=6)
    assert_passed(verdict)
    assert_rejected(exact_rank_test(draw, [up], lambda x: {"x": x}, rng=6))


def test_blocks_may_work_in_place():
    def in_place(block):
        def update(rng, s):
            for name, value in block(rng, s).items():
                s[name][...] = value
            return s

        return update

    toy = NormalGamma
    blocks = [in_place(block) for block in toy.blocks()]
    plain = exact_rank_test(toy.draw, toy.blocks(), toy.functionals, rng=7)
    assert exact_rank_test(toy.draw, blocks, toy.functionals, rng=7).p_values == plain.p_values


def test_one_state_at_a_time():
    def draw(rng):
        p = rng.beta(2.0, 3.0)
        return p, rng.binomial(6, p)

    def redraw(extra):
        return lambda rng, s: (rng.beta(2.0 + s[1], 3.0 + extra + 6 - s[1]), s[1])

    def functionals(s):
        return {"p": s[0], "product": s[0] * s[1]}

    right = looped(draw, [redraw(0.0)], functionals)
    wrong = looped(draw, [redraw(1.0)], functionals)
    assert_passed(exact_rank_test(*right, n_steps=3, n_first=1000, rng=8))
    assert_rejected(exact_rank_test(*wrong, n_steps=3, n_first=1000, rng=8))


def test_functionals_that_never_move_are_reported():
    def functionals(s):
        return {"tau": s["tau"], "seen": s["y"][0]}

    block = NormalGamma.blocks()[1]
    verdict = exact_rank_test(NormalGamma.draw, [block], functionals, rng=9)
    assert verdict.unmoved == ("seen",)
    assert "never moved: seen" in str(verdict)
    with pytest.raises(InvalidInput, match="no functional ever changed"):
        exact_rank_test(NormalGamma.draw, [block], lambda s: {"seen": s["y"][0]}, rng=9)


def test_ranks_break_ties_evenly():
    path = np.zeros((5, 100_000))
    path[4] = 1.0  # four equal states and one above: ranks 0..3, a quarter each
    counts = _rank_counts(np.random.default_rng(10), path)
    assert counts[4] == 0
    assert stats.chisquare(counts[:4]).pvalue > 1e-5
    path[0] = 2.0
    assert _rank_counts(np.random.default_rng(10), path).tolist() == [0, 0, 0, 0, 100_000]


def test_p_value_is_pearson_s():
    counts = np.array([95, 103, 110, 92])
    assert _p_uniform(counts) == pytest.approx(stats.chisquare(counts).pvalue, rel=1e-12)


def test_the_same_seed_gives_the_same_verdict():
    toy = Probit
    one, two = (exact_rank_test(toy.draw, toy.blocks(), toy.functionals, rng=11) for _ in "ab")
    assert one == two
    other = exact_rank_test(toy.draw, toy.blocks(), toy.functionals, rng=12)
    assert one.p_values != other.p_values


@pytest.mark.parametrize(
    ("functionals", "error", "words"),
    [
        (lambda s: {"x": 1.0}, InvalidInput, r"'x' has shape \(\) for \d+ replicates"),
        (lambda s: {"x": s["tau"] * np.nan}, InvalidInput, "'x' is NaN"),
        (lambda s: s["tau"], InvalidType, "must return a dict"),
        (lambda s: {}, InvalidType, "must return a dict"),
    ],
)
def test_functionals_that_are_none(functionals, error, words):
    toy = NormalGamma
    with pytest.raises(error, match=words):
        exact_rank_test(toy.draw, toy.blocks(), functionals, rng=1)


def test_arguments_that_cannot_be_used():
    toy = NormalGamma
    with pytest.raises(InvalidInput, match="blocks is empty"):
        exact_rank_test(toy.draw, [], toy.functionals, rng=1)
    with pytest.raises(InvalidInput, match="n_first must be at least 140 for 6 steps"):
        exact_rank_test(toy.draw, toy.blocks(), toy.functionals, n_first=100, rng=1)
    with pytest.raises(InvalidInput, match="n_steps must be at least 1"):
        exact_rank_test(toy.draw, toy.blocks(), toy.functionals, n_steps=0, rng=1)
