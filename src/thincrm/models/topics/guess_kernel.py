"""A first guess of every token's topic, and of how many topics there are.

Any start is valid; a good one saves hundreds of sweeps. The sweep itself seldom opens a new topic
(an unused one has random words), so the start should have as many as the corpus asks for: a few
passes of a collapsed hierarchical Dirichlet process, whose topics are born and die easily. Its
rich topics get richer, so a few passes follow in which every living topic has the same prior
weight, as in latent Dirichlet allocation: they share the words out more evenly.
"""

from __future__ import annotations

import numpy as np

from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, uniform

__all__ = ["guess_topics"]


@compiled
def guess_topics(
    key: np.uint64,
    n_passes: int,
    start_D: np.ndarray,
    word_N: np.ndarray,
    topic_N: np.ndarray,
    n_topics: int,
    n_words: int,
    usage: float,
    newness: float,
    concentration: float,
    n_even: int,
    even: float,
    done_1: np.ndarray,
) -> None:
    """Fill `topic_N`, documents in random order, in n_passes and then n_even passes.

    P(k) ~ (c_dk + pull_k) (n_kp + a) / (n_k + P a);  first pull_k = usage (D_k + newness / K) /
    (sum D + newness), D_k the number of documents that use topic k: popular topics attract,
    duplicates die out. Then pull_k = even for all topics that are in use. `done_1` holds how many
    documents are done, all passes counted, for those who watch.
    """
    count_PK = np.zeros((n_words, n_topics), np.float32)
    count_K, here_K = np.zeros(n_topics, np.float32), np.zeros(n_topics, np.float32)
    popular_K, weight_K = np.zeros(n_topics, np.float32), np.empty(n_topics, np.float32)
    state = new_stream(key, 0)
    n_documents = start_D.size - 1
    order_D = np.arange(n_documents)
    for i in range(n_documents - 1, 0, -1):
        j = int(uniform(state) * (i + 1))
        order_D[i], order_D[j] = order_D[j], order_D[i]
    small, floor = np.float32(concentration), np.float32(n_words * concentration)
    least, flat, nothing = np.float32(newness / n_topics), np.float32(even), np.float32(0.0)
    total_popular = 0.0
    for turn in range(n_passes + n_even):
        for d in order_D:
            done_1[0] += 1.0
            for k in range(n_topics):
                here_K[k] = 0.0
            if turn > 0:
                for n in range(start_D[d], start_D[d + 1]):
                    here_K[topic_N[n]] += 1.0
            for n in range(start_D[d], start_D[d + 1]):
                p = word_N[n]
                if turn > 0:
                    k = topic_N[n]
                    here_K[k] -= 1.0
                    count_PK[p, k] -= 1.0
                    count_K[k] -= 1.0
                    if here_K[k] == 0.0:
                        popular_K[k] -= 1.0
                        total_popular -= 1.0
                pull = np.float32(usage / (total_popular + newness))
                for k in range(n_topics):
                    prior = pull * (popular_K[k] + least)
                    if turn >= n_passes:
                        prior = flat if popular_K[k] > 0.0 else nothing
                    share = (count_PK[p, k] + small) / (count_K[k] + floor)
                    weight_K[k] = (here_K[k] + prior) * share
                total = 0.0
                for k in range(n_topics):
                    total += weight_K[k]
                height = uniform(state) * total
                k = 0
                while k < n_topics - 1 and height >= weight_K[k]:
                    height -= weight_K[k]
                    k += 1
                topic_N[n] = k
                if here_K[k] == 0.0:
                    popular_K[k] += 1.0
                    total_popular += 1.0
                here_K[k] += 1.0
                count_PK[p, k] += 1.0
                count_K[k] += 1.0
