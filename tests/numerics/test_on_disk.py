"""Counts and tokens on disk: the numbers, and the bits of a fit, of those in memory."""

import errno
import os
import tempfile

import numpy as np
import pytest
from scipy import sparse

import thincrm as tc
from thincrm.data import counts as counts_module
from thincrm.data import word_tally
from thincrm.data.counts import as_counts, lengths_of, row_blocks, rows_of, tokens, word_totals
from thincrm.data.vocabulary import count_words
from thincrm.errors import CannotWrite
from thincrm.files import large_arrays, record
from thincrm.models.topics import keeping
from thincrm.models.topics import model as topic_model
from thincrm.models.topics import state as topic_state
from thincrm.models.topics.report.periods import periods_of
from thincrm.numerics.on_disk import DiskArray, is_on_disk, let_go


def test_an_array_grows_and_is_read_again_after_its_memory_was_given_back():
    array, values = DiskArray(np.int32), np.arange(5000)
    for part in np.split(values, [7, 7, 4000]):
        array.append(part)
    np.testing.assert_array_equal(array.part(5, 4500), values[5:4500])
    array.append(values[:3])
    found = array.mapped()
    del array
    for _ in range(2):
        np.testing.assert_array_equal(found, [*values, 0, 1, 2])
        assert is_on_disk(found[10:20])
        let_go(found[10:20])


@pytest.mark.skipif(os.name == "nt", reason="a file that is open has its name there")
def test_the_file_has_no_name_and_goes_with_its_process(tmp_path, monkeypatch):
    """So nobody can put a link in its place, no other user reads it, and kill -9 leaves nothing."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    array = DiskArray(np.int32)
    array.append(np.arange(5))
    assert [*tmp_path.iterdir()] == []
    about = os.fstat(array._file.fileno())
    assert about.st_nlink == 0
    assert about.st_mode & 0o077 == 0


def test_nothing_is_empty_and_the_maps_of_others_are_left_alone(tmp_path):
    assert DiskArray(np.int64).mapped().size == 0
    values = np.arange(5.0)
    values.tofile(tmp_path / "own")
    own = np.memmap(tmp_path / "own", float, "c")  # what is written to it is nowhere else
    own[2] = 7.0
    assert not is_on_disk(own)
    let_go(own, values)
    np.testing.assert_array_equal(own, [0, 1, 7, 3, 4])


def test_a_full_disk_is_one_sentence(monkeypatch):
    class Full(tempfile.SpooledTemporaryFile):
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("thincrm.numerics.on_disk.TemporaryFile", lambda prefix: Full())
    with pytest.raises(CannotWrite, match=r"no room.*No space left.*TMPDIR"):
        DiskArray(np.int32).append(np.arange(3))


@pytest.fixture
def both(monkeypatch):
    """Return the counts of made-up texts, on disk and in memory, with small blocks and shards."""
    rng, words = np.random.default_rng(1), np.array([f"w{'abcdefghij'[i]}" for i in range(10)])
    texts = [" ".join(rng.choice(words, rng.integers(1, 30))) for _ in range(60)]
    cut = topic_state.shards_of
    monkeypatch.setattr(topic_model, "shards_of", lambda d, row: cut(d, row, 200))
    monkeypatch.setattr(topic_state, "_DOCUMENTS", 7)
    monkeypatch.setattr(counts_module, "_BLOCK", 11)
    here = count_words(iter(texts)).counts
    monkeypatch.setattr(word_tally, "_BLOCK", 50)
    return count_words(iter(texts)).counts, here


def test_counts_and_tokens_on_disk_are_those_in_memory(both, monkeypatch):
    away, here = both
    checked = as_counts(away.counts)
    assert is_on_disk(checked.data)
    assert is_on_disk(checked.indices)
    assert not is_on_disk(here.counts.data)
    np.testing.assert_array_equal(checked.toarray(), here.counts.toarray())
    found, expected = tokens(checked), tokens(here.counts)
    assert is_on_disk(found.word)
    np.testing.assert_array_equal(found.word, expected.word)
    np.testing.assert_array_equal(found.start, expected.start)
    monkeypatch.setattr(counts_module, "_ROWS", 7)
    np.testing.assert_array_equal(lengths_of(checked), np.diff(expected.start))
    np.testing.assert_array_equal(word_totals(checked), here.counts.sum(axis=0))
    monkeypatch.setattr(counts_module, "_FAR", 7)
    for chosen in (np.arange(59, -1, -3), np.array([], int)):
        some = rows_of(checked, chosen)
        np.testing.assert_array_equal(some.toarray(), here.counts.toarray()[chosen])
    joined = sparse.vstack([some for _, some in row_blocks(checked)])
    np.testing.assert_array_equal(joined.toarray(), here.counts.toarray())
    for fact, known in zip(*map(topic_state.facts_of, (found, expected)), strict=True):
        np.testing.assert_array_equal(fact, known)


def test_a_fit_from_disk_has_the_same_bits(both, tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "_MANY", 10)
    runs = []
    for counts, name in zip(both, ("away", "here"), strict=True):
        model = tc.TopicModel(max_topics=6, n_sweeps=6, n_draws=2, random_state=1, quiet=True)
        runs.append(model.fit(counts, t=np.arange(60.0), out=tmp_path / name))
    away, here = runs
    assert is_on_disk(away.counts_.data)
    np.testing.assert_array_equal(away.trace_.to_numpy(), here.trace_.to_numpy())
    assert (away.draws_[-1].documents != here.draws_[-1].documents).nnz == 0
    labels = away.draws_[-1].labels
    for large in (labels, away.draws_[-1].documents.indices, away.draws_[-1].documents.data):
        assert is_on_disk(large)
    held = np.bincount(labels, minlength=away.draws_[-1].documents.shape[1])
    np.testing.assert_array_equal(held, away.draws_[-1].documents.sum(axis=0))
    monkeypatch.setattr(record, "LARGE", 0)
    monkeypatch.setattr(large_arrays, "_AWAY", 10)
    loaded = tc.load(tmp_path / "away")
    assert is_on_disk(loaded.counts_.data)
    np.testing.assert_array_equal(loaded.counts_.toarray(), here.counts_.toarray())
    longer = [tc.resume(tmp_path / name, n_sweeps=9) for name in ("away", "here")]
    np.testing.assert_array_equal(*(model.trace_.to_numpy() for model in longer))


def test_results_of_some_documents_at_a_time_are_those_of_all(both, monkeypatch):
    model = tc.TopicModel(max_topics=6, n_sweeps=6, n_draws=2, random_state=1, quiet=True)
    model.fit(both[0], t=np.arange(60.0))
    periods = periods_of(model.covariates_)
    whole = model.coherence(), periods.sums(model.counts_).toarray()
    dense = both[1].counts.toarray()
    by_hand = [dense[periods.period == period].sum(0) for period in range(periods.number)]
    np.testing.assert_array_equal(whole[1], by_hand)
    monkeypatch.setattr(counts_module, "_ROWS", 7)
    parts = model.coherence(), periods.sums(model.counts_).toarray()
    for found, expected in zip(parts, whole, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_counts_of_others_are_copied():
    own = sparse.csr_array(np.array([[1, 0], [2, 3]]))
    found = as_counts(own)
    own.data[0] = 9
    assert found.toarray().tolist() == [[1, 0], [2, 3]]
