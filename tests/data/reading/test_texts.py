"""Texts from tables and folders: right rows, and one sentence for a wrong one."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import thincrm as tc
from thincrm.errors import InvalidInput

FRAME = pd.DataFrame(
    {
        "id": [1, 2, 3],
        "body": ['He said "no",\nand went.', "größer; 東京", ""],
        "date": ["1862-03-12", "March 1, 1863", "4 May 1864"],
        "gdp": [1.5, -2.0, 3e3],
        "party": ["Whig", "", "Whig"],
    }
)
WHEN = [pd.Timestamp("1862-03-12"), pd.Timestamp("1863-03-01"), pd.Timestamp("1864-05-04")]


def write(path, frame=FRAME):
    ending = path.name.removesuffix(".gz").rpartition(".")[2]
    if ending == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    return path


KINDS = ("a.csv", "a.tsv", "a.jsonl", "a.csv.gz", "a.jsonl.gz", "a.parquet")


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_table_gives_the_same(name, tmp_path):
    found = tc.read_texts(write(tmp_path / name), "body", "date", ["gdp", "party"])
    assert found.texts == FRAME["body"].tolist()
    assert found.t.tolist() == WHEN
    assert found.t.name == "date"
    assert found.table["gdp"].tolist() == [1.5, -2.0, 3e3]
    assert found.table["party"].tolist() == ["Whig", "", "Whig"]
    assert found.skipped == 0


def test_lines_are_those_of_the_file(tmp_path):
    found = tc.read_texts(write(tmp_path / "a.csv"), "body")
    assert found.table.index.tolist() == [2, 4, 5]  # the first text has two lines
    assert found.t is None


def test_without_a_date_covariates_are_numbers_for_the_model(tmp_path):
    path = write(tmp_path / "a.csv")
    assert tc.read_texts(path, "body", covariates="gdp").t.tolist() == [1.5, -2.0, 3e3]
    assert tc.read_texts(path, "body", covariates=["gdp", "id"]).t.shape == (3, 2)
    with pytest.raises(InvalidInput, match=r"a.csv, line 2, column party: 'Whig' is not a number"):
        tc.read_texts(path, "body", covariates="party")


def test_delimiters_marks_and_windows_ends(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfbody;date\r\n"a;b";1862\r\n\r\nc;1863\r\n')
    found = tc.read_texts(path, "body", "date")
    assert found.texts == ["a;b", "c"]
    assert found.t.tolist() == [1862, 1863]
    assert found.table.index.tolist() == [2, 4]


BAD = {
    "a cell too many": (b"text,date\na,1862\nb,1863,c\n", "line 3: there are 3 cells, but"),
    "a date that is none": (b"text,date\na,1862\nb,soon\n", "line 3, column date: 'soon' is not a"),
    "a missing date": (b"text,date\na,1862\nb,\n", "line 3, column date: the date is missing"),
    "not UTF-8": (b"text,date\na,1862\nb\xff,1863\n", "line 3, column text: character 2 is not in"),
    "an open quote": (b'text,date\na,1862\n"b,1863\n', "line 3: a quotation mark opens here"),
    "a quote inside": (b'text,date\na,1862\n"b"c,1863\n', "line 3: text follows a closing quot"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_is_named_or_counted(case, tmp_path):
    path = tmp_path / "a.csv"
    content, why = BAD[case]
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=f"^a.csv, {why}") as caught:
        tc.read_texts(path, date="date")
    assert "(skip_bad=True passes over such rows)" in str(caught.value)
    assert "\n" not in str(caught.value)
    found = tc.read_texts(path, date="date", skip_bad=True)
    assert found.texts == ["a"]
    assert found.skipped == 1
    assert found.first_skipped.startswith("a.csv, line 3")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "this is not JSON"),
        ("[1]", "this is no JSON object but"),
        ('{"text": "a"}', "there is no 'date'; there is 'text'"),
        ('{"text": 3, "date": 1862}', "column text: 3 is not a text"),
        ('{"text": null, "date": 1862}', "column text: the text is missing"),
        ('{"text": "a", "date": NaN}', "column date: the date is missing"),
        ('{"text": NaN, "date": 1862}', "column text: nan is not a text"),
        (
            '{"text": "\\ud800", "date": 1862}',
            "column text: character 1 is not in the file's encoding",
        ),
        ("[" * 100_000, "this is not JSON"),
    ],
)
def test_bad_rows_of_jsonl(line, why, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "date": 1862}\n\n' + line + "\n")
    with pytest.raises(InvalidInput, match=r"^a.jsonl, line 3") as caught:
        tc.read_texts(path, date="date")
    assert why in str(caught.value)
    assert tc.read_texts(path, date="date", skip_bad=True).skipped == 1


def test_an_empty_text_keeps_its_place(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,date\nwar,1862\n,1863\npeace,1864\n")
    found = tc.read_texts(path, date="date")
    assert found.texts == ["war", "", "peace"]
    assert found.t.tolist() == [1862, 1863, 1864]
    assert found.skipped == 0


def test_bad_rows_of_parquet(tmp_path):
    frame = pd.DataFrame({"text": ["a", None], "date": ["1862", "1863"]})
    path = write(tmp_path / "a.parquet", frame)
    with pytest.raises(InvalidInput, match=r"a.parquet, row 2, column text: the text is missing"):
        tc.read_texts(path, date="date")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InvalidInput, match=r"a.parquet is not a Parquet file"):
        tc.read_texts(path)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.csv", b"", "must begin with a line that names its columns"),
        ("a.csv", b"text\n", "holds no documents"),
        ("a.csv", b"txt,date\na,1862\n", "no column 'text' .did you mean 'txt'"),
        ("a.csv", b"text,text\na,1862\n", "more than one column 'text'"),
        ("a.csv", "text\na\n".encode("utf-16"), "is in UTF-16: save it as UTF-8"),
        ("a.csv", b"PK\x03\x04 and more", "not a text file: save the table as CSV"),
        ("a.doc", b"text\na\n", "of no known kind"),
        (
            "a.csv.gz",
            gzip.compress(b"text\n" + b"a\n" * 99, mtime=0)[:-12],
            "it is cut short or damaged",
        ),
        ("a.csv", b"text\n" + b"a" * (2**24 + 1), "line 2 is longer than 16 MiB"),
        ("a.csv", b"a," * 100_001 + b"\n1\n", "line 1 names 100002 columns: are its lines ended"),
        (
            "a.csv.gz",
            gzip.compress(b"text\n" + (b"a" * 2**20 + b"\n") * 65, mtime=0),
            "unpacks to more than 50 times",
        ),
    ],
)
def test_a_file_of_no_use_is_one_sentence(name, content, why, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=why):
        tc.read_texts(path)


def test_what_is_not_there(tmp_path):
    with pytest.raises(InvalidInput, match="does not exist"):
        tc.read_texts(tmp_path / "no.csv")
    with pytest.raises(InvalidInput, match="is no name of a file or folder"):
        tc.read_texts("a\0b.csv")
    with pytest.raises(InvalidInput, match="metadata goes with a folder"):
        tc.read_texts(write(tmp_path / "a.csv"), "body", metadata=tmp_path / "b.csv")


@pytest.fixture
def folder(tmp_path):
    where = tmp_path / "speeches"
    where.mkdir()
    (where / "1863_b.txt").write_text("second\ntext")
    (where / "1862_a.txt").write_text("first text")
    (where / "notes.pdf").write_bytes(b"\xff")
    return where


def test_a_folder_with_dates_in_names(folder):
    found = tc.read_texts(folder, date="name")
    assert found.texts == ["first text", "second\ntext"]
    assert found.t.tolist() == [1862, 1863]
    assert found.table.index.tolist() == ["1862_a.txt", "1863_b.txt"]
    assert tc.read_texts(folder).t is None
    (folder / "undated.txt").write_text("third")
    with pytest.raises(InvalidInput, match=r"speeches, file undated.txt: the name holds no date"):
        tc.read_texts(folder, date="name")
    assert tc.read_texts(folder, date="name", skip_bad=True).skipped == 1


def test_a_folder_with_a_table(folder, tmp_path):
    table = tmp_path / "dates.csv"
    table.write_text("file,when,gdp\n1862_a,12 March 1862,1\n1863_b.txt,1 May 1863,2\n")
    found = tc.read_texts(folder, date="when", covariates="gdp", metadata=table)
    assert found.t.tolist() == [pd.Timestamp("1862-03-12"), pd.Timestamp("1863-05-01")]
    assert found.table["gdp"].tolist() == [1, 2]
    (folder / "1864_c.txt").write_text("third")
    with pytest.raises(InvalidInput, match=r"dates.csv has no row whose column 'file' is '1864_c"):
        tc.read_texts(folder, date="when", metadata=table)
    with pytest.raises(InvalidInput, match=r"date='name'"):
        tc.read_texts(folder, date="when")


def test_long_texts_are_fine(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text\n"' + "word " * 200_000 + '"\n')
    assert len(tc.read_texts(path).texts[0]) == 10**6


def test_a_model_takes_what_was_read(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array(["apple", "pear", "plum", "iron", "steel", "coal"])
    with (tmp_path / "a.jsonl").open("w") as file:
        for year in range(1900, 1940):
            half = words[:3] if year < 1920 else words[3:]
            row = {"text": " ".join(rng.choice(half, 20)), "date": f"1 May {year}"}
            file.write(json.dumps(row) + "\n")
    read = tc.read_texts(tmp_path / "a.jsonl", date="date")
    model = tc.TopicModel(max_topics=10, n_sweeps=15, random_state=0, quiet=True)
    model.set_params(vectorizer=tc.choose_words(read.texts)).fit(read.texts, t=read.t)
    assert set(model.vocabulary_) == set(words)
    assert model.activation()["t"].iloc[0] == pd.Timestamp("1900-05-01")
