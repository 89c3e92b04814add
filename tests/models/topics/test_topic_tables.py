"""Every number of a topic model's tables, against loops over draws, topics, words and documents."""

import itertools

import numpy as np
import pandas as pd
import pytest
from made_up_draws import N_DOCUMENTS, made_up, places
from scipy import sparse, stats
from scipy.special import expit

from thincrm.data.covariates import covariates
from thincrm.models.topics.draw import TopicRoots, match_topics, similarity
from thincrm.models.topics.tables import TopicTables

LAST = [2, 0, 1]  # the topics of the last draw, which is the reference
SIZES = [1, 5, 2]  # so the order is 0, 1, 2
WHERE = [[0, 1, 2], [1, 2, 0], [2, 0], [2, 1, 0], [0, 2, 1], LAST]
TIMES = [(1, 4, 2), (1, 2, 7), (6, 1), (5, 1, 1), (1, 6, 2), SIZES]  # who is large changes
DRAWS = [made_up(where, i, 0, i, TIMES[i]) for i, where in enumerate(WHERE)]
YEARS = np.array([1900, 1901, 1902, 1905, 1901])
VOCABULARY = pd.Index(list("abcdef"))
LEVEL = 0.8


@pytest.fixture(scope="module")
def tables():
    return TopicTables(DRAWS, VOCABULARY, covariates(YEARS))


def found_in(b, topic):
    """Return the column of a topic in draw b, or None."""
    return WHERE[b].index(topic) if topic in WHERE[b] else None


def columns():
    """Yield (topic, [(draw, its column)]) of the draws that have it."""
    for topic in range(3):
        found = [(draw, found_in(b, topic)) for b, draw in enumerate(DRAWS)]
        yield topic, [(draw, k) for draw, k in found if k is not None]


def test_topics_are_matched_by_their_words_not_their_sizes(tables):
    for where, draw in zip(WHERE, DRAWS, strict=True):
        np.testing.assert_array_equal(
            match_topics(TopicRoots.of(DRAWS[-1]), TopicRoots.of(draw)), places(where, LAST)
        )
    assert list(tables.tokens) == sorted(DRAWS[-1].tokens, reverse=True)
    for where, found in zip(WHERE, tables.found, strict=True):
        np.testing.assert_array_equal(found, places(where, [0, 1, 2]))


def test_affinities_of_sparse_topics_are_those_of_dense_ones():
    for draw in DRAWS:
        near = TopicRoots.of(DRAWS[-1]).affinity(TopicRoots.of(draw))
        np.testing.assert_allclose(near, similarity(DRAWS[-1].theta, draw.theta), rtol=1e-6)


def plain_theta(draw, p, k):
    words = draw.words.toarray()
    return (words[p, k] + draw.concentration) / (words[:, k].sum() + 6 * draw.concentration)


def test_words_of_topics(tables):
    table = tables.topics(3, LEVEL, 0)
    for topic, found in columns():
        mean = [np.mean([plain_theta(draw, p, k) for draw, k in found]) for p in range(6)]
        best = np.argsort(mean)[::-1][:3]
        mine = table[table["topic"] == topic]
        assert list(mine["word"]) == list(VOCABULARY[best])
        assert list(mine["rank"]) == [1, 2, 3]
        np.testing.assert_allclose(mine["probability"], np.array(mean)[best], rtol=1e-5)
    counts = tables.word_tokens()
    for topic, found in columns():
        total = sum(draw.words.toarray()[:, k] for draw, k in found)
        np.testing.assert_allclose(counts[:, topic], total / len(found))


def test_words_in_the_order_of_relevance(tables):
    """0.6 log p(w | k) + 0.4 log p(w | k) / p(w); other weights would have another order."""
    rng, seen = np.random.default_rng(1), set()
    for _ in range(20):
        common = rng.dirichlet(np.full(6, 0.5)) + 1e-3
        table = tables.topics(6, LEVEL, 0, common)
        for topic, found in columns():
            means = [[plain_theta(draw, p, k) for draw, k in found] for p in range(6)]
            mean, mine = np.mean(means, axis=1), table[table["topic"] == topic]
            for weight in (0.4, 0.3, 0.5):
                relevance = (1 - weight) * np.log(mean) + weight * np.log(mean / common)
                best = np.argsort(relevance)[::-1]
                if list(mine["word"]) != list(VOCABULARY[best]):
                    seen.add(weight)
                elif weight == 0.4:
                    np.testing.assert_allclose(mine["probability"], mean[best], rtol=1e-5)
    assert seen == {0.3, 0.5}


def test_bands_of_words_are_those_of_dirichlet_topics():
    """A word's probability given a draw is beta; over draws, a mixture, of which bands are ends."""
    few = [made_up([0, 1, 2], seed, 0, seed) for seed in range(4)]
    draws, level = few * 500, 0.8
    table = TopicTables(draws, VOCABULARY, covariates(YEARS)).topics(2, level, 1)
    order = np.argsort(-few[-1].tokens, kind="stable")
    error = stats.norm.isf(1e-5 / 24) * np.sqrt(0.1 * 0.9 / len(draws))
    for column, k in enumerate(order):
        for row in table[table["topic"] == column].itertuples():
            p = VOCABULARY.get_loc(row.word)
            laws = []
            for draw in few:
                words = draw.words.toarray()[:, k] + draw.concentration
                laws.append(stats.beta(words[p], words.sum() - words[p]))
            for end, share in ((row.lower, 0.1), (row.upper, 0.9)):
                assert abs(np.mean([law.cdf(end) for law in laws]) - share) < error


