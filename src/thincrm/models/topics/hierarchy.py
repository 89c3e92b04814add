"""A coarse view of many topics: a hierarchy over them, cut into groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage

from thincrm.numerics.arrays import Float, Int

__all__ = ["group_topics", "groups_table"]

_WORDS = 5  # that name a group
_LIFT = 0.4  # weight of how much more a group has a word than all topics, as of a topic's words


def group_topics(topic_PK: Float, n_groups: int) -> Int:
    """Return the (K,) group of each topic, numbered as topics come.

    Ward's method on the points sqrt(theta_k): the two groups become one that add the least to the
    sum of squared Hellinger distances from the groups' means, until n_groups are left. (Average
    linkage puts most topics of a real corpus into one group.)
    """
    n_topics = topic_PK.shape[1]
    if n_topics <= n_groups:
        return np.arange(n_topics)
    tree = linkage(np.sqrt(topic_PK).T, "ward")
    _, first, group_K = np.unique(
        fcluster(tree, n_groups, "maxclust"), return_index=True, return_inverse=True
    )
    return np.argsort(np.argsort(first))[group_K]


def groups_table(
    topic_PK: Float, share_K: Float, vocabulary: pd.Index, n_groups: int
) -> pd.DataFrame:
    """Return topic, group, share (of tokens), and the group's share and most relevant words.

    Groups come in the order of their shares. Relevance is log p(w | group) - 0.4 log p(w).
    """
    group_K = group_topics(topic_PK, n_groups)
    share_G = np.bincount(group_K, share_K)
    order = np.argsort(-share_G, kind="stable")
    group_K, share_G = np.argsort(order)[group_K], share_G[order]
    weight_K = np.maximum(share_K, 1e-12)  # a topic that no draw has again still has words
    common_P = topic_PK @ weight_K
    words = []
    for group in range(share_G.size):
        mine = group_K == group
        score_P = np.log(topic_PK[:, mine] @ weight_K[mine]) - _LIFT * np.log(common_P)
        words.append(", ".join(map(str, vocabulary[np.argsort(-score_P, kind="stable")[:_WORDS]])))
    table = pd.DataFrame(
        {
            "group": group_K,
            "share": share_K,
            "group_share": share_G[group_K],
            "group_words": np.array(words, object)[group_K],
        },
        index=pd.RangeIndex(share_K.size, name="topic"),
    )
    return table.sort_values(["group", "share"], ascending=[True, False], kind="stable")
