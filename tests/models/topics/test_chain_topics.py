"""Which topics are told: those of most chains, whichever chain is the last, and its own."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_up_draws import N_DOCUMENTS, made_up
from scipy import sparse
from test_consensus import WORDS_OF

from thincrm.data.covariates import covariates
from thincrm.models.topics.tables import TopicTables

CHAINS = [  # the topics of each draw; all but the first chain have 0, all but the third have 2
    [[1, 2, 3], [2, 3, 1]],
    [[0, 1, 2], [1, 0, 2, 4]],
    [[5, 0, 1], [1, 0, 5]],
    [[2, 0], [0, 2, 1]],
]
YEARS = np.arange(N_DOCUMENTS)


def rotated(first):
    """Return the chains in another order, and their tables."""
    chains = CHAINS[first:] + CHAINS[:first]
    seen = [(c, s, where) for c, draws in enumerate(chains) for s, where in enumerate(draws)]
    draws = [made_up(where, c * 7 + s, c, s, words_of=WORDS_OF) for c, s, where in seen]
    vocabulary = pd.Index(list("abcdefghij"))
    return chains, seen, draws, TopicTables(draws, vocabulary, covariates(YEARS))


def topics_of(tables, seen):
    """Return which topic each of the tables is, by where it is in the draws."""
    told = []
    for k in range(tables.n_topics):
        names = {
            where[found[k]]
            for (_, _, where), found in zip(seen, tables.found, strict=True)
            if found[k] >= 0
        }
        assert len(names) == 1
        told += names
    return told


@pytest.mark.parametrize("first", range(4))
def test_topics_of_most_chains_are_told_whichever_is_the_last(first):
    chains, seen, draws, tables = rotated(first)
    told = topics_of(tables, seen)
    ends = [set(of_chain[-1]) for of_chain in chains]
    firm = {topic for topic in range(6) if sum(topic in end for end in ends) >= 3}
    assert firm == {0, 1, 2}
    assert sorted(told) == sorted(firm | ends[-1])
    table = tables.consensus(0.7).table()
    assert {topic for topic, is_firm in zip(told, table["firm"], strict=True) if is_firm} == firm
    for k, topic in enumerate(told):
        has = [topic in end for end in ends]
        assert table.loc[k, "chains"] == np.mean(has)
        seat = max(c for c in range(4) if has[c])  # the last chain that has it
        draw = draws[2 * seat + 1]
        place = chains[seat][-1].index(topic)
        assert tables.tokens[k] == draw.tokens[place]
        used = draw.documents.toarray()[:, place]
        assert tables.held()[0][k] == sum(used)
        assert tables.held()[1][k] == sum(n > 0 for n in used)
        own = [
            draws[b].theta[:, where.index(topic)]
            for b, (c, _, where) in enumerate(seen)
            if topic in where and has[c]
        ]
        np.testing.assert_allclose(tables.mean_theta[:, k], np.mean(own, axis=0), rtol=1e-6)
    assert list(tables.tokens) == sorted(tables.tokens, reverse=True)


def test_a_topic_is_told_once():
    """Two topics of a chain that are much alike do not both take the other chains' one."""
    alike = WORDS_OF.copy()
    alike[1] = alike[0] + (np.arange(10) == 3)
    where = [[0, 2], [0, 2], [0, 2], [0, 1, 2]]
    draws = [made_up(w, c, c, 0, words_of=alike) for c, w in enumerate(where)]
    tables = TopicTables(draws, pd.Index(list("abcdefghij")), covariates(YEARS))
    found_BK = np.array(tables.found)
    for b, place_K in enumerate(found_BK):
        there = place_K[place_K >= 0]
        assert sorted(there) == sorted(set(there)), b
    assert tables.n_topics == 3
    assert sorted(tables.consensus(0.7).table()["chains"]) == [0.25, 1.0, 1.0]


