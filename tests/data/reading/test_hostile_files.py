"""Files of any bytes: what was meant is read, or one sentence says why not; nothing else."""

import csv
import gzip
import io

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import sparse

import thincrm as tc
from thincrm.errors import ThincrmError

quick = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def whole_files():
    """Return the bytes of good files, by name."""
    frame = pd.DataFrame({"text": ['a "b",\nc', "ü"], "date": ["1862", "12 May 1863"], "x": [1, 2]})
    lines = frame.to_json(orient="records", lines=True).encode()
    market, npz = io.BytesIO(), io.BytesIO()
    sparse.save_npz(npz, sparse.csr_array([[1, 0], [2, 3]]))
    market.write(b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 3\n2 2 1\n")
    table = frame.to_csv(index=False).encode()
    files = {
        "a.csv": table,
        "a.tsv": frame.to_csv(index=False, sep="\t").encode(),
        "a.jsonl": lines,
        "a.csv.gz": gzip.compress(table, mtime=0),
        "a.mtx": market.getvalue(),
        "uci.txt": b"2\n2\n2\n1 1 3\n2 2 1\n",
        "a.ldac": b"1 0:3\n2 0:1 1:1\n",
        "a.npz": npz.getvalue(),
    }
    try:
        parquet = io.BytesIO()
        frame.to_parquet(parquet)
        files["a.parquet"] = parquet.getvalue()
    except ImportError:
        pass
    return files


FILES = whole_files()


def assert_read_or_said(path):
    readers = [
        lambda: tc.read_texts(path, date="date", covariates="x"),
        lambda: tc.read_texts(path, covariates="x", skip_bad=True),
        lambda: tc.read_table(path, "date"),
        lambda: tc.read_table(path, "x", skip_bad=True),
        lambda: tc.read_counts(path),
        lambda: tc.read_counts([[0]], path),
    ]
    for read in readers:
        said = "yes"
        try:
            read()
        except ThincrmError as error:
            said = str(error)
        assert said
        assert "\n" not in said


@st.composite
def damaged(draw, content):
    """Return a good file with some bytes changed, cut out or put in."""
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        stop = place + draw(st.integers(0, 3))
        content[place:stop] = draw(st.binary(max_size=3))
    return bytes(content[: draw(st.integers(0, 2 * len(content)))])


@pytest.mark.parametrize("name", FILES)
@quick
@given(data=st.data())
def test_a_damaged_file(name, data, tmp_path):
    path = tmp_path / name
    path.write_bytes(data.draw(damaged(FILES[name])))
    assert_read_or_said(path)


@pytest.mark.parametrize("name", FILES)
@quick
@given(content=st.binary(max_size=200))
@example(b"")
@example(b"\n")
@example(b"text,date,x\n\0,1862,1\n")
@example(b"text\rdate\rx\r")
@example(b"\xff\xfe")
@example(b'{"text": 1e999, "date": 1e999, "x": 1e999}')
@example(b'{"text": "a", "date": {"a": []}, "x": ' + b"9" * 5000 + b"}")
@example(b"%%MatrixMarket\n")
@example(b"1\n1\n1\n1 1 1e400\n")
@example(b"1 99999999999999999999:1\n")
def test_any_bytes(name, tmp_path, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert_read_or_said(path)


@quick
@given(st.text(max_size=100))
def test_any_text_is_a_document_or_a_sentence(text):
    try:
        vectoriser = tc.choose_words([text], min_df=1)
    except ThincrmError:
        return
    tc.read_counts(vectoriser.transform([text]), vectoriser)


@quick
@given(texts=st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=5))
def test_what_pandas_writes_is_read_as_it_was(tmp_path, texts):
    frame = pd.DataFrame({"text": texts, "n": range(len(texts))})
    frame.to_csv(tmp_path / "a.csv", index=False, quoting=csv.QUOTE_ALL)
    assert tc.read_texts(tmp_path / "a.csv").texts == texts
