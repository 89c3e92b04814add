"""A coarse view of many topics: a hierarchy over them, cut into groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from thincrm.models.topics.draw import similarity
from thincrm.numerics.arrays import Float, Int

__all__ = ["group_topics", "groups_table"]

_LIKELIEST = 5  # words that name a group


def group_topics(topic_PK: Float, n_groups: int) -> Int:
    """Return the (K,) group of each topic, numbered as topics come.

    Average linkage: the two groups become one whose topics are nearest on average, by Hellinger's
    distance sqrt(1 - sum_p sqrt(theta_kp theta_lp)), until n_groups are left.
    """
    n_topics = topic_PK.shape[1]
    if n_topics <= n_groups:
        return np.arange(n_topics)
    far_KK = np.sqrt(np.maximum(1.0 - similarity(topic_PK, topic_PK), 0.0))
    np.fill_diagonal(far_KK, 0.0)
    tree = linkage(squareform(far_KK, checks=False), "average")
    _, first, group_K = np.unique(
        fcluster(tree, n_groups, "maxclust"), return_index=True, return_inverse=True
    )
    return np.argsort(np.argsort(first))[group_K]


def groups_table(
    topic_PK: Float, share_K: Float, vocabulary: pd.Index, n_groups: int
) -> pd.DataFrame:
    """Return topic, group, share (of tokens), and the group's share and likeliest words.

    Groups come in the order of their shares.
    """
    group_K = group_topics(topic_PK, n_groups)
    share_G = np.bincount(group_K, share_K)
    order = np.argsort(-share_G, kind="stable")
    group_K, share_G = np.argsort(order)[group_K], share_G[order]
    words = []
    for group in range(share_G.size):
        mine = group_K == group
        word_P = topic_PK[:, mine] @ share_K[mine]
        words.append(
            " ".join(map(str, vocabulary[np.argsort(-word_P, kind="stable")[:_LIKELIEST]]))
        )
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
