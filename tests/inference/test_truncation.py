"""One rule for a truncation that binds: more than half of the draws use every atom they have."""

from types import SimpleNamespace

import pytest

from thincrm.errors import in_shell
from thincrm.inference.truncation import truncation_binds


def draws(*numbers, **more):
    return [SimpleNamespace(chain=0, sweep=1, scalars={"n_lamps": n} | more) for n in numbers]


@pytest.mark.parametrize(
    ("numbers", "binds"),
    [((8, 8, 8), True), ((8, 7, 8), True), ((8, 8, 7, 7), False), ((7, 7, 8), False)],
)
def test_more_than_half_of_the_draws(numbers, binds):
    assert (truncation_binds(draws(*numbers), "lamps", 8) is not None) == binds
    assert (truncation_binds(draws(*numbers, max_lamps=8), "lamps", 99) is not None) == binds


def test_the_sentence():
    found = truncation_binds(draws(8), "lamps", 8)
    assert found == "All 8 lamps are in use: their number is cut off there. Raise max_lamps."
    grow = truncation_binds(draws(8), "lamps", 8, may_grow=True)
    assert grow.endswith("Raise max_lamps, or pass max_lamps='grow'.")
    assert in_shell(grow).endswith("Raise --max-lamps, or pass --max-lamps grow.")


def test_nothing_is_said_where_nothing_is_known():
    assert truncation_binds([], "lamps", 8) is None
    assert truncation_binds(draws(8), "lamps", None) is None
    assert truncation_binds(draws(8), "stars", 8) is None
