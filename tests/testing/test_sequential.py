import re

import numpy as np
import pytest

from thincrm.errors import InvalidInput, InvalidType
from thincrm.testing import assert_passed, assert_rejected, sequential_test


def scripted(*stages):
    """Return p-values that follow a script, and the sample sizes they were asked for."""
    asked, script = [], iter(stages)

    def p_values(rng, n):
        asked.append(n)
        return {"x": next(script)}

    return p_values, asked


def test_a_clear_answer_stops_at_the_first_stage():
    assert sequential_test(scripted(0.9)[0], rng=1).stage == 1
    verdict = sequential_test(scripted(1e-6)[0], rng=1)
    assert not verdict
    assert verdict.stage == 1
    assert verdict.threshold == pytest.approx(1e-5 / 7)


def test_an_unclear_answer_asks_for_four_times_as_many():
    p_values, asked = scripted(0.1, 0.1, 0.9)
    verdict = sequential_test(p_values, n_first=50, rng=1)
    assert verdict.passed
    assert asked == [50, 200, 200]
    assert verdict.n_replicates == 450


def test_thresholds_grow_by_one_over_gamma_and_the_last_stage_decides():
    beta, gamma = 1e-5 / 7, (1e-5 / 7) ** (1 / 7)
    verdict = sequential_test(scripted(*[0.99 * gamma] * 6, 1.01 * gamma)[0], rng=1)
    assert verdict.passed
    assert verdict.stage == 7
    assert verdict.threshold == pytest.approx(beta / gamma**6)
    assert verdict.threshold == pytest.approx(gamma)
    assert not sequential_test(scripted(*[0.1] * 6, 0.99 * gamma)[0], rng=1)


@pytest.mark.parametrize(("level", "max_stages"), [(0.05, 1), (0.05, 3), (0.2, 7)])
def test_the_level_is_what_it_says(level, max_stages):
    """For an exactly uniform p-value the rule rejects with probability `level`, no less."""
    repeats, rng = 20_000, np.random.default_rng(5)

    def p_values(rng, n):
        return {"uniform": rng.random()}

    rejected = sum(
        not sequential_test(p_values, level=level, max_stages=max_stages, n_first=1, rng=rng)
        for _ in range(repeats)
    )
    z = (rejected - repeats * level) / np.sqrt(repeats * level * (1 - level))
    assert abs(z) < 4.9, rejected / repeats  # 1e-6 two-sided, three cases


def test_bonferroni_over_the_functionals():
    verdict = sequential_test(lambda rng, n: {"a": 0.3, "b": 0.5, "c": 0.9}, rng=1)
    assert verdict.adjusted == pytest.approx(0.9)
    assert sequential_test(lambda rng, n: {"a": 0.6, "b": 0.5}, rng=1).adjusted == 1.0


def test_a_rejection_names_functionals_p_values_stage_and_seed():
    verdict = sequential_test(lambda rng, n: {"mass": 1e-9, "gate": 0.4}, rng=17)
    with pytest.raises(AssertionError) as error:
        assert_passed(verdict)
    text = str(error.value)
    for part in ("REJECTED", "stage 1 of 7", "seed 17", "mass 1e-09", "gate 0.4", "20000"):
        assert part in text
    assert_rejected(verdict)


def test_a_pass_of_a_wrong_sampler_is_an_error_too():
    verdict = sequential_test(lambda rng, n: {f"f{i}": 0.9 for i in range(9)}, rng=3)
    assert_passed(verdict)
    with pytest.raises(AssertionError, match="did not see a wrong sampler: passed at stage 1"):
        assert_rejected(verdict)
    assert "and 3 larger" in str(verdict)


def test_a_fresh_seed_is_shown_and_repeats_the_test():
    def p_values(rng, n):
        return {"x": 0.5 + rng.random() / 2}

    first, other = sequential_test(p_values), sequential_test(p_values)
    assert first.seed != other.seed
    assert sequential_test(p_values, rng=first.seed).p_values == first.p_values
    assert re.search(rf"seed {first.seed}\b", str(first))
    passed_in = sequential_test(p_values, rng=np.random.default_rng(0))
    assert passed_in.seed is None
    assert "generator" in str(passed_in)


@pytest.mark.parametrize("bad", [{}, {"x": np.nan}, {"x": 1.5}, {"x": -0.1}])
def test_p_values_that_are_none(bad):
    with pytest.raises(InvalidInput):
        sequential_test(lambda rng, n: bad, rng=1)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ({"level": 0.0}, InvalidInput),
        ({"level": 1.0}, InvalidInput),
        ({"level": "low"}, InvalidType),
        ({"n_first": 0}, InvalidInput),
        ({"n_first": 2.5}, InvalidInput),
        ({"max_stages": 0}, InvalidInput),
    ],
)
def test_bad_arguments_are_named(bad, error):
    with pytest.raises(error, match=next(iter(bad))):
        sequential_test(lambda rng, n: {"x": 0.5}, rng=1, **bad)