def test_chains_that_share_nothing_tell_the_last_ones_topics():
    draws = [made_up([c, c + 1], c, c, 0, words_of=WORDS_OF) for c in (0, 2)]
    tables = TopicTables(draws, pd.Index(list("abcdefghij")), covariates(YEARS))
    assert tables.n_topics == 2
    assert not tables.consensus(0.7).table()["firm"].any()
    assert [seat[0] for seat in tables.seats] == [1, 1]


def test_few_words_are_not_alike_because_of_the_prior():
    """With a strong prior the mean probabilities of all small topics are nearly the same."""
    draws = [made_up([c], c, c, 0, words_of=WORDS_OF) for c in range(4)]
    draws = [replace(draw, concentration=1_000.0) for draw in draws]
    tables = TopicTables(draws, pd.Index(list("abcdefghij")), covariates(YEARS))
    assert list(tables.consensus(0.7).table()["chains"]) == [0.25]


def test_what_comes_and_goes_is_not_firm_because_its_mean_is_alike_everywhere():
    """Each draw has topic 0 and another one; their mean over draws is the same in all chains."""
    where = [(c, s, [0, 1 + (c + s) % 4]) for c in range(4) for s in range(4)]
    draws = [made_up(w, 4 * c + s, c, s, words_of=WORDS_OF) for c, s, w in where]
    tables = TopicTables(draws, pd.Index(list("abcdefghij")), covariates(YEARS))
    assert sorted(tables.consensus(0.7).table()["chains"]) == [0.0, 1.0]
    assert sorted(tables.consensus(0.7).table()["firm"]) == [False, True]
    (fleeting,) = np.flatnonzero(~tables.consensus(0.7).firm())
    assert list(tables.told.near[:, fleeting] > 0.0) == [False, False, False, True]


def test_bands_are_of_all_draws_of_a_chain_that_has_the_topic():
    """One draw of four has other words in its place: it is not counted, but it is told of."""
    where = [(c, s, [0, 3 if s == 1 else 1]) for c in range(4) for s in range(4)]
    draws = [made_up(w, 4 * c + s, c, s, words_of=WORDS_OF) for c, s, w in where]
    tables = TopicTables(draws, pd.Index(list("abcdefghij")), covariates(YEARS))
    topic = int(np.flatnonzero(tables.consensus(0.7).table()["draws"] == 0.75)[0])
    assert tables.consensus(0.7).table().loc[topic, "chains"] == 1.0
    assert [found[topic] for found in tables.found] == [1] * 16
    own = [draw.theta[:, 1] for draw in draws]
    np.testing.assert_allclose(tables.mean_theta[:, topic], np.mean(own, axis=0), rtol=1e-6)
    counted = tables.consensus(0.7).quantities(2)
    assert list(counted["n_firm_topics"]) == [1 if s == 1 else 2 for _, s, _ in where]
    lacking = [s == 1 for _, s, _ in where]
    assert list(counted[f"topic_share[{topic}]"] == 0.0) == lacking


def test_large_topics_are_paired_before_small_ones():
    """By cosines alone the large topic of a chain would go with the small one of the other.

    Words of two kinds, at these angles (and of so many tokens): a chain's large topic is at 60
    degrees, its small one at 10, the other's at 25 and at 75.
    """
    both = []
    for chain, angles in enumerate(([60, 10], [25, 75])):
        draw = made_up([0, 1], chain, chain, 0, words_of=WORDS_OF)
        at, tokens = np.deg2rad(angles), np.array([2_000, 40])
        words = np.zeros((10, 2), int)
        words[:2] = np.rint(tokens * np.stack([np.cos(at), np.sin(at)]))
        both.append(replace(draw, words=sparse.csc_array(words)))
    tables = TopicTables(both, pd.Index(list("abcdefghij")), covariates(YEARS))
    assert [list(found) for found in tables.found] == [[0, -1], [0, 1]]
    assert list(tables.consensus(0.7).table()["chains"]) == [1.0, 0.5]
