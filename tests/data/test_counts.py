import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from thincrm.data.counts import as_counts, is_text, lengths_of, split_words, tokens
from thincrm.errors import InvalidInput, InvalidType

TABLE = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]])
SAME = {
    "ints": TABLE,
    "lists": TABLE.tolist(),
    "floats": TABLE.astype(float),
    "half floats": TABLE.astype(np.float16),
    "csr": sparse.csr_array(TABLE),
    "csc": sparse.csc_matrix(TABLE.astype(float)),
    "coo": sparse.coo_array(TABLE.astype(np.uint8)),
    "frame": pd.DataFrame(TABLE, columns=list("abc")),
    "nullable frame": pd.DataFrame(TABLE, columns=list("abc")).astype("Int64"),
    "objects": TABLE.astype(object),
}


@pytest.mark.parametrize("X", SAME.values(), ids=SAME)
def test_every_kind_of_table_gives_the_same_counts(X):
    counts = as_counts(X)
    assert isinstance(counts, sparse.csr_array)
    assert counts.dtype == np.int64
    assert counts.nnz == 3
    np.testing.assert_array_equal(counts.toarray(), TABLE)


def test_lengths_are_the_sums_of_rows():
    np.testing.assert_array_equal(lengths_of(as_counts(TABLE)), TABLE.sum(axis=1))


def test_booleans_are_counts_of_one():
    np.testing.assert_array_equal(as_counts(TABLE > 0).toarray(), TABLE > 0)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float32])
def test_duplicate_cells_are_summed_without_wrapping(dtype):
    value = np.array([1, 1, 1], dtype) if dtype is bool else np.array([120, 120, 100], dtype)
    expected = int(value.astype(int).sum())
    cells = ([0, 0, 0], [1, 1, 1])
    assert as_counts(sparse.coo_array((value, cells), shape=(1, 2))).toarray()[0, 1] == expected
    repeated = sparse.csr_array((value, [1, 1, 1], [0, 3]), shape=(1, 2))
    assert as_counts(repeated).toarray()[0, 1] == expected


def test_the_callers_arrays_are_neither_changed_nor_needed_writable():
    parts = np.array([1.0, 2.0, 3.0, 0.0]), np.array([1, 0, 0, 0]), np.array([0, 2, 4])
    kept = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    counts = as_counts(sparse.csr_array(parts, shape=(2, 2)))
    np.testing.assert_array_equal(counts.toarray(), [[2, 1], [3, 0]])
    for part, before in zip(parts, kept, strict=True):
        np.testing.assert_array_equal(part, before)
    own = sparse.csr_array(TABLE.astype(np.int64))
    as_counts(own).data[:] = 7
    np.testing.assert_array_equal(own.toarray(), TABLE)


