"""Counts in the formats of other tools, and tables of numbers with holes."""

import gzip

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse
from sklearn.feature_extraction.text import CountVectorizer

import thincrm as tc
from thincrm.errors import InvalidInput, InvalidType

COUNTS = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0], [1, 1, 1]])
WORDS = ["war", "peace", "tax"]
UCI = "4\n3\n6\n1 1 2\n1 3 1\n3 2 3\n4 1 1\n4 2 1\n4 3 1\n"
LDAC = "2 0:2 2:1\n0\n1 1:3\n3 0:1 1:1 2:1\n"


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(WORDS) + "\n")
    return path


def files(where):
    io.mmwrite(where / "a.mtx", sparse.coo_array(COUNTS))
    yield where / "a.mtx"
    yield from ((where / name) for name in ("b.txt", "c.ldac", "d.npz", "e.txt.gz"))


def test_every_format_gives_the_same(tmp_path, words):
    (tmp_path / "b.txt").write_text(UCI)
    (tmp_path / "c.ldac").write_text(LDAC)
    (tmp_path / "e.txt.gz").write_bytes(gzip.compress(UCI.encode()))
    sparse.save_npz(tmp_path / "d.npz", sparse.csr_array(COUNTS))
    for path in files(tmp_path):
        found = tc.read_counts(path, words)
        assert (found.counts.toarray() == COUNTS).all(), path
        assert found.vocabulary.tolist() == WORDS


def test_matrices_and_what_knows_words():
    vectoriser = CountVectorizer()
    counts = vectoriser.fit_transform(["war and tax", "peace"])
    found = tc.read_counts(counts, vectoriser)
    assert found.vocabulary.tolist() == ["and", "peace", "tax", "war"]
    assert tc.read_counts(COUNTS).vocabulary is None
    assert tc.read_counts(pd.DataFrame(COUNTS, columns=WORDS)).vocabulary.tolist() == WORDS


def test_bags_of_gensim():
    corpora = pytest.importorskip("gensim.corpora")
    texts = [["war", "tax", "war"], [], ["peace"]]
    dictionary = corpora.Dictionary(texts)
    found = tc.read_counts([dictionary.doc2bow(text) for text in texts], dictionary)
    frame = pd.DataFrame(found.counts.toarray(), columns=found.vocabulary)
    assert frame["war"].tolist() == [2, 0, 0]
    assert frame["peace"].tolist() == [0, 0, 1]
    streamed = tc.read_counts(dictionary.doc2bow(text) for text in texts)
    assert (streamed.counts != found.counts).nnz == 0


def test_a_model_takes_counts_with_their_words(tmp_path, words):
    (tmp_path / "c.ldac").write_text(LDAC * 10)
    read = tc.read_counts(tmp_path / "c.ldac", words)
    model = tc.TopicModel(max_topics=20, n_sweeps=6, random_state=0, quiet=True)
    with pytest.warns(UserWarning, match="are empty"):
        model.fit(read, t=np.arange(40))
    assert set(model.topics()["word"]) == set(WORDS)


