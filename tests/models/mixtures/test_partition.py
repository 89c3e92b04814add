"""The partition of least expected variation of information, against all partitions there are."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from thincrm.models.mixtures import partition
from thincrm.models.mixtures.partition import (
    Partition,
    by_size,
    dissolved,
    least_expected,
    variation_of_information,
)
from thincrm.models.mixtures.tables import ClusterTables


def entropy(label):
    share = [list(label).count(k) / len(label) for k in set(label)]
    return -sum(p * math.log(p) for p in share)


def plain_vi(a, b):
    """Return H(a) + H(b) - 2 I(a, b) = 2 H(a, b) - H(a) - H(b), from its definition."""
    return 2 * entropy([*zip(a, b, strict=True)]) - entropy(a) - entropy(b)


def all_partitions(n_rows):
    """Return every partition of a few rows: labels that name a new cluster by the next number."""
    found = [(0,)]
    for _ in range(n_rows - 1):
        found = [(*part, k) for part in found for k in range(max(part) + 2)]
    return [np.array(part) for part in found]


def test_variation_of_information_by_its_definition():
    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b = rng.integers(0, 4, (2, 15))
        assert variation_of_information(a, b) == pytest.approx(plain_vi(a, b), abs=1e-12)
    assert variation_of_information(a, a) == 0.0
    assert variation_of_information(a, (a + 1) % 4) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_the_search_finds_the_best_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 7)
    draws = np.array(
        [np.where(rng.random(7) < 0.25, rng.integers(0, 4, 7), truth) for _ in range(9)]
    )

    def expected(label):
        return np.mean([plain_vi(label, draw) for draw in draws])

    best = min(expected(part) for part in all_partitions(7))
    found = least_expected(draws.astype(np.int32))
    assert expected(found) == pytest.approx(best, abs=1e-9)
    assert len(all_partitions(7)) == 877  # the Bell number


def test_many_rows_are_searched_by_a_sample(monkeypatch):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 600)
    draws = [np.where(rng.random(600) < 0.02, 3, truth) for _ in range(8)]
    monkeypatch.setattr(partition, "_MOST_ROWS", 100)
    assert variation_of_information(Partition(draws).labels, truth) < 0.05


def test_the_ball_holds_its_share_of_draws():
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], 10)
    draws = [np.where(rng.random(30) < 0.1, 5, truth) for _ in range(40)]
    whole = Partition(draws)
    distances = sorted(plain_vi(whole.labels, draw) for draw in draws)
    ball = whole.ball(0.9)
    assert ball.radius in [pytest.approx(d, abs=1e-9) for d in distances]
    assert sum(d <= ball.radius + 1e-12 for d in distances) >= 36
    assert sum(d < ball.radius - 1e-9 for d in distances) < 37
    assert plain_vi(ball.horizontal, whole.labels) == pytest.approx(ball.radius, abs=1e-9)
    assert np.unique(ball.upper).size <= np.unique(ball.lower).size


def test_similarity_is_the_share_of_draws_together():
    draws = [np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0, 0, 0])]
    found = Partition(draws).similarity(np.arange(3))
    twin = [[np.mean([d[i] == d[j] for d in draws]) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(found, twin)


def test_labels_go_by_size_then_by_first_row():
    np.testing.assert_array_equal(by_size(np.array([4, 7, 7, 2, 2, 9])), [2, 0, 0, 1, 1, 3])
    for a, b in itertools.pairwise(np.bincount(by_size(np.array([4, 7, 7, 2, 2, 9])))):
        assert a >= b


def test_rows_that_belong_nowhere_found_no_clusters():
    """Row 6 is with either in turn, row 7 is alone in most draws; the rest agree."""
    draws = np.tile([0, 0, 0, 1, 1, 1, 0, 2], (9, 1))
    draws[4:, 6] = 1
    draws[8, 7] = 1
    label = np.array([0, 0, 0, 1, 1, 1, 2, 3])
    assert dissolved(label, draws).tolist() == [1, 1, 1, 0, 0, 0, 0, 2]
    assert dissolved(label[:6], draws[:, :6]).tolist() == [0, 0, 0, 1, 1, 1]


def test_a_row_that_is_never_alone_is_not_alone():
    """By the variation of information it is best alone; it goes where it is most often."""
    draws = np.tile(np.repeat([0, 1, 2], 10), (10, 1))
    draws = np.column_stack([draws, [0, 1, 2, 1, 2, 0, 1, 1, 2, 0]])
    best = least_expected(draws.astype(np.int32))
    assert (best == best[-1]).sum() == 1
    label = Partition(list(draws)).labels
    assert label.max() == 2
    assert label[-1] == label[10]


def test_rows_of_which_it_is_not_known_where_they_belong_have_no_share():
    """A row that is now of one cluster, now of another, is a cluster that no draw has."""
    draws = [
        SimpleNamespace(
            labels=np.array([0] * 4 + [1] * 4 + [side]), n_used=2, chain=0,
            counts=np.array([[5 - side, 4 + side]]),
        )
        for side in (0, 1)
    ]  # fmt: skip
    tables = ClusterTables(draws)
    tables.partition.__dict__["labels"] = np.array([0] * 4 + [1] * 4 + [2])
    sizes = tables.sizes(0.9)
    np.testing.assert_allclose(sizes["share"], [0.5, 0.5, 0.0])
    np.testing.assert_array_equal(sizes["presence"], [1.0, 1.0, 0.0])
    value = tables.together(lambda draw: np.array([10.0, 20.0]), weighed=True)
    np.testing.assert_array_equal(value, [[10.0, 20.0, 10.0], [10.0, 20.0, 20.0]])