REFUSED = {
    "nan": ([[1.0, 0.0], [0.0, np.nan]], InvalidInput, r"X\[1, 1\] = nan is NaN or infinite"),
    "infinite": ([[np.inf, 0.0]], InvalidInput, r"X\[0, 0\] = inf is NaN or infinite"),
    "negative": ([[0, 2], [-1, -4]], InvalidInput, r"X\[1, 0\] = -1 is negative .*2 such cell"),
    "half": ([[0.0, 0.5]], InvalidInput, r"X\[0, 1\] = 0.5 is not a whole number"),
    "huge": ([[0, 2**31]], InvalidInput, r"X\[0, 1\] = 2147483648 is above 2147483647"),
    "huge float": ([[1e300]], InvalidInput, "is above 2147483647"),
    "beyond int64": (np.array([[2**64 - 1]], np.uint64), InvalidInput, "is above 2147483647"),
    "complex": ([[1 + 2j]], InvalidInput, "Complex data not supported"),
    "sparse complex": (sparse.csr_array([[1 + 2j]]), InvalidInput, "Complex data not supported"),
    "date": (np.array([["2020-01-01"]], "M8[D]"), InvalidType, "must hold counts, got datetime64"),
    "dates": (
        pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}),
        InvalidType,
        "must hold counts, got datetime64",
    ),
    "duration": (np.array([[3]], "m8[D]"), InvalidType, "must hold counts, got timedelta64"),
    "records": (np.zeros((1, 2), [("a", int)]), InvalidType, "must hold counts, got"),
    "words": ([["a", "b"]], InvalidType, "neither a number nor a list of texts"),
    "one string": ("a text", InvalidType, "X is one string: pass a list of texts"),
    "ragged": ([[1, 2], [3]], InvalidType, "neither a number nor a list of texts"),
    "generator": ((n for n in range(3)), InvalidType, "neither a number nor a list of texts"),
    "row": ([1, 2, 3], InvalidInput, r"must be a table.*got 1 dimension"),
    "sparse row": (sparse.coo_array(np.array([1, 2])), InvalidInput, "got 1 dimension"),
    "cube": (np.zeros((1, 1, 1)), InvalidInput, "got 3 dimension"),
    "nothing": (None, InvalidInput, "got 0 dimension"),
    "missing": (pd.DataFrame({"a": [1, None]}), InvalidInput, r"X\[1, 0\] = nan is NaN"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_count_is_refused_in_one_sentence(name):
    X, error, sentence = REFUSED[name]
    with pytest.raises(error, match=sentence):
        as_counts(X)
    if name != "one string":
        with pytest.raises(error, match=sentence.replace("X", "heldout")):
            as_counts(X, "heldout")


def test_the_first_bad_cell_is_named_even_after_empty_rows():
    X = np.zeros((6, 4))
    X[4, 2] = -3
    with pytest.raises(InvalidInput, match=re.escape("X[4, 2] = -3.0 is negative")):
        as_counts(sparse.csr_array(X))


def test_texts_are_told_from_tables():
    texts = ["a b", "c"]
    kinds = [texts, tuple(texts), np.array(texts), np.array(texts, object), pd.Series(texts)]
    assert all(map(is_text, [*kinds, pd.Index(texts), np.array(texts, np.dtypes.StringDType())]))
    tables = [TABLE, TABLE.tolist(), sparse.csr_array(TABLE), pd.DataFrame(TABLE), "a b", 3, None]
    assert not any(map(is_text, [*tables, pd.Series([1, 2]), []]))
    lazy = (text for text in texts)
    assert not is_text(lazy)
    assert list(lazy) == texts


def test_tokens_are_the_words_in_order():
    found = tokens(as_counts(TABLE))
    assert found.start.tolist() == [0, 3, 3, 6]
    assert found.word.tolist() == [0, 0, 2, 1, 1, 1]
    assert (found.n_documents, found.n_words) == (3, 3)


def corpus(seed=3):
    """Documents of 0 to 60 tokens, the empty and the one-token one among them."""
    rng = np.random.default_rng(seed)
    length = np.concatenate([[0, 1, 2, 3, 5, 0], rng.integers(0, 60, 40)])
    return np.array([rng.multinomial(n, [0.5, 0.3, 0.15, 0.05, 0.0]) for n in length])


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.77])
def test_a_split_adds_up_and_has_the_sizes_asked_for(fraction):
    X = corpus()
    train, heldout = split_words(X, fraction, random_state=1)
    assert train.shape == heldout.shape == X.shape
    assert train.toarray().min() >= 0 <= heldout.toarray().min()
    np.testing.assert_array_equal((train + heldout).toarray(), X)
    np.testing.assert_array_equal(
        heldout.toarray().sum(1), np.round(fraction * X.sum(1)).astype(int)
    )


def test_a_split_is_the_same_for_every_kind_of_table_and_depends_on_the_seed():
    X = corpus()
    first = split_words(X, 0.3, random_state=5)[1].toarray()
    for same in (sparse.csr_array(X), sparse.csc_matrix(X), pd.DataFrame(X), X.astype(float)):
        np.testing.assert_array_equal(split_words(same, 0.3, random_state=5)[1].toarray(), first)
    again = split_words(X, 0.3, random_state=np.random.default_rng(5))[1].toarray()
    np.testing.assert_array_equal(again, first)
    assert not np.array_equal(split_words(X, 0.3, random_state=6)[1].toarray(), first)


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.1, np.nan])
def test_a_split_needs_a_share(fraction):
    with pytest.raises(InvalidInput, match="fraction must lie strictly between 0"):
        split_words(TABLE, fraction)


def test_every_token_is_held_out_as_often_as_any_other():
    """Held-out counts are multivariate hypergeometric: chi-square over all outcomes."""
    n_copies, document = 40_000, np.array([3, 2, 1])
    heldout = split_words(np.tile(document, (n_copies, 1)), 0.5, random_state=8)[1].toarray()
    law = stats.multivariate_hypergeom(document, 3)
    outcomes = [(a, b, 3 - a - b) for a in range(4) for b in range(3) if 0 <= 3 - a - b <= 1]
    seen = [int(np.all(heldout == outcome, axis=1).sum()) for outcome in outcomes]
    expected = n_copies * np.array([law.pmf(outcome) for outcome in outcomes])
    assert sum(seen) == n_copies
    assert stats.chisquare(seen, expected).pvalue > 1e-5


def test_documents_are_split_independently():
    heldout = split_words(np.tile([5, 5], (40_000, 1)), 0.4, random_state=9)[1].toarray()
    first, second = heldout[::2, 0], heldout[1::2, 0]
    z = np.corrcoef(first, second)[0, 1] * np.sqrt(first.size)
    assert abs(z) < 4.42
