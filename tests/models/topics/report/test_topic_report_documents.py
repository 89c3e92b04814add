"""Words and documents of topics in a report: counts by period, passages, dates, held-out words."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report_cases import SETTINGS, corpus, dates, fitted, texts_of

import thincrm as tc
from thincrm.data.counts import as_counts
from thincrm.data.covariates import covariates
from thincrm.errors import InvalidInput, InvalidType
from thincrm.models.topics.report import allocation as allocating
from thincrm.models.topics.report import dating
from thincrm.models.topics.report.allocation import Allocation, expected_tokens
from thincrm.models.topics.report.data import _found, _lives, topic_data
from thincrm.models.topics.report.documents import Documents, chosen_documents
from thincrm.models.topics.report.heldout import heldout_rows
from thincrm.models.topics.report.periods import periods_of
from thincrm.models.topics.report.sizes import _unit, kernel_lengths, open_weights
from thincrm.models.topics.report.vocabulary import chosen_words
from thincrm.models.topics.report.words import words_by_period
from thincrm.thinning import Always, Bump


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture(scope="module")
def data(model):
    return topic_data(model, texts_of(model))


@pytest.mark.parametrize("burstiness", [None, 0.0], ids=["labels kept", "labels not kept"])
def test_every_token_is_given_to_topics(burstiness):
    model = fitted(burstiness=burstiness)
    assert (model.draws_[-1].labels is None) == (burstiness == 0.0)
    allocation = Allocation(model, model.topic_tables().found)
    cells = allocation.cells(0, model.counts_.shape[0])
    assert cells.shape == (model.counts_.nnz, model.shapes().shape[0])
    assert cells.min() >= 0
    given = cells.sum(axis=1)
    assert np.all(given <= model.counts_.data + 1e-9)
    assert given.sum() > 0.9 * model.counts_.sum()  # the rest: topics that the last draw has not
    last = model.draws_[-1]
    tokens = np.asarray(last.documents.sum(axis=0)).ravel()[np.argsort(-last.tokens, kind="stable")]
    np.testing.assert_allclose(cells.sum(axis=0)[0], tokens[0], rtol=0.3)
    parts = [allocation.cells(d, d + 1) for d in range(model.counts_.shape[0])]
    np.testing.assert_allclose(np.concatenate(parts), cells, rtol=1e-9)


@pytest.mark.parametrize("burstiness", [None, 0.0], ids=["labels kept", "labels not kept"])
def test_a_few_documents_at_a_time_count_the_same(burstiness, monkeypatch):
    model = fitted(burstiness=burstiness)
    matched, words = model.topic_tables().found, chosen_words(model)
    periods = periods_of(model.covariates_)
    known = np.arange(12)
    whole = words_by_period(Allocation(model, matched), periods, words, known)
    monkeypatch.setattr(allocating, "_MOST_PAIRS", 50)
    few = Allocation(model, matched)
    assert len(list(few.blocks())) > 20
    assert words_by_period(few, periods, words, known) == whole
    cells = few.cells(0, model.counts_.shape[0]) * len(few.draws) / few.n_found
    document = np.repeat(np.arange(model.counts_.shape[0]), np.diff(model.counts_.indptr))
    for k, topic in enumerate(whole):
        through = np.bincount(periods.period[document], cells[:, k], periods.number)
        np.testing.assert_allclose(topic["through"], through, atol=0.5 + 1e-9)
        for code, counted in zip(topic["codes"], topic["counts"], strict=True):
            mine = np.where(model.counts_.indices == code, cells[:, k], 0.0)
            counts = np.bincount(periods.period[document], mine, periods.number)
            np.testing.assert_allclose(counted, counts, atol=0.5 + 1e-9)


def test_without_labels_tokens_go_to_topics_by_bayes_rule():
    model = fitted(burstiness=0.0)
    draw, counts = model.draws_[-1], model.counts_
    total = draw.concentration * counts.shape[1] + draw.tokens
    cell, topic, expected = expected_tokens(counts, draw, total, 3, 6)
    for d in (3, 4, 5):
        for c in range(counts.indptr[d], counts.indptr[d + 1]):
            n_K = draw.documents[[d]].toarray()[0]
            weight = n_K * draw.theta[counts.indices[c]]
            mine = np.bincount(topic[cell == c], expected[cell == c], n_K.size)
            np.testing.assert_allclose(mine, counts.data[c] * weight / weight.sum(), rtol=1e-5)


def test_periods_are_equal_and_hold_every_document():
    years = covariates(np.array([1790, 1791, 1850, 2026, 2026]))
    periods = periods_of(years)
    assert set(np.diff(periods.edges)) == {6.0}
    assert periods.number == 40
    assert periods.period.tolist() == [0, 0, 10, 39, 39]
    days = periods_of(covariates(dates([1900, 1900, 1901])))
    assert set(np.diff(days.edges)) == {10.0}
    fractions = periods_of(covariates(np.array([0.1, 0.2, 0.4])))
    assert fractions.period.tolist() == [0, 1, 2]
    assert periods_of(covariates(np.zeros(3))).edges.tolist() == [-0.5, 0.5]


def test_words_by_period_are_counts(model, data):
    periods = periods_of(model.covariates_)
    totals = np.array(data["vocabulary"]["totals"])
    through = np.array([topic["through"] for topic in data["topics"]])
    assert np.all(through.sum(axis=0) <= totals + len(through))  # rounded one by one
    assert through.sum() > 0.9 * totals.sum()
    year = corpus()[1]
    assert totals.size == periods.number == 20
    assert totals.tolist() == [model.counts_[year == 1900 + b].sum() for b in range(20)]
    for topic in data["topics"]:
        counts = np.array(topic["counts"])
        assert counts.shape == (len(topic["codes"]), 20)
        assert np.all(counts.sum(axis=0) <= np.array(topic["through"]) + counts.shape[0])
        most = counts.sum(axis=1)
        assert np.all(np.diff(most) <= 20)  # the most frequent first, up to rounding


def test_passages_are_the_texts_with_topics_of_words(model, data):
    texts = texts_of(model)
    best = model.word_tokens().to_numpy().argmax(axis=1)
    agree = []
    for topic in data["topics"]:
        assert topic["quotations"]
        for quotation in topic["quotations"]:
            document = data["documents"][quotation["document"]]
            pieces = quotation["text"]
            joined = "".join(x if isinstance(x, str) else x[0] for x in pieces)
            assert joined.strip("… ") in texts[int(document["name"])]
            for word, k, percent in (x for x in pieces if not isinstance(x, str)):
                assert 0 <= k < len(data["topics"])
                assert 0 < percent <= 100
                agree.append(best[int(word)] == k)
    assert np.mean(agree) > 0.6


def test_tokens_of_topics_by_period_in_plain_loops(model, data):
    """Of each topic, the mean over the draws that have it; also of each of the words shown."""
    found, year, counts = model.topic_tables().found, corpus()[1], model.counts_.toarray()
    word_N = np.concatenate([np.repeat(np.arange(12), row) for row in counts])
    year_N = np.repeat(year, counts.sum(axis=1))
    assert any((place < 0).any() for place in found)  # else it would be a mean over all draws
    for k, topic in enumerate(data["topics"]):
        has = [(draw, place[k]) for draw, place in zip(model.draws_, found, strict=True)]
        has = [(draw, j) for draw, j in has if j >= 0]
        for b, when in enumerate(range(1900, 1920)):
            mine = [(draw.labels == j) & (year_N == when) for draw, j in has]
            assert abs(topic["through"][b] - np.mean([part.sum() for part in mine])) <= 0.5
            for code, told in zip(topic["codes"], topic["counts"], strict=True):
                word = data["vocabulary"]["words"][code]
                spoken = [part & (word_N == int(word)) for part in mine]
                assert abs(told[b] - np.mean([part.sum() for part in spoken])) <= 0.5


def test_topics_of_words_in_plain_loops(model, data):
    """A word's tokens in each topic, as a share of those in all: at most six, 0.5 % at least."""
    found = model.topic_tables().found
    held = np.zeros((12, len(data["topics"])))
    for k in range(held.shape[1]):
        parts = [
            draw.words.toarray()[:, place[k]]
            for draw, place in zip(model.draws_, found, strict=True)
            if place[k] >= 0
        ]
        held[:, k] = np.mean(parts, axis=0)
    for word, homes in zip(data["vocabulary"]["words"], data["vocabulary"]["homes"], strict=True):
        share = held[int(word)] / held[int(word)].sum()
        told = sorted((k for k in range(share.size) if share[k] >= 0.005), key=lambda k: -share[k])
        assert [k for k, _ in homes] == told[:6]
        assert [value for _, value in homes] == [round(share[k], 3) for k in told[:6]]


