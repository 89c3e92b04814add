"""Tables that are read a document at a time, many files as one, and words counted on the way."""

import gc
import weakref
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import thincrm as tc
from thincrm.data import word_tally
from thincrm.data.reading.texts import TextStream
from thincrm.data.vocabulary import count_words
from thincrm.data.word_tally import WordTally
from thincrm.errors import InvalidInput

TEXTS = ["War and tax", "", "a tax, a war: war!", "the and", "peace or war", "tax the peace"]


class Text(str):
    """A text that can be watched."""


@pytest.mark.parametrize("block", [1, 3, 10**6])
def test_words_are_counted_as_scikit_learn_counts_them(block, monkeypatch):
    monkeypatch.setattr(word_tally, "_BLOCK", block)
    for options in ({"min_df": 1}, {"min_df": 2, "max_df": 0.4}, {"min_df": 0.3, "max_df": 3}):
        expected = CountVectorizer(stop_words=["the"], **options)
        counts = expected.fit_transform(TEXTS)
        found, vectorizer = count_words(iter(TEXTS), stop_words=["the"], **options)
        assert vectorizer.vocabulary_ == expected.vocabulary_
        np.testing.assert_array_equal(found.counts.toarray(), counts.toarray())
        found.counts.check_format()
        assert found.counts.has_sorted_indices


def test_no_text_is_held():
    seen = []

    def texts():
        for number in range(20):
            text = Text(f"war and peace {number}")
            seen.append(weakref.ref(text))
            yield text

    tally = WordTally(str.split)
    for text in texts():
        tally.add(text)
    del text
    gc.collect()
    assert not any(ref() for ref in seen)
    assert tally.n_documents == 20


@pytest.fixture
def parts(tmp_path):
    for number, rows in enumerate(([0, 1, 2], [3], [4, 5])):
        table = pd.DataFrame(
            {"body": [TEXTS[i] for i in rows], "day": [f"2001-02-0{i + 1}" for i in rows]}
        )
        table.to_csv(tmp_path / f"part-{number}.csv", index=False)
        if find_spec("pyarrow") is not None:
            table.to_parquet(tmp_path / f"part-{number}.parquet")
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_many_files_are_one_table(parts, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    read = tc.read_texts(parts / f"*.{ending}", "body", "day")
    assert read.texts == TEXTS
    assert read.t.dt.day.tolist() == [1, 2, 3, 4, 5, 6]
    unit, first = ("line", 2) if ending == "csv" else ("row", 1)
    assert read.table.index[3] == f"part-1.{ending}, {unit} {first}"


def test_what_is_wrong_with_one_of_many_is_said_before_any_is_read(parts):
    (parts / "part-2.csv").write_text("text,day\nwar,2001-01-01\n")
    with pytest.raises(InvalidInput, match=r"part-2\.csv has no column 'body'"):
        next(iter(TextStream(parts / "*.csv", "body", "day")))
    with pytest.raises(InvalidInput, match="stands for no file"):
        tc.read_texts(parts / "*.jsonl", "body", "day")


def test_a_damaged_part_is_named_before_any_is_read(parts):
    pytest.importorskip("pyarrow")
    (parts / "part-1.parquet").write_bytes(b"PAR1 this was one")
    with pytest.raises(InvalidInput, match=r"part-1\.parquet is not a Parquet file"):
        next(iter(TextStream(parts / "*.parquet", "body", "day")))


def test_a_bad_row_of_many_files_is_named(parts):
    (parts / "part-1.csv").write_text("body,day\nwar,someday\npeace,2001-02-04\n")
    with pytest.raises(InvalidInput, match=r"part-1\.csv, line 2, column day: 'someday' is not a"):
        tc.read_texts(parts / "*.csv", "body", "day")
    read = tc.read_texts(parts / "*.csv", "body", "day", skip_bad=True)
    assert (len(read.texts), read.skipped) == (6, 1)
