"""What a split or a merge draws: all ways to share tables out, all pairs of topics, all tables."""

from itertools import product

import numpy as np
import pytest
from test_topic_threads import problem_of, start
from topic_world import topic_of, words_of

from thincrm.models.topics.pair_choice import log_chance
from thincrm.models.topics.seating import Seating, Wanted, seated
from thincrm.models.topics.sharing import Sharing, share_out

N_WORDS, ROUNDS = 5, 2
START, ROW = np.array([0, 2, 3, 6]), np.array([1, 0, 1])
WORD, SIZE = np.array([0, 3, 3, 0, 1, 3]), np.array([2, 1, 1, 3, 1, 1])
RISE = np.array([0.0, -0.3, 0.4, 1.5, 3.1, 5.0])
NONE = np.zeros(0, np.int64)


def shared(wanted, key=7):
    """Share out from nothing, twice; return sides and log q of the last round."""
    sharing = Sharing.none(WORD.size, N_WORDS)
    tables = np.array([2, 0, 1]), START, ROW, WORD, SIZE
    law = np.log([0.2, 0.5]), np.array([0.9, 0.6]), RISE, 0.3
    for round_ in range(ROUNDS):
        last = round_ == ROUNDS - 1
        log_q = share_out(np.uint64(key + round_), *tables, *law, wanted if last else NONE, sharing)
    return sharing.side_I.copy(), log_q


def test_chances_of_all_ways_add_up_to_one():
    ways = [np.array(way) for way in product([0, 1], repeat=WORD.size)]
    chance = {tuple(way): np.exp(shared(way)[1]) for way in ways}
    assert sum(chance.values()) == pytest.approx(1.0, rel=1e-12)
    side, log_q = shared(NONE)
    assert np.exp(log_q) == pytest.approx(chance[tuple(side)], rel=1e-12)


def test_chances_of_all_pairs_add_up_to_one():
    count_PK = np.random.default_rng(1).integers(0, 4, (6, 3)).astype(float)
    total_P = count_PK.sum(axis=1)
    pairs = product(count_PK.T, repeat=2)
    found = sum(np.exp(log_chance(a, b, total_P, 3)) for a, b in pairs)
    assert found == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("burstiness", [0.0, 0.5])
def test_tables_hold_the_tokens_of_two_topics(burstiness):
    problem = problem_of("rvm, poisson", shard_tokens=500)
    state = start(problem)
    pair = tuple(np.argsort(-state.evidence.total)[:2].tolist())
    theta = np.full((2, problem.facts.n_words), 1.0 / problem.facts.n_words, np.float32)
    wanted = Wanted(np.uint64(3), pair, theta, burstiness, 0)
    parts = list(problem.engine.each(seated, problem.shards, state.local, wanted))
    assert len(parts) > 1
    tables = Seating.joined(parts)
    mine = np.isin(topic_of(state), pair)
    assert tables.size_I.sum() == mine.sum()
    np.testing.assert_array_equal(np.bincount(tables.table_M), tables.size_I)
    np.testing.assert_array_equal(tables.word_I[tables.table_M], words_of(problem)[mine])
    side = np.where(topic_of(state)[mine] == pair[0], 0, 1)
    np.testing.assert_array_equal(tables.side_I[tables.table_M], side)
    assert (tables.size_I.max() > 1) == (burstiness > 0.0)
