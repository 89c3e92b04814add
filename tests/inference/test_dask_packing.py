"""Values over the wire: the same arrays of the same kind, in fewer bytes if numbers are small."""

import numpy as np
import pytest

pytest.importorskip("cloudpickle")

from thincrm.inference.dask_packing import packed, unpacked

RNG = np.random.default_rng(0)
KINDS = [np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint64]
ODD = {
    "floats": RNG.normal(size=5000),
    "negative": RNG.integers(-5, 5, 5000),
    "columns": np.asfortranarray(RNG.integers(0, 9, (70, 80))),
    "apart": RNG.integers(0, 9, 20_000)[::2],
    "few": np.arange(10),
    "none": np.zeros((0, 3), np.int64),
    "yes or no": RNG.random(5000) < 0.5,
}


def same(found, value):
    assert found.dtype == value.dtype
    assert found.shape == value.shape
    np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("largest", [1, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**62])
@pytest.mark.parametrize("n_large", [1, 63, 64, 4000])
def test_whole_numbers_come_back(kind, largest, n_large):
    value = RNG.integers(0, 2, 4096).astype(kind)
    value[RNG.choice(4096, n_large, replace=False)] = min(largest, np.iinfo(kind).max)
    same(unpacked(packed(value.reshape(64, 64))), value.reshape(64, 64))


@pytest.mark.parametrize("name", ODD)
def test_other_arrays_come_back(name):
    same(unpacked(packed(ODD[name])), ODD[name])


def test_what_holds_arrays_comes_back_and_may_be_written_to():
    sent = {"a": (np.arange(9000), "word"), "b": [np.zeros((100, 100), np.int32)]}
    found = unpacked(packed(sent))
    same(found["a"][0], sent["a"][0])
    same(found["b"][0], sent["b"][0])
    found["b"][0][0, 0] = 7
    assert unpacked(packed(lambda x: x + 1))(1) == 2


def test_small_numbers_take_few_bytes():
    counts = RNG.poisson(0.5, (1000, 200)).astype(np.int32)
    counts[0, :50] = 10**6
    assert packed(counts).content.nbytes < 1.02 * counts.size
    assert packed(np.arange(100_000)).content.nbytes < 4.02 * 100_000
