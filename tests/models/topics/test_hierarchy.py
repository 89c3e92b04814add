"""Groups of topics, against Ward's method by plain loops."""

import numpy as np
import pandas as pd
import pytest

from thincrm.models.topics.hierarchy import group_topics, groups_table


def plain_groups(topic_PK, n_groups):
    """Return sets of topics: join the two groups that add least to the squares, again and again."""
    point_KP = np.sqrt(topic_PK).T

    def squares(group):
        mine = point_KP[sorted(group)]
        return ((mine - mine.mean(axis=0)) ** 2).sum()

    groups = [{k} for k in range(topic_PK.shape[1])]
    while len(groups) > n_groups:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a)]
        cost = [
            squares(groups[a] | groups[b]) - squares(groups[a]) - squares(groups[b])
            for a, b in pairs
        ]
        a, b = pairs[int(np.argmin(cost))]
        groups[b] |= groups.pop(a)
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("n_groups", [1, 2, 4, 7, 9, 20])
def test_groups_are_those_of_ward(n_groups):
    topic_PK = np.random.default_rng(1).dirichlet(np.full(15, 0.3), 9).T
    group_K = group_topics(topic_PK, n_groups)
    found = {frozenset(np.flatnonzero(group_K == group).tolist()) for group in set(group_K)}
    assert found == plain_groups(topic_PK, n_groups)
    assert list(dict.fromkeys(group_K.tolist())) == list(range(len(found)))  # as topics come


def test_the_table_adds_shares_up_and_names_groups():
    topic_PK = np.array([[0.5, 0.1, 0.4], [0.3, 0.1, 0.4], [0.15, 0.4, 0.15], [0.05, 0.4, 0.05]])
    share_K, vocabulary = np.array([0.2, 0.5, 0.1]), pd.Index(list("abcd"))
    table = groups_table(topic_PK, share_K, vocabulary, 2)
    assert list(table.index) == [1, 0, 2]
    assert list(table["group"]) == [0, 1, 1]
    np.testing.assert_allclose(table["share"], [0.5, 0.2, 0.1])
    np.testing.assert_allclose(table["group_share"], [0.5, 0.3, 0.3])
    for group, topics in ((0, [1]), (1, [0, 2])):
        score = []
        for p in range(4):
            inside = sum(topic_PK[p, k] * share_K[k] for k in topics)
            score.append(np.log(inside) - 0.4 * np.log(sum(topic_PK[p] * share_K)))
        words = ", ".join(vocabulary[np.argsort(score)[::-1]])
        assert set(table[table["group"] == group]["group_words"]) == {words}
