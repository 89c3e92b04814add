import numpy as np
import pytest
from scipy import stats

from thincrm.numerics.streams import (
    _mix,
    fold_key,
    fresh_key,
    new_stream,
    open_stream,
    sweep_generator,
    uniform,
)

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def rotated(word, by):
    return ((word << by) | (word >> (64 - by))) % WORD


def xoshiro(state):
    """Blackman and Vigna's xoshiro256++ in whole numbers, written from their paper."""
    s0, s1, s2, s3 = state
    out = (rotated((s0 + s3) % WORD, 23) + s0) % WORD
    t = (s1 << 17) % WORD
    s2, s3 = s2 ^ s0, s3 ^ s1
    s1, s0 = s1 ^ s2, s0 ^ s3
    return out, [s0, s1, s2 ^ t, rotated(s3, 45)]


def unmixed(word):
    """Undo SplitMix64's finaliser step by step."""
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        undone = word
        for _ in range(64 // shift):
            undone = word ^ (undone >> shift)
        word = undone * pow(factor, -1, WORD) % WORD
    return word


def test_xoshiro_is_the_published_one():
    published = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]
    state = [1, 2, 3, 4]
    compiled_state = np.array(state, np.uint64)
    for expected in published:
        out, state = xoshiro(state)
        assert out == expected
        assert uniform(compiled_state) == ((out >> 12) + 0.5) * 2.0**-52
        assert compiled_state.tolist() == state


def test_splitmix_is_the_published_one():
    seed = 1477776061723855037
    published = [1985237415132408290, 2979275885539914483, 13511426838097143398]
    assert [_mix(np.uint64((seed + i * GOLDEN) % WORD)) for i in (1, 2, 3)] == published
    assert new_stream(np.uint64(seed), 5)[:2].tolist() == published[:2]


def test_key_and_item_can_be_read_back_from_a_stream():
    """So that no two (key, item) have the same stream."""
    rng = np.random.default_rng(1)
    keys = [0, 1, WORD - 1, (-GOLDEN) % WORD, *rng.integers(0, WORD, 50, np.uint64).tolist()]
    for key in keys:
        for item in (0, 1, 2**31, 2**62, int(rng.integers(2**62))):
            s0, s1, s2, s3 = new_stream(np.uint64(key), item).tolist()
            assert (unmixed(s0) - GOLDEN) % WORD == key
            assert unmixed(s2) ^ s0 == item
            assert (unmixed(s3) - s1) % WORD == item
            assert any((s0, s1, s2, s3))


def test_branches_of_a_key_can_be_read_back():
    """So that no two sweeps of a chain, and no two chains of a seed, have the same key."""
    for key in (0, 7, WORD - 1):
        inner = int(_mix(np.uint64((key + GOLDEN) % WORD)))
        for number in (0, 1, 2, 10**9):
            word = unmixed(int(fold_key(np.uint64(key), number))) ^ inner
            assert (word - 0x94D049BB133111EB) * pow(GOLDEN, -1, WORD) % WORD == number


@pytest.mark.parametrize(("out", "value"), [(0, 2.0**-53), (WORD - 1, 1 - 2.0**-53)])
def test_the_interval_is_open(out, value):
    """States whose next word is all zeros or all ones."""
    state = np.array([0, 1, 1, rotated(out, 41)], np.uint64)
    u = uniform(state)
    assert u == value
    assert 0.0 < u < 1.0


def many(stream, n):
    return np.array([uniform(stream) for _ in range(n)])


def assert_uniform_and_independent(u_ID):
    """Rows are draws of the same place in neighbouring streams, or one stream cut into rows."""
    n = u_ID.size
    assert stats.kstest(u_ID.ravel(), "uniform").pvalue > 1e-6
    bits = (u_ID.ravel() * 2**52).astype(np.int64)
    ones = np.array([np.sum(bits >> b & 1) for b in range(52)])
    assert np.abs(ones - n / 2).max() / np.sqrt(n / 4) < 5.6  # 1e-6 over 52 bits
    centred = (u_ID - 0.5) * np.sqrt(12)
    products = [centred[1:] * centred[:-1], centred[2:] * centred[:-2]]
    products += [centred[:, :-1] * centred[:, 1:], centred[1:, :-1] * centred[:-1, 1:]]
    for product in products:
        assert abs(product.sum()) / np.sqrt(product.size) < 5.2


def test_one_long_stream():
    assert_uniform_and_independent(many(new_stream(np.uint64(3), 0), 200_000).reshape(-1, 8))


def test_neighbouring_items():
    key = np.uint64(4)
    assert_uniform_and_independent(np.array([many(new_stream(key, i), 8) for i in range(10_000)]))


def test_neighbouring_keys():
    rows = [many(new_stream(np.uint64(k), 1), 8) for k in range(10_000)]
    assert_uniform_and_independent(np.array(rows))


def test_neighbouring_sweeps():
    seed = np.uint64(5)
    chain = np.uint64(fold_key(seed, 0))
    keys = [np.uint64(fold_key(chain, sweep)) for sweep in range(10_000)]
    assert_uniform_and_independent(np.array([many(new_stream(key, 0), 8) for key in keys]))


def test_opening_again_gives_the_same_stream():
    state = np.zeros(4, np.uint64)
    open_stream(state, np.uint64(6), 7)
    first = many(state, 5)
    open_stream(state, np.uint64(6), 7)
    assert np.array_equal(many(state, 5), first)
    assert np.array_equal(many(new_stream(np.uint64(6), 7), 5), first)


def test_a_plain_integer_is_the_same_key():
    """A signed integer plus an unsigned one is a float to numba, and would lose low bits."""
    for key in (5, 2**62 + 1, 2**63 - 1):
        assert fold_key(key, 1) == fold_key(np.uint64(key), 1)
        assert np.array_equal(new_stream(key, 1), new_stream(np.uint64(key), 1))


def test_fresh_keys_follow_the_generator():
    rng = np.random.default_rng(8)
    keys = {int(fresh_key(rng)) for _ in range(1000)}
    assert len(keys) == 1000
    assert max(keys) > 2**63
    assert fresh_key(8) == fresh_key(8) == fresh_key(np.random.default_rng(8))


def test_sweep_generators_are_their_address():
    draws = {
        path: sweep_generator(9, *path).random()
        for path in [(), (0,), (1,), (0, 0), (0, 1), (1, 0)]
    }
    assert len(set(draws.values())) == len(draws)
    assert sweep_generator(9, 0, 1).random() == draws[0, 1]
    assert sweep_generator(10, 0, 1).random() != draws[0, 1]