def test_similar_topics_have_affinities_of_their_words(model, data):
    theta = model.topic_tables().mean_theta
    n_topics = theta.shape[1]
    for k, topic in enumerate(data["topics"]):
        near = [sum(np.sqrt(theta[:, k] * theta[:, j])) for j in range(n_topics)]
        others = sorted((j for j in range(n_topics) if j != k), key=lambda j: -near[j])[:4]
        assert [j for j, _ in topic["similar"]] == others
        assert [value for _, value in topic["similar"]] == [round(near[j], 3) for j in others]


def test_typical_documents_have_a_large_share_and_many_words_of_the_topic(model, data):
    """The best three by share log(1 + share times length), of eight of each year by share."""
    length, year = model.counts_.toarray().sum(axis=1), corpus()[1]
    for k, topic in enumerate(data["topics"]):
        draw, place = model.topic_tables().seats[k]
        tokens = model.draws_[draw].documents.toarray()[:, place]
        share = {d: tokens[d] / length[d] for d in np.flatnonzero(tokens).tolist()}
        by_share = sorted(share, key=lambda d, share=share: -share[d])
        looked_at = [d for when in set(year) for d in [e for e in by_share if year[e] == when][:8]]
        score = {d: share[d] * np.log(1 + share[d] * length[d]) for d in looked_at}
        best = sorted(score.values(), reverse=True)[:3]
        named = [int(data["documents"][q["document"]]["name"]) for q in topic["quotations"][:3]]
        np.testing.assert_allclose([score[d] for d in named], best)
        assert [q["share"] for q in topic["quotations"][:3]] == [round(share[d], 3) for d in named]


