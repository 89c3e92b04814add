"""One pass of a collapsed Gibbs sampler of latent Dirichlet allocation, for first guesses.

    P(z = k) ~ (c_dk + pull_k) (n_kp + a) / (n_k + P a)

c_dk, n_kp and n_k being other tokens of the document, of the word and in all.
"""

from __future__ import annotations

import numpy as np

from thincrm.models.topics.lanes import find_topic, fold
from thincrm.models.topics.token_steps import unsigned
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, uniform

__all__ = ["redraw_guess"]

_0 = unsigned(0)


@compiled
def redraw_guess(
    key: np.uint64,
    start_D: np.ndarray,
    word_N: np.ndarray,
    topic_N: np.ndarray,
    count_PK: np.ndarray,
    total_K: np.ndarray,
    pull_K: np.ndarray,
    done_1: np.ndarray,
) -> None:
    """Redraw topic_N, documents in random order.

    count_PK: n_kp + a, float32, columns in whole lanes and 0 beyond the topics; total_K: n_k + P a.
    Both follow the tokens. `done_1` counts documents, for those who watch.
    """
    n_lanes = count_PK.shape[1]
    n_topics, width, count = pull_K.size, unsigned(n_lanes), count_PK.reshape(-1)
    here_K, weight_K = np.zeros(n_lanes, np.float32), np.zeros(n_lanes, np.float32)
    half, quarter = np.empty(n_lanes // 2, np.float32), np.empty(n_lanes // 4, np.float32)
    lane, one = np.empty(n_lanes // 16, np.float32), np.float32(1.0)
    state = new_stream(key, 0)
    n_documents = start_D.size - 1
    order_D = np.arange(n_documents)
    for i in range(n_documents - 1, 0, -1):
        j = int(uniform(state) * (i + 1))
        order_D[i], order_D[j] = order_D[j], order_D[i]
    for d in order_D:
        done_1[0] += 1.0
        for n in range(start_D[d], start_D[d + 1]):
            here_K[topic_N[n]] += one
        for k in range(n_topics):
            weight_K[k] = (here_K[k] + pull_K[k]) / total_K[k]
        for n in range(start_D[d], start_D[d + 1]):
            k, at = unsigned(topic_N[n]), unsigned(word_N[n]) * width
            here_K[k] -= one
            count[at + k] -= one
            total_K[k] -= one
            weight_K[k] = (here_K[k] + pull_K[k]) / total_K[k]
            total = fold(count, at, weight_K, _0, width, half, quarter, lane, _0)
            height = uniform(state) * total
            k = unsigned(find_topic(height, count, at, weight_K, _0, width, lane, _0))
            topic_N[n] = k
            here_K[k] += one
            count[at + k] += one
            total_K[k] += one
            weight_K[k] = (here_K[k] + pull_K[k]) / total_K[k]
        for n in range(start_D[d], start_D[d + 1]):
            here_K[topic_N[n]] = 0.0
