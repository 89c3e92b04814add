"""CSV files that can be opened in a spreadsheet, whoever wrote the words in them."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from thincrm.data.writing import write_csv
from thincrm.models.atom_tables import write_tables

BAD = ["=1+1\r=2", "=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\n=1", '=HYPERLINK("x")']


def test_texts_that_look_like_formulas_get_an_apostrophe(tmp_path):
    table = pd.DataFrame({"word": [*BAD, "tax", "a=b", "a\r=b", ""]})
    (path,) = write_tables({"topics": table}, tmp_path)
    with path.open(newline="") as file:
        found = pd.read_csv(file, keep_default_na=False)["word"].tolist()
    assert found == [*("'" + word for word in BAD), "tax", "a=b", "a\r=b", ""]


def test_a_formula_after_what_another_spreadsheet_cuts_at(tmp_path):
    table = pd.DataFrame({"word": ["a;=1+1", "a|@x", "a\t-1", "a;b", "a=1"]})
    write_csv(table, tmp_path / "t.csv")
    found = pd.read_csv(tmp_path / "t.csv")["word"].tolist()
    assert found == ["a;'=1+1", "a|'@x", "a\t'-1", "a;b", "a=1"]


@pytest.mark.parametrize("kind", ["category", "string", object])
def test_every_kind_of_text(tmp_path, kind):
    write_csv(pd.DataFrame({"w": pd.Series(["=a", "b", None], dtype=kind)}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == 'w\n\'=a\nb\n""\n'


def test_names_of_columns_and_rows_too(tmp_path):
    table = pd.DataFrame({"=a": [1.0]}, index=pd.Index(["@letter.txt"], name="-file"))
    write_csv(table, tmp_path / "t.csv", index=True)
    assert (tmp_path / "t.csv").read_text() == "'-file,'=a\n'@letter.txt,1.0\n"
    assert table.columns[0] == "=a"
    assert table.index.name == "-file"


def test_numbers_and_dates_stay_what_they_are(tmp_path):
    table = pd.DataFrame(
        {"x": [-1.5, np.nan], "n": [-3, 4], "t": pd.to_datetime(["1862-03-12", "1863-01-01"])},
        index=pd.Index([-1, 2], name="line"),
    )
    write_csv(table, tmp_path / "t.csv", index=True)
    found = pd.read_csv(tmp_path / "t.csv", index_col="line", parse_dates=["t"])
    assert_frame_equal(found, table, check_dtype=False)


def test_numbers_beside_texts_have_the_format_of_numbers(tmp_path):
    table = pd.DataFrame({"a": [1 / 3, "x", -2.0, np.nan, "=1"], "b": 1 / 3})
    write_csv(table, tmp_path / "t.csv", float_format="%.3g")
    lines = (tmp_path / "t.csv").read_text().split()
    assert lines == ["a,b", "0.333,0.333", "x,0.333", "-2,0.333", ",0.333", "'=1,0.333"]