def test_a_long_document_with_some_words_of_a_topic_is_not_more_typical_than_a_short_one_of_it():
    """0.9 of 10 words before 0.4 of 400, and 0.2 of 5 last; by lengths alone they would swap."""
    share, length = np.array([0.4, 0.2, 0.9]), np.array([400, 5, 10])
    table = pd.DataFrame({"topic": 0, "period": 0, "document": range(3), "share": share})
    known = covariates(np.array([1900, 1901, 1902]))
    stub = SimpleNamespace(
        topic_tables=lambda: SimpleNamespace(n_topics=1),
        covariates_=known,
        counts_=as_counts(length[:, None]),
        representative_documents=lambda *_: table,
    )
    told, whom = chosen_documents(stub, Documents(stub, None), None, periods_of(known))
    assert whom == [[2, 0, 1]]
    assert [quoted["share"] for quoted in told[0]["quotations"]] == [0.9, 0.4, 0.2]


def test_words_of_a_passage_have_the_topic_most_of_their_tokens_are_of():
    """In plain loops over draws and tokens; words with hyphens are found whole."""
    words = [f"co-op{letter}" for letter in "abcdef"] + [f"plain{letter}" for letter in "abcdef"]
    model = fitted(words)
    found, counts = model.topic_tables().found, model.counts_.toarray()
    data = topic_data(model, texts_of(model))
    first = np.concatenate([[0], counts.sum(axis=1).cumsum()])
    told = set()
    for topic in data["topics"]:
        for quotation in topic["quotations"]:
            d = int(data["documents"][quotation["document"]]["name"])
            token_words = np.repeat(np.arange(12), counts[d])
            for word, k, percent in (x for x in quotation["text"] if not isinstance(x, str)):
                code = words.index(word)
                held = np.zeros(len(data["topics"]))
                for draw, place in zip(model.draws_, found, strict=True):
                    mine = draw.labels[first[d] : first[d + 1]][token_words == code]
                    for page_topic, label in enumerate(place):
                        held[page_topic] += np.sum(mine == label) if label >= 0 else 0
                share = held / (counts[d, code] * len(model.draws_))
                assert k == share.argmax()
                assert percent == round(100 * share[k])
                told.add(word)
    assert told == set(words)