def test_activations_and_shares(tables):
    table = tables.activation(tables.known.rows, LEVEL, lambda draw, rows: draw.log_odds)
    for topic, found in columns():
        mine = table[table["topic"] == topic]
        assert list(mine["t"]) == sorted(set(YEARS))
        for t in range(4):
            opened, share = [], []
            for draw, k in found:
                mean = draw.usage.shape * draw.usage.q / (1 - draw.usage.q)
                rate = expit(draw.log_odds[t]) * mean
                opened.append(expit(draw.log_odds[t, k]))
                share.append(rate[k] / rate.sum())
            row = mine.iloc[t]
            expected = []
            for drawn in (opened, share):  # so few draws count as independent ones
                ends = np.quantile(drawn, [0.1, 0.9], method="weibull")
                expected += [np.mean(drawn), *ends]
            names = ["mean", "lower", "upper", "share", "share_lower", "share_upper"]
            np.testing.assert_allclose(row[names].astype(float), expected, rtol=1e-12)


def curves(topic):
    for b, draw in enumerate(DRAWS):
        if found_in(b, topic) is not None:
            curve = expit(draw.log_odds[:, found_in(b, topic)])
            yield [value >= 0.5 * max(curve) for value in curve]


@pytest.mark.parametrize("which", ["first", "last"])
def test_first_and_last_times(tables, which):
    table, years = tables.lifetimes(LEVEL, which), sorted(set(YEARS))
    for topic in range(3):
        spells = [[t for t, active in enumerate(curve) if active] for curve in curves(topic)]
        place = [spell[0 if which == "first" else -1] for spell in spells]
        ends = np.quantile(place, [0.5, 0.1, 0.9], method="nearest")
        assert list(table.loc[topic]) == [years[int(i)] for i in ends]


def plain_shape(active):
    spells = [on for on, _ in itertools.groupby(active) if on]
    if len(spells) > 1:
        return "intermittent"
    if active[0] and active[-1]:
        return "steady"
    if active[-1]:
        return "rising"
    return "falling" if active[0] else "peaked"


def test_shapes(tables):
    table = tables.shapes()
    for topic in range(3):
        seen = [plain_shape(active) for active in curves(topic)]
        for shape in ("rising", "falling", "peaked", "intermittent", "steady"):
            assert table.loc[topic, shape] == pytest.approx(seen.count(shape) / len(seen))
        assert table.loc[topic, "presence"] == pytest.approx(len(seen) / len(DRAWS))


def test_coherence(tables):
    counts = np.random.default_rng(4).poisson(0.7, (30, 6))
    counts[:, 5] *= counts[:, 3] == 0  # two words that never meet
    common = np.array([0.9, 0.02, 0.02, 0.02, 0.02, 0.02])
    found = tables.coherence(sparse.csr_array(counts), 3, common)
    shown = tables.topics(3, LEVEL, 0, common)
    there = counts > 0
    for topic in range(3):
        best = VOCABULARY.get_indexer(shown[shown["topic"] == topic]["word"])
        scores = []
        for a, b in itertools.combinations(best, 2):
            both = (there[:, a] & there[:, b]).mean()
            if both == 0:
                scores.append(-1.0)
            else:
                lift = both / (there[:, a].mean() * there[:, b].mean())
                scores.append(np.log(lift) / -np.log(both))
        assert found[topic] == pytest.approx(np.mean(scores), rel=1e-6)


def plain_shares():
    share = np.zeros((N_DOCUMENTS, 3))
    for topic, found in columns():
        for d in range(N_DOCUMENTS):
            for draw, k in found:
                numbers = draw.documents.toarray()
                share[d, topic] += numbers[d, k] / numbers[d].sum() / len(found)
    return share / share.sum(axis=1, keepdims=True)


def test_documents(tables):
    share = plain_shares()
    np.testing.assert_allclose(tables.document_shares().toarray(), share)
    table = tables.documents(0.3)
    found = {(row.document, row.topic): row.share for row in table.itertuples()}
    pairs = itertools.product(range(N_DOCUMENTS), range(3))
    expected = {(d, k): share[d, k] for d, k in pairs if share[d, k] >= 0.3}
    assert found == pytest.approx(expected)
    assert list(table["t"]) == list(YEARS[table["document"]])
    assert table["document"].is_monotonic_increasing
    assert all(mine.is_monotonic_decreasing for _, mine in table.groupby("document")["share"])


def test_representative_documents(tables):
    table = tables.representative(2, np.array([1902.0]))
    numbers = DRAWS[-1].documents.toarray()
    for topic in range(3):
        share = numbers[:, found_in(-1, topic)] / numbers.sum(axis=1)
        for period in (0, 1):
            inside = [d for d in range(N_DOCUMENTS) if (YEARS[d] >= 1902) == period and share[d]]
            best = sorted(inside, key=lambda d, share=share: -share[d])[:2]
            mine = table[(table["topic"] == topic) & (table["period"] == period)]
            assert list(mine["document"]) == best
            assert list(mine["rank"]) == list(range(1, len(best) + 1))
            np.testing.assert_allclose(mine["share"], share[best])
            assert list(mine["t"]) == list(YEARS[best])