BAD = {
    "cut short": (UCI[:-6], "announces 6 entries and has 5: is it cut short?"),
    "a word too large": (UCI.replace("3 2 3", "3 4 3"), "line 6, column word: '4' is not a whole"),
    "from zero": (UCI.replace("1 1 2", "0 1 2"), "line 4, column document: '0' is not a whole"),
    "a half": (UCI.replace("1 1 2", "1 1 2.5"), "line 4, column count: '2.5' is not a whole"),
    "a word": (UCI.replace("1 1 2", "1 1 x"), "line 4, column count: 'x' is not a whole"),
    "two numbers": (UCI.replace("1 1 2", "1 1"), "line 4: there are 2 numbers where document"),
    "not a number": (UCI.replace("1 1 2", "1 1 nan"), "line 4, column count: 'nan'"),
    "a huge header": ("4\n" + "9" * 15 + "\n6\n", "line 3: 4 documents and 9+ words .* cannot"),
    "LDA-C size": ("2 0:1\n", "line 1: 2 words are announced and 1 follow"),
    "LDA-C cell": ("1 0:1\n1 0:x\n", "line 2: '0:x' is not word:count in whole numbers"),
    "LDA-C gap": ("1 2000000000:1\n", "words are numbered from 0 without large gaps"),
    "dense": ("%%MatrixMarket matrix array real general\n1 1\n1\n", "line 1: only 'matrix coord"),
    "symmetric": ("%%MatrixMarket matrix coordinate integer symmetric\n", "'general'"),
    "no sizes": ("%%MatrixMarket matrix coordinate integer general\n% c\n", "three whole numbers"),
    "nothing": ("", "in no known format"),
    "prose": ("Once upon a time\n", "in no known format"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_counts_are_one_sentence(case, tmp_path):
    content, why = BAD[case]
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(InvalidInput, match=why) as caught:
        tc.read_counts(tmp_path / "a.txt")
    assert str(caught.value).startswith("a.txt")


def test_words_that_do_not_belong(tmp_path, words):
    with pytest.raises(InvalidInput, match="2 words but the vocabulary 3"):
        tc.read_counts(COUNTS[:, :2], words)
    words.write_text("war\n\ntax\n")
    with pytest.raises(InvalidInput, match=r"vocab.txt, line 2 is empty"):
        tc.read_counts(COUNTS, words)
    words.write_text("war\ntax\nwar\n")
    with pytest.raises(InvalidInput, match=r"vocab.txt, line 3: 'war' is on line 1 too"):
        tc.read_counts(COUNTS, words)
    with pytest.raises(InvalidInput, match=r"document 1: a document is .* pairs"):
        tc.read_counts([[(0, 1)], [(0, -1)]])
    with pytest.raises(InvalidInput, match="source holds no documents"):
        tc.read_counts([])
    with pytest.raises(InvalidType, match="source must be a path"):
        tc.read_counts(3)


TABLE = "country,gdp,literacy,births,region\nA,1e3,90,,N\nB,2e3,..,3.5,S\nC,500,80,NA,S\n"


def test_a_table_with_holes(tmp_path):
    path = tmp_path / "un.csv"
    path.write_text(TABLE)
    found = tc.read_table(path, "gdp", label="country")
    assert found.values.columns.tolist() == ["literacy", "births"]  # texts are left aside
    assert found.values.index.tolist() == ["A", "B", "C"]
    np.testing.assert_array_equal(found.values, [[90, np.nan], [np.nan, 3.5], [80, np.nan]])
    assert found.t.tolist() == [1e3, 2e3, 500]
    assert tc.read_table(path, columns=["births"]).values.shape == (3, 1)
    with pytest.raises(InvalidInput, match=r"un.csv, line 2, column region: 'N' is not a number"):
        tc.read_table(path, columns=["region"])
    with pytest.raises(InvalidInput, match=r"no column 'gpd' .did you mean 'gdp'"):
        tc.read_table(path, "gpd")


def test_columns_that_number_the_rows_are_left_out(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "a.csv"
    table = pd.DataFrame(rng.normal(size=(12, 2)), columns=["x", "y"])
    table["count"] = np.arange(12)
    table["id"] = rng.permutation(12) + 100
    table["year"] = 2000 + np.arange(12)  # they are all different, but tell something
    table["ones"] = 1
    table.to_csv(path, index=True, index_label="rownames")
    found = tc.read_table(path)
    assert found.row_numbers == ("rownames", "count", "id")
    assert found.values.columns.tolist() == ["x", "y", "year", "ones"]
    asked = tc.read_table(path, columns=["x", "id"])
    assert asked.values.columns.tolist() == ["x", "id"]
    assert asked.row_numbers == ()
    path.write_text(path.read_text().replace("\n5,", "\n5,bad", 1))
    again = tc.read_table(path, skip_bad=True)
    assert (again.skipped, again.row_numbers) == (1, ("rownames", "count", "id"))
    table[["count"]].to_csv(path, index=False)
    assert tc.read_table(path).values.columns.tolist() == ["count"]  # there is nothing else
    table.head(9).to_csv(path, index=False)
    assert tc.read_table(path).row_numbers == ()


def test_covariates_of_several_kinds(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("when,g,h,x\n1970-01-03,u,1,1\nsoon,u,2,2\n1970-01-02,,3,3\n1970-01-05,v,4,4\n")
    found = tc.read_table(path, ["h", "when"], skip_bad=True, groups={"g": None})
    assert found.skipped == 2
    assert found.t.columns.tolist() == ["h", "when (days since 1970)", "g=u", "g=v"]
    np.testing.assert_array_equal(found.t, [[1, 2, 1, 0], [4, 4, 0, 1]])
    np.testing.assert_array_equal(found.values, [[1], [4]])
    with pytest.raises(InvalidInput, match=r"line 3, column when: 'soon' is not a date"):
        tc.read_table(path, ["h", "when"])
    with pytest.raises(InvalidInput, match=r"line 4, column g: the category is missing"):
        tc.read_table(path, "h", groups={"g": None})
    with pytest.raises(InvalidInput, match=r"line 2, column g: 'u' is none of v, w"):
        tc.read_table(path, "h", groups={"g": ["v", "w"]})
    path.write_bytes("h,g,y\n1,u,1\n2,é,2\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"line 3, column g: .* in the file's encoding"):
        tc.read_table(path, "h", groups={"g": None})


def test_covariates_of_a_table_may_be_dates(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("when,x\n1 May 1862,1\n2 May 1862,2\nsoon,3\n")
    found = tc.read_table(path, "when", skip_bad=True)
    assert found.t.tolist() == [pd.Timestamp("1862-05-01"), pd.Timestamp("1862-05-02")]
    assert found.skipped == 1
    with pytest.raises(InvalidInput, match=r"line 4, column when: 'soon' is not a date"):
        tc.read_table(path, "when")
    path.write_text("when,x\n1,1\nsoon,3\n")
    with pytest.raises(InvalidInput, match=r"line 3, column when: 'soon' is not a number"):
        tc.read_table(path, "when")
    path.write_text("when,x\n")
    with pytest.raises(InvalidInput, match="no column of numbers"):
        tc.read_table(path, "when")