def test_documents_of_a_topic_are_spread_over_time(model, data):
    longest = max(data["topics"], key=lambda topic: topic["tokens"])
    named = [q["document"] for q in longest["quotations"]] + [d for d, _ in longest["others"]]
    assert len(named) == len(set(named))
    years = {data["documents"][number]["at"] for number in named}
    assert len(years) > 5


def test_dates_of_quoted_documents(model, data):
    dated = [document for document in data["documents"] if "dates" in document]
    assert 10 <= len(dated) <= 24
    early = [d for d in dated if d["at"] < 1906]
    late = [d for d in dated if d["at"] > 1914]
    for document in dated:
        chance, band = document["dates"]["chance"], document["dates"]["band"]
        assert len(chance) == 20
        assert max(chance) == 999
        assert band == sorted(band)
    middle = [np.mean([d["dates"]["band"][1] for d in part]) for part in (early, late)]
    assert middle[0] < 8 < 12 < middle[1]  # words of the corpus change in 1908 and 1912


def test_the_band_of_a_date_holds_90_per_cent(model, monkeypatch):
    """Of twenty years that are told to have chances of 3, 5, ..., 5 and 7 %."""
    chance = np.array([0.03, *[0.05] * 18, 0.07])

    def told(counts, years, **_):
        return pd.DataFrame(np.tile(chance, (counts.shape[0], 1)), columns=years)

    monkeypatch.setattr(model, "predict_time", told)
    found = dating.dated(model, [[0], [50]], periods_of(model.covariates_))
    assert sorted(found) == [0, 50]
    for document in found.values():
        assert document["band"] == [1, 10, 19]
        assert document["chance"] == [428, *[714] * 18, 999]  # thousandths of the highest


def test_very_long_documents_are_not_dated(model, monkeypatch):
    """One of ten million words took a report of some seconds many minutes."""
    periods, longest = periods_of(model.covariates_), model.counts_.sum(axis=1).max()
    quoted = [[*range(model.counts_.shape[0])]]
    monkeypatch.setattr(dating, "_LONGEST", longest - 1)
    monkeypatch.setattr(dating, "_MOST", 3)
    found = dating.dated(model, quoted, periods)
    assert len(found) == 3
    monkeypatch.setattr(dating, "_LONGEST", 0)
    assert dating.dated(model, quoted, periods) == {}


def test_one_time_has_no_dates():
    model = fitted(t=lambda year: 0 * year, thinning=Always(), n_sweeps=6)
    data = topic_data(model, None)
    assert not [document for document in data["documents"] if "dates" in document]
    assert all("text" not in q for topic in data["topics"] for q in topic["quotations"])


def lengths_of(model):
    return kernel_lengths(model, model.topic_tables().found)


