import pytest
from toy_samplers import NormalGamma

from thincrm.errors import InvalidInput
from thincrm.testing import exact_rank_test, run_twins


def rank_test(blocks):
    return exact_rank_test(NormalGamma.draw, blocks, NormalGamma.functionals, rng=1)


def test_a_table_of_rejected_twins_is_true():
    table = run_twins(
        rank_test,
        {"shape": NormalGamma.blocks(shape=1.1), "rate": NormalGamma.blocks(rate=1.1)},
    )
    assert table
    assert table.survivors == ()
    assert [line.split()[:2] for line in str(table).splitlines()] == [
        ["shape", "REJECTED"],
        ["rate", "REJECTED"],
    ]


def test_a_survivor_makes_the_table_false():
    table = run_twins(
        rank_test, {"not broken": NormalGamma.blocks(), "rate": NormalGamma.blocks(rate=2.0)}
    )
    assert not table
    assert table.survivors == ("not broken",)
    assert "not broken  passed" in str(table)


def test_no_twins_prove_nothing():
    with pytest.raises(InvalidInput, match="twins is empty"):
        run_twins(rank_test, {})
