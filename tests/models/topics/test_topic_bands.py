"""Bands of topics have what chains disagree on."""

import numpy as np
import pandas as pd
import pytest
from made_up_draws import made_up
from scipy.special import expit

from thincrm.data.covariates import covariates
from thincrm.models.topics.tables import TopicTables

YEARS = np.array([1900, 1901, 1902, 1905, 1901])
VOCABULARY = pd.Index(list("abcdef"))


def lacking(times):
    """Return draws of four chains; the last has topic 0 and `times` topic 1 as one, column 0."""
    words_of = np.array([[20, 10, 5, 0, 0, 0], [0, 0, 4, 20, 8, 0], [3, 0, 0, 0, 9, 25]])
    both = np.array([words_of[0] + times * words_of[1], words_of[0], words_of[2]])
    draws = [made_up([0, 1, 2], 10 * c + i, c, i, words_of=words_of)
             for c in range(3) for i in range(4)]  # fmt: skip
    return draws + [made_up([0, 2], 40 + i, 3, i, words_of=both) for i in range(4)]


@pytest.mark.parametrize(("times", "akin"), [(2, True), (6, False)])
def test_bands_have_what_a_chain_makes_of_a_topic_it_lacks(times, akin):
    """The chain's own topic that has most of its words, unless these are few of that one's.

    Means are of the chains that have it.
    """
    draws = lacking(times)
    tables = TopicTables(draws, VOCABULARY, covariates(YEARS))
    curves = tables.activation(tables.known.rows, 0.8, lambda draw, _: draw.log_odds)
    consensus = tables.consensus(0.7)
    lacks = np.flatnonzero(consensus.firm() & ~consensus.found[3])
    assert lacks.size
    for k in lacks:
        has = [(draw, int(at[k])) for draw, at in zip(draws[:12], tables.found, strict=False)]
        held_P = tables.told.words(tables.chains)[:, k]
        for draw in draws[12:]:
            words = draw.words.toarray()
            share = [sum(held_P[p] * words[p, j] / max(words[p].sum(), 1) for p in range(6))
                     for j in range(2)]  # fmt: skip
            best = words[:, int(np.argmax(share))]
            near = held_P @ best / np.sqrt((held_P @ held_P) * (best @ best))
            assert (near > 0.35) == akin
            if akin:
                has.append((draw, int(np.argmax(share))))
        assert all(at[k] == -1 for at in tables.found[12:])
        open_BT = np.array([expit(draw.log_odds[:, j]) for draw, j in has])
        mine = curves[curves["topic"] == k]
        np.testing.assert_allclose(mine["mean"], open_BT[:12].mean(axis=0))
        ends = np.quantile(open_BT, [0.1, 0.9], axis=0, method="weibull")
        np.testing.assert_allclose(mine[["lower", "upper"]].T, ends)