def test_lengths_of_kernels(model):
    assert len(lengths_of(model)) == model.shapes().shape[0]
    assert len(open_weights(model, model.topic_tables().found)) == model.shapes().shape[0]
    lengths = [float(text.split()[0]) for text in lengths_of(model)]
    span, widths = 19, model.thinning_.widths
    assert span / max(widths) ** 0.5 - 0.1 <= min(lengths)
    assert max(lengths) <= span / min(widths) ** 0.5 + 0.1
    dated = fitted(t=dates, thinning=Bump(length=0.2), n_sweeps=6)
    assert set(lengths_of(dated)) == {"3.8 years"}
    assert set(lengths_of(fitted(thinning=Always(), n_sweeps=6))) == {None}
    always = lengths_of(fitted(n_background=1))
    assert always.count(None) == 1


@pytest.mark.parametrize(
    ("days", "told"),
    [(800, (365.25, " years")), (700, (30.44, " months")), (50, (1.0, " days"))],
)
def test_units_of_time(days, told):
    """Two years or more are told in years, two months or more in months of a twelfth of a year."""
    assert _unit(days) == told
    assert 12 * 30.44 == pytest.approx(365.25, abs=0.05)


def test_weights_of_open_topics(model):
    """Of each topic, shape q / (1 - q): mean and 90 % band over the draws that have it."""
    found = model.topic_tables().found
    for k, said in enumerate(open_weights(model, found)):
        pairs = [(draw.usage, place[k]) for draw, place in zip(model.draws_, found, strict=True)]
        words = [u.shape[j] * u.q[j] / (1 - u.q[j]) for u, j in pairs if j >= 0]
        low, high = np.quantile(words, [0.05, 0.95])
        assert said.startswith(f"{np.mean(words):.3g}")
        assert low == high or f"({low:.3g} to {high:.3g})" in said


def test_where_a_topic_was_found_is_told_in_words():
    assert _found(4, 0.75, 0.931) == "in 3 of 4 chains, 93 % of draws"
    assert _found(1, 1.0, 0.5) == "in 50 % of draws"


def test_lives_are_lower_end_median_and_upper_end():
    """Of first and last activity, in the order that the page draws them."""
    ends = {"median": [1902, 1950], "lower": [1901, 1940], "upper": [1907, 1960]}
    first, last = pd.DataFrame(ends), pd.DataFrame(ends) + 20
    stub = SimpleNamespace(first_active=lambda: first, last_active=lambda: last)
    lives = _lives(stub, SimpleNamespace(numbers=np.array))
    assert lives[0] == [[1901, 1902, 1907], [1940, 1950, 1960]]
    assert lives[1] == [[1921, 1922, 1927], [1960, 1970, 1980]]


def test_held_out_words_are_told_with_their_error(model, tmp_path):
    counts, year = corpus()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few topics are allowed here
        one = tc.TopicModel(**SETTINGS).fit(counts, t=year, heldout=0.2)
        still = tc.TopicModel(thinning=Always(), **SETTINGS).fit(counts, t=year, heldout=0.2)
    rows = heldout_rows(one, still)
    assert [row[0] for row in rows] == ["this model", "static model"]
    found = one.perplexity()
    assert rows[0][1:] == [f"{found.value:.1f}", f"{found.error:.2g}", f"{found.n_words:,}"]
    assert len(heldout_rows(one, None)) == 1
    assert heldout_rows(model, None) is None
    with pytest.raises(InvalidInput, match="static was fitted to other words"):
        heldout_rows(one, model)
    with pytest.raises(InvalidInput, match="model has none"):
        heldout_rows(model, still)
    with pytest.raises(InvalidType, match="static must be a TopicModel, got int"):
        heldout_rows(one, 3)
    page = tc.write_report(one, tmp_path / "r.html", static=still).read_text()
    assert f'"static model","{rows[1][1]}"' in page


def test_names_of_documents_are_those_of_the_index(model):
    names = [f"letter {i}" for i in range(model.counts_.shape[0])]
    data = topic_data(model, pd.Series(texts_of(model), index=names))
    assert {document["name"] for document in data["documents"]} <= set(names)
