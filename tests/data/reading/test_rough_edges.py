"""What new users met: NaN in JSONL, letters that are not UTF-8, quarters, decades, labels twice."""

import json

import numpy as np
import pandas as pd
import pytest

import thincrm as tc
from thincrm.data.reading.dates import DateColumn
from thincrm.data.reading.lines import check_encoding
from thincrm.errors import InvalidInput, in_shell


def test_nan_in_a_column_that_nobody_asked_for(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"text": "a", "date": 1862, "x": float("nan")}, {"text": "b", "date": 1863, "x": 2.0}]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    assert tc.read_texts(path, date="date").texts == ["a", "b"]
    with pytest.raises(InvalidInput, match=r"line 1, column x: nan is not a finite number"):
        tc.read_texts(path, covariates="x")
    table = tc.read_table(path, "date", columns=["x"])
    np.testing.assert_array_equal(table.values["x"], [np.nan, 2.0])


LATIN = "größe,text,date\nä,café,1862\nö,naïve,1863\n"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso8859-15"])
def test_an_encoding_is_named(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(LATIN.encode(encoding))
    found = tc.read_texts(path, date="date", covariates="größe", encoding=encoding)
    assert found.texts == ["café", "naïve"]
    assert found.table["größe"].tolist() == ["ä", "ö"]
    table = tc.read_table(path, label="größe", encoding=encoding)
    assert table.values.index.tolist() == ["ä", "ö"]
    for content in (LATIN, LATIN.replace("größe", "x")):  # in a name, in a cell
        path.write_bytes(content.encode(encoding))
        with pytest.raises(InvalidInput, match=r"not in the file's encoding; encoding= names") as e:
            tc.read_texts(path, date="date")
        assert "not in the file's encoding; --encoding names another" in in_shell(e.value)


def test_encodings_of_other_scripts_and_kinds(tmp_path):
    (tmp_path / "a.jsonl").write_bytes('{"text": "東京 表"}\n'.encode("shift_jis"))
    assert tc.read_texts(tmp_path / "a.jsonl", encoding="shift_jis").texts == ["東京 表"]
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "1862.txt").write_bytes("Привет".encode("koi8-r"))
    (tmp_path / "b.csv").write_bytes("file,ключ\n1862,7\n".encode("koi8-r"))
    found = tc.read_texts(
        tmp_path / "b", covariates="ключ", metadata=tmp_path / "b.csv", encoding="koi8-r"
    )
    assert found.texts == ["Привет"]
    assert found.t.tolist() == [7.0]


@pytest.mark.parametrize("name", ["utf-16", "utf-32", "rot13", "zlib", "no", "", "a\0b", "../x"])
def test_what_is_no_encoding_for_tables(name):
    with pytest.raises(InvalidInput, match="is no encoding that can be read"):
        check_encoding(name)


def test_a_label_column_that_is_not_utf8_is_one_sentence(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("name,x\nBrésil,1\nPeru,2\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"a.csv, line 2, column name: character 3 is not in"):
        tc.read_table(path, label="name")
    found = tc.read_table(path, label="name", skip_bad=True)
    assert found.values.index.tolist() == ["Peru"]
    assert found.skipped == 1


def test_labels_may_repeat_and_lines_tell_them_apart(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('name,x\nA,1\n"A",\n\nB,3\n')
    found = tc.read_table(path, label="name")
    assert found.values.index.tolist() == ["A", "A", "B"]
    assert found.lines.tolist() == [2, 3, 5]
    assert found.lines.name == "line"
    assert tc.read_table(path).lines is not None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1900Q1", "1900-01-01"), ("1900Q4", "1900-10-01"), ("1900-Q2", "1900-04-01"),
        ("1900 q3", "1900-07-01"), ("Q2 1900", "1900-04-01"), ("q1/1900", "1900-01-01"),
    ],
)  # fmt: skip
def test_quarters(written, meant):
    dates = DateColumn()
    dates.read(written)
    assert dates.series("t")[0] == pd.Timestamp(meant)


def test_decades_are_their_first_years():
    dates = DateColumn()
    for written in ("1890s", "1900s", "1910's", "1920"):
        dates.read(written)
    assert dates.series("t").tolist() == [1890, 1900, 1910, 1920]


@pytest.mark.parametrize("written", ["1900Q5", "1900Q", "Q1", "0000Q1", "1905s", "900s", "1900ss"])
def test_neither_quarter_nor_decade(written):
    with pytest.raises(ValueError, match="is not a date"):
        DateColumn().read(written)


def test_what_could_be_two_dates_names_the_option():
    with pytest.raises(ValueError, match=r"with date_format=, such as %d/%m/%Y") as caught:
        DateColumn().read("03/04/1862")
    assert "it is with --date-format, such as %d/%m/%Y" in in_shell(caught.value)


def test_bad_rows_that_were_passed_over_keep_both_wordings(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,date,x\na,03/04/1862,1\nb,1863,2\n")
    found = tc.read_texts(path, date="date", skip_bad=True)
    table = tc.read_table(path, date="date", columns=["x"], skip_bad=True)
    for first in (found.first_skipped, table.first_skipped):
        assert "date_format=" in first
        assert "--date-format" in in_shell(first)
    path.write_text("text,date,x\na,03/04/1862,1\n")
    with pytest.raises(InvalidInput, match=r"no documents; 1 bad rows, .*date_format=,") as caught:
        tc.read_texts(path, date="date", skip_bad=True)
    assert "--date-format," in in_shell(caught.value)
    with pytest.raises(InvalidInput, match=r"holds no rows: a.csv.*date_format=,") as caught:
        tc.read_table(path, date="date", columns=["x"], skip_bad=True)
    assert "--date-format," in in_shell(caught.value)
