"""Kept draws made up by hand: what each topic is, and where it is in every draw, is known."""

import numpy as np
from scipy import sparse

from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.usage import Usage

WORDS_OF = np.array([[20, 10, 5, 0, 0, 0], [0, 0, 4, 20, 8, 0], [3, 0, 0, 0, 9, 25]])  # K x P
N_DOCUMENTS, N_ROWS = 5, 4


def made_up(where, seed=0, chain=0, sweep=0, sizes=None, words_of=WORDS_OF):
    """Return a draw whose column j is topic where[j]; sizes: multiples of its words."""
    rng, where = np.random.default_rng(seed), np.asarray(where)
    times = np.ones(len(where), int) if sizes is None else np.asarray(sizes)
    words = rng.poisson(words_of[where].T * times) + (words_of[where].T > 0)
    q = rng.uniform(0.3, 0.8, len(where))
    length = 12 + 5 * np.arange(N_DOCUMENTS)
    documents = rng.multinomial(length, np.full(len(where), 1 / len(where)))
    return TopicDraw(
        chain=chain, sweep=sweep, words=sparse.csc_array(words), concentration=0.2,
        usage=Usage(rng.uniform(0.5, 2.0, len(where)), q, np.log1p(-q)),
        log_odds=rng.normal(0.0, 2.0, (N_ROWS, len(where))), x=None,
        documents=sparse.csr_array(documents), scalars={},
    )  # fmt: skip


def places(where, reference):
    """Return the place of each topic of `reference` in a draw, -1 where it is not."""
    return np.array([where.index(topic) if topic in where else -1 for topic in reference])
