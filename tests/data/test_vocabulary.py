"""Words chosen by count, by documents, by what they tell; stop words; phrases; files."""

import random
import re

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import thincrm as tc
from thincrm.data.vocabulary import (
    HYPHENED,
    WORD,
    choose_words,
    count_words,
    most_telling,
    stop_words,
)
from thincrm.errors import InvalidInput, InvalidType
from thincrm.models.topics.text_sources import plain_vectorizer

TEXTS = [
    "The war and the tax, the tax of 1862",
    "War and peace: don't tax peace",
    "The tax on peace",
    "tax",
]


def words(*args, **options):
    return tc.choose_words(*args, **options).get_feature_names_out().tolist()


def test_words_are_those_of_two_letters_or_more_in_two_documents():
    assert words(TEXTS) == ["peace", "tax", "war"]
    assert words(TEXTS, stop_words=None) == ["and", "peace", "tax", "the", "war"]
    assert words(["Größe 東京", "größe 東京"], stop_words="german") == ["größe", "東京"]


def test_words_with_hyphens_are_whole():
    text = "Co-operation by e-mail -- a state-of-the-art war--peace, pre-1914 and 1914-1918 -x y- z"
    found = choose_words([text], min_df=1, stop_words=None).get_feature_names_out()
    assert set(found) == {
        "co-operation", "by", "e-mail", "state-of-the-art", "war", "peace", "pre", "and",
    }  # fmt: skip
    assert {"co-operation", "1914", "1918"} <= set(
        plain_vectorizer().fit([text] * 2).get_feature_names_out()
    )


def test_limits():
    assert "don" in words(TEXTS, min_df=1, stop_words=None)
    assert "don" not in words(TEXTS, min_df=1)
    assert "don" not in words(TEXTS, min_df=1, stop_words=["don't"]), "cut as texts are"
    assert words(TEXTS, min_count=4) == ["tax"]
    assert words(TEXTS, max_df=0.75) == ["peace", "war"]
    assert words(TEXTS, max_df=2) == ["peace", "war"]
    assert words(TEXTS, ngrams=2) == ["peace", "tax", "tax peace", "war"]


def test_the_papers_rule_keeps_the_share_with_the_largest_scores():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, (50, 40))
    score = counts.sum(0) * np.log(50 / (counts > 0).sum(0))
    assert set(most_telling(counts, 0.25)) == set(np.argsort(score)[-10:])
    assert most_telling(counts, 1.0, 1000).size == 0


def test_a_vocabulary_of_ones_own(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("tax\nwar tax\n")
    found = tc.choose_words(TEXTS, vocabulary=path, ngrams=2)
    assert found.transform(TEXTS).toarray().tolist()[0] == [2, 1]
    assert words(TEXTS, vocabulary=["peace", "unseen"]) == ["peace", "unseen"]


def test_the_vectoriser_is_plain_data():
    params = tc.choose_words(TEXTS, ngrams=2).get_params()
    assert isinstance(params["vocabulary"], list)
    assert isinstance(params["stop_words"], list)
    assert tc.choose_words(TEXTS).get_params()["stop_words"] is None


def test_stop_words(tmp_path):
    assert "und" in stop_words("german")
    assert stop_words("de") == stop_words("german")
    path = tmp_path / "stop.txt"
    path.write_text("tax\npeace\n")
    assert words(TEXTS, stop_words=str(path)) == ["and", "the", "war"]
    assert words(TEXTS, stop_words=["tax", "peace", "the", "and"]) == ["war"]
    with pytest.raises(InvalidInput, match="stop_words is 'klingon': name a file, none, or one of"):
        tc.choose_words(TEXTS, stop_words="klingon")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"min_count": 99}, "No word is left"),
        ({"min_df": 99}, "in 99 documents; there are 4"),
        ({"min_df": 1.5}, "min_df must be"),
        ({"max_df": True}, "max_df must be"),
        ({"tfidf_share": 0.0}, "tfidf_share must be above 0"),
        ({"ngrams": 0}, "ngrams must be at least 1"),
        ({"token_pattern": "("}, "token_pattern '.' is none"),
        ({"vocabulary": ["a", "a"]}, "a word twice"),
        ({"vocabulary": []}, "No word is left"),
    ],
)
def test_bad_choices_are_one_sentence(options, why):
    with pytest.raises(InvalidInput, match=why):
        tc.choose_words(TEXTS, **options)


def test_texts_are_texts():
    with pytest.raises(InvalidType, match="texts must be a sequence of strings"):
        tc.choose_words("one string")


@pytest.mark.parametrize(
    "options", [{}, {"ngrams": 2}, {"tfidf_share": 0.5}, {"vocabulary": ["war", "tax"]}]
)
def test_texts_are_cut_once_with_the_same_counts(options, monkeypatch):
    texts = ["The war and the tax", "war, peace and a tax", "Peace! A war: war", "tax the peace"]
    cut = []
    analyse = CountVectorizer.build_analyzer

    def counted(vectoriser):
        inner = analyse(vectoriser)
        return lambda text: (cut.append(text), inner(text))[1]

    with monkeypatch.context() as patch:
        patch.setattr(CountVectorizer, "build_analyzer", counted)
        counts, vectorizer = count_words(texts, **options)
    assert [cut.count(text) for text in texts] == [1] * 4
    again = vectorizer.transform(texts)
    assert counts.counts.shape == again.shape
    assert (counts.counts != again).nnz == 0
    assert list(counts.vocabulary) == list(vectorizer.get_feature_names_out())
    chosen = choose_words(texts, **options).fit(texts)
    assert chosen.vocabulary_ == vectorizer.vocabulary_
    assert chosen.get_params() == vectorizer.get_params()


def test_words_are_two_letters_or_more_or_have_hyphens():
    plain, rng = re.compile(HYPHENED + r"|\b[^\W\d_]{2,}\b"), random.Random(0)
    for _ in range(5000):
        text = "".join(rng.choice("abé--- 2_'ßあ.\n") for _ in range(rng.randrange(1, 14)))
        assert re.findall(WORD, text) == plain.findall(text)
