"""Draws that keep the globals only: the same chain, tables of the draws that keep documents."""

import numpy as np
import pandas as pd
import pytest

import thincrm as tc
from thincrm.errors import InvalidInput
from thincrm.inference.schedule import Schedule
from thincrm.models.topics import documents_kept
from thincrm.models.topics import tables as topic_tables
from thincrm.models.topics.documents_kept import document_sweeps, with_documents

N_DOCUMENTS = 30


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(3)
    return rng.poisson(0.6, (N_DOCUMENTS, 12)), np.repeat(np.arange(5.0), 6)


def fit(corpus, out=None, **settings):
    counts, t = corpus
    model = tc.TopicModel(
        max_topics=6, n_sweeps=12, n_draws=8, random_state=1, n_threads=1, **settings
    )
    return model.fit(counts, t=t, out=out, heldout=0.2)


@pytest.fixture(scope="module")
def whole(corpus):
    return fit(corpus, quiet=True)


@pytest.fixture(scope="module")
def light(corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("light") / "run"
    return fit(corpus, out, quiet=True, keep_documents=3), out


def test_the_chain_is_the_same_and_some_draws_are_light(whole, light):
    model, _ = light
    pd.testing.assert_frame_equal(model.trace_, whole.trace_)
    assert with_documents(whole.draws_, N_DOCUMENTS) == list(range(8))
    known = with_documents(model.draws_, N_DOCUMENTS)
    assert known == [0, 4, 7]
    for b, (ours, theirs) in enumerate(zip(model.draws_, whole.draws_, strict=True)):
        np.testing.assert_array_equal(ours.words.toarray(), theirs.words.toarray())
        np.testing.assert_array_equal(ours.documents.sum(0), theirs.documents.sum(0))
        if b not in known:
            assert ours.documents.shape[0] == 1
            assert ours.labels is None


def test_tables_average_over_the_draws_that_keep_documents(whole, light):
    model, _ = light
    places = with_documents(model.draws_, N_DOCUMENTS)
    tables, expected, seen = whole._tables, 0.0, 0
    for b in places:
        found = tables.found[b]
        expected = expected + np.where(found >= 0, whole.draws_[b].documents.toarray()[:, found], 0)
        seen = seen + (found >= 0)
    expected = expected / seen
    expected = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model._tables.document_shares().toarray(), expected)
    pd.testing.assert_frame_equal(model.reliability(), whole.reliability())
    assert model.perplexity().n_draws == len(places)
    assert "heldout" not in model.diagnostics(model.heldout_).index


def test_a_run_of_light_draws_is_read_again(light):
    model, out = light
    again = tc.load(out)
    pd.testing.assert_frame_equal(again.documents(), model.documents())
    assert [d.documents.shape for d in again.draws_] == [d.documents.shape for d in model.draws_]
    assert tc.write_report(again, out.parent / "page.html").stat().st_size > 0


def test_a_run_that_was_stopped_ends_at_a_draw_with_documents(light):
    model, _ = light
    trace = model.trace_.reset_index().to_dict("records")
    stopped = tc.load(light[1])
    stopped._adopt(model.draws_[:7], trace)
    assert len(stopped.draws_) == 5
    with pytest.raises(InvalidInput, match="None of the draws keeps the topics of documents"):
        stopped._adopt(model.draws_[1:3], trace)


def test_what_is_kept_is_said(corpus, capsys):
    fit(corpus, keep_documents=2)
    said = "2 of 8 draws of a chain keep the topics of the 30 documents (keep_documents)"
    assert said in capsys.readouterr().err
    with pytest.raises(InvalidInput, match="keep_documents"):
        fit(corpus, quiet=True, keep_documents=1)


def test_a_large_corpus_keeps_few(monkeypatch):
    schedule = Schedule(n_sweeps=150, n_draws=100, n_chains=2, seed=1)
    assert document_sweeps(schedule, 10, 1_000_000, None) is None
    found = document_sweeps(schedule, 1_000_000, 20_000_000, None).intersection(schedule.kept)
    assert len(found) == 6
    assert {min(found), max(found)} == {51, 150}
    fewest = document_sweeps(schedule, 10**9, 10**11, None)
    assert fewest.intersection(schedule.kept) == {51, 150}
    assert document_sweeps(schedule, 1, 10**11, None) is None
    monkeypatch.setattr(documents_kept, "_MOST_TOKENS", 10**13)
    assert document_sweeps(schedule, 10**9, 10**10, None) is None


@pytest.mark.parametrize("end", [200, 300, 450, 1000, 3000])
def test_a_run_that_goes_on_keeps_some_too(end):
    schedule = Schedule(n_sweeps=150, n_draws=100, n_chains=2, seed=1)
    chosen = document_sweeps(schedule, 1_000_000, 20_000_000, None)
    assert 2 <= len(chosen.intersection(schedule.until(end).kept)) <= 12


def test_tables_of_documents_are_written_in_blocks(light, monkeypatch, tmp_path):
    model, _ = light
    whole = model.documents()
    monkeypatch.setattr(topic_tables, "_BLOCK", 7)
    pd.testing.assert_frame_equal(model.documents(), whole)
    model.to_csv(tmp_path)
    written = pd.read_csv(tmp_path / "documents.csv")
    pd.testing.assert_frame_equal(written, whole, check_dtype=False)
