"""Files of arrays that are read a piece at a time: the same arrays, the same refusals."""

import numpy as np
import pytest

from thincrm.errors import DamagedFile
from thincrm.files import Folder, large_arrays, record
from thincrm.numerics.on_disk import is_on_disk

ARRAYS = {
    "long": np.arange(3_000, dtype=np.int64),
    "table": np.linspace(0.0, 1.0, 600, dtype=np.float32).reshape(20, 30),
    "flags": np.arange(50) % 3 == 0,
    "nothing": np.zeros((0, 4)),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "LARGE", 0)
    monkeypatch.setattr(record, "_AT_ONCE", 1_000)
    monkeypatch.setattr(large_arrays, "_AWAY", 2_000)
    monkeypatch.setattr(large_arrays, "_AT_ONCE", 1_600)
    found = Folder(tmp_path)
    record.write_record(found, "some", "arrays", None, ARRAYS, "run", "0")
    return found


def read(folder):
    return record.read_record(folder, "some", "arrays").arrays


def test_arrays_come_back_and_the_large_ones_are_on_disk(folder):
    found = read(folder)
    assert set(found) == set(ARRAYS)
    for name, value in ARRAYS.items():
        assert found[name].dtype == value.dtype
        np.testing.assert_array_equal(found[name], value)
        assert is_on_disk(found[name]) == (value.nbytes > 2_000)


def test_the_file_is_one_of_safetensors(folder):
    import safetensors.numpy

    found = safetensors.numpy.load((folder.path / "some.safetensors").read_bytes())
    for name, value in ARRAYS.items():
        np.testing.assert_array_equal(found[name], value)


@pytest.mark.parametrize("place", [3, 40, 4_000, -1])
def test_a_changed_byte_is_refused(folder, place):
    path = folder.path / "some.safetensors"
    data = bytearray(path.read_bytes())
    data[place] ^= 4
    path.write_bytes(data)
    with pytest.raises(DamagedFile, match=r"some.safetensors (was changed|does not have)"):
        read(folder)


def test_a_file_that_is_cut_off_is_refused(folder):
    path = folder.path / "some.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedFile, match="bytes instead of"):
        read(folder)
