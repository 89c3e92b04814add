"""Groups of topics, against average linkage by plain loops."""

import numpy as np
import pandas as pd
import pytest

from thincrm.models.topics.hierarchy import group_topics, groups_table


def plain_groups(topic_PK, n_groups):
    """Return sets of topics: join the two groups that are nearest on average, again and again."""

    def far(k, j):
        return np.sqrt(max(0.0, 1.0 - np.sqrt(topic_PK[:, k] * topic_PK[:, j]).sum()))

    groups = [{k} for k in range(topic_PK.shape[1])]
    while len(groups) > n_groups:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a)]
        gap = [np.mean([far(k, j) for k in groups[a] for j in groups[b]]) for a, b in pairs]
        a, b = pairs[int(np.argmin(gap))]
        groups[b] |= groups.pop(a)
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("n_groups", [1, 2, 4, 7, 9, 20])
def test_groups_are_those_of_average_linkage(n_groups):
    topic_PK = np.random.default_rng(1).dirichlet(np.full(15, 0.3), 9).T
    group_K = group_topics(topic_PK, n_groups)
    found = {frozenset(np.flatnonzero(group_K == group).tolist()) for group in set(group_K)}
    assert found == plain_groups(topic_PK, n_groups)
    assert list(dict.fromkeys(group_K.tolist())) == list(range(len(found)))  # as topics come


def test_the_table_adds_shares_up_and_names_groups():
    topic_PK = np.array([[0.5, 0.0, 0.4], [0.4, 0.1, 0.5], [0.1, 0.4, 0.1], [0.0, 0.5, 0.0]])
    table = groups_table(topic_PK, np.array([0.2, 0.5, 0.1]), pd.Index(list("abcd")), 2)
    assert list(table.index) == [1, 0, 2]
    assert list(table["group"]) == [0, 1, 1]
    np.testing.assert_allclose(table["group_share"], [0.5, 0.3, 0.3])
    assert list(table["group_words"]) == ["d c b a", "a b c d", "a b c d"]
