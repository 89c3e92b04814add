"""Maps in one process: results in shard order, or one sum that never waits for all of them."""

from thincrm.inference.engine import Serial, map_here


class Shard:
    """A number that counts how often its memory was given back."""

    def __init__(self, value):
        self.value, self.n_let_go = value, 0

    def let_go(self):
        self.n_let_go += 1


def work(shard, local, message):
    return local + 1, [shard.value * message]


def test_results_come_in_order_or_as_one_sum():
    shards, local = [Shard(value) for value in range(30)], list(range(30))
    new, results = Serial().map(work, shards, local, 2)
    assert new == tuple(range(1, 31))
    assert results == [[2 * value] for value in range(30)]
    most = 0

    def add(parts):
        nonlocal most
        most = max(most, len(parts))
        return [number for part in parts for number in part]

    new, results = map_here(work, shards, local, 2, add)
    assert new == tuple(range(1, 31))
    assert results == [[2 * value for value in range(30)]]
    assert most < 10
    assert {shard.n_let_go for shard in shards} == {2}


def test_one_shard_is_not_added_to_anything():
    assert map_here(work, [Shard(1)], [0], 3, None) == ((1,), [[3]])
    assert map_here(work, [Shard(1)], [0], 3, sum) == ((1,), [[3]])


def test_each_has_one_result_at_a_time():
    shards = [Shard(value) for value in range(3)]
    found = Serial().each(
        lambda shard, own, message: shard.value + own + message, shards, (1, 2, 3), 5
    )
    assert next(found) == 6
    assert [shard.n_let_go for shard in shards] == [0, 0, 0]
    assert list(found) == [8, 10]
    assert [shard.n_let_go for shard in shards] == [1, 1, 1]
