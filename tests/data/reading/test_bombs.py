"""A small file takes little memory and little time, whatever it claims."""

import os
import subprocess
import sys
from pathlib import Path

import bombs
import pytest

import thincrm as tc
from thincrm.errors import InvalidInput

SECONDS = 60  # no limit of ours: what a hang is told by


@pytest.mark.parametrize("name", bombs.BOMBS)
def test_a_bomb_takes_twice_its_size_and_200_mb_at_most(name, tmp_path):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    path = tmp_path / name.partition(":")[0]
    path.write_bytes(bombs.BOMBS[name]())
    child = [sys.executable, str(Path(bombs.__file__)), str(path)]
    done = subprocess.run(child, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert bombs.SAID[name[0]] in done.stdout


def test_columns_are_looked_up_once_each(tmp_path, monkeypatch):
    """20,000 columns took 17 seconds: each was compared with each."""
    compared = 0

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    from thincrm.data.reading import rows

    n_columns = 2000
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(n_columns)]
    path.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    usual = rows._csv_header
    monkeypatch.setattr(rows, "_csv_header", lambda *a: [Name(name) for name in usual(*a)])
    assert tc.read_table(path).values.shape == (1, n_columns)
    assert compared < 100 * n_columns


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(InvalidInput, match="is a pipe or a device: save what it says to a file"):
        tc.read_texts(tmp_path / "a.csv")
