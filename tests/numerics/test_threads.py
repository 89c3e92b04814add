import threading
import time

import numpy as np
import pytest

from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.streams import new_stream
from thincrm.numerics.threads import map_blocks, thread_count, using_threads
from thincrm.numerics.variates import normal


def normals(start, stop):
    key = np.uint64(3)
    return np.array([normal(new_stream(key, item)) for item in range(start, stop)])


def test_blocks_cover_all_items_in_order():
    for n_threads in (1, 3):
        with using_threads(n_threads):
            blocks = map_blocks(lambda start, stop: (start, stop), 10, 4)
            assert blocks == [(0, 4), (4, 8), (8, 10)]
            assert map_blocks(lambda start, stop: (start, stop), 0, 4) == []


def test_results_come_in_block_order_though_the_first_is_slowest():
    def work(start, stop):
        time.sleep(0.05 if start == 0 else 0.0)
        return start

    with using_threads(4):
        assert map_blocks(work, 8, 1) == list(range(8))


def test_the_same_bits_on_any_number_of_threads():
    alone = normals(0, 100)
    for n_threads in (1, 2, 5):
        with using_threads(n_threads):
            assert np.array_equal(np.concatenate(map_blocks(normals, 100, 16)), alone)


def test_threads_are_those_asked_for_and_only_inside():
    assert thread_count() == 1
    with using_threads(3) as n:
        assert n == thread_count() == 3
        barrier = threading.Barrier(3, timeout=20)  # passes only if three blocks run at once
        map_blocks(lambda start, stop: barrier.wait(), 3, 1)
        with using_threads(1):
            assert thread_count() == 1
        assert thread_count() == 3
    assert thread_count() == 1
    with using_threads(None) as n:
        assert n == thread_count() >= 1


def test_a_failure_in_a_block_is_the_caller_s():
    def work(start, stop):
        raise ValueError(f"block {start}")

    for n_threads in (1, 2):
        with using_threads(n_threads), pytest.raises(ValueError, match="block 0"):
            map_blocks(work, 4, 2)
    assert thread_count() == 1


def test_the_caller_does_something_else_meanwhile():
    barrier, done = threading.Barrier(2, timeout=20), []
    with using_threads(2):  # passes only if the other thread works at the same time
        map_blocks(lambda start, _: start == 0 and barrier.wait(), 2, 1, barrier.wait)
    map_blocks(lambda start, _: done.append(start), 3, 1, lambda: done.append("meanwhile"))
    assert done == ["meanwhile", 0, 1, 2]


def test_a_failure_meanwhile_waits_for_the_blocks():
    started, done = threading.Event(), []

    def work(start, stop):
        started.set()
        time.sleep(0.2)
        done.append(start)

    def meanwhile():
        started.wait(20)
        raise ValueError("meanwhile")

    with using_threads(2), pytest.raises(ValueError, match="meanwhile"):
        map_blocks(work, 2, 1, meanwhile)
    assert sorted(done) == [0, 1]


@pytest.mark.parametrize(
    ("bad", "error"),
    [(0, InvalidInput), (-1, InvalidInput), (1.5, InvalidInput), ("2", InvalidType)],
)
def test_a_bad_number_of_threads_is_named(bad, error):
    with pytest.raises(error, match="n_threads"), using_threads(bad):
        pass
