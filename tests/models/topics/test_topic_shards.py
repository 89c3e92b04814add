"""The same bits however the documents are cut into shards: streams belong to documents."""

from itertools import pairwise

import numpy as np
from test_topic_threads import N_SWEEPS, check_evidence, every_product, problem_of, start, sweeps
from topic_world import counts_of, level_of, topic_of

from thincrm.data.counts import Tokens
from thincrm.models.topics.guess import first_topics
from thincrm.models.topics.split_merge import split_or_merge
from thincrm.models.topics.start import expand
from thincrm.models.topics.state import shards_of
from thincrm.numerics.streams import sweep_generator

SHARD_TOKENS = {1: 2**24, 2: 1_000, 5: 450}  # of about 2,300


def cut(name, n_shards):
    problem = problem_of(name, shard_tokens=SHARD_TOKENS[n_shards])
    assert len(problem.shards) == n_shards
    return problem


def chain(problem):
    """Return states after a start, sweeps, splits and merges, a larger truncation, more sweeps."""
    state = start(problem)
    seen = [state, *sweeps(problem, state, range(1, N_SWEEPS + 1))]
    for number in range(4):
        rng = sweep_generator(1, 0, number, 2)
        seen.append(split_or_merge(rng, problem, seen[-1], lambda _: 0.0))
    assert any(a is not b for a, b in pairwise(seen[-5:]))
    larger, grown = expand(sweep_generator(1, 0, 0, 1), problem, seen[-1], 30)
    return larger, [*seen, *sweeps(larger, grown, range(N_SWEEPS + 1, N_SWEEPS + 4))]


def same(a, b):
    """Compare all that does not depend on how documents are cut."""
    np.testing.assert_array_equal(topic_of(a), topic_of(b))
    np.testing.assert_array_equal(level_of(a), level_of(b))
    np.testing.assert_array_equal(a.log_mass, b.log_mass)
    for one, other in zip(a.x, b.x, strict=True):
        np.testing.assert_array_equal(one, other)
    for name in ("theta", "seats", "shape", "concentration", "burstiness", "log_share"):
        np.testing.assert_array_equal(getattr(a.own, name), getattr(b.own, name))
    np.testing.assert_array_equal(counts_of(a.evidence), counts_of(b.evidence))
    for name in ("positive", "above", "trials", "seats"):
        np.testing.assert_array_equal(getattr(a.evidence, name), getattr(b.evidence, name))


@every_product
def test_shards_do_not_change_a_bit(name):
    runs = [chain(cut(name, n_shards)) for n_shards in SHARD_TOKENS]
    for problem, states in runs[1:]:
        for ours, theirs in zip(states, runs[0][1], strict=True):
            same(ours, theirs)
        check_evidence(problem, states[-1])
    assert not np.array_equal(topic_of(runs[0][1][0]), topic_of(runs[0][1][-1]))


@every_product
def test_draws_and_numbers_are_the_same(name):
    """What is kept has the same bits, the log joint too: whole numbers are added over shards."""
    found = []
    for n_shards in SHARD_TOKENS:
        problem = cut(name, n_shards)
        state = sweeps(problem, start(problem), range(1, 4))[-1]
        found.append(problem.likelihood.keep(problem, state, 0, 3))
    for other in found[1:]:
        assert (other.words != found[0].words).nnz == 0
        assert (other.documents != found[0].documents).nnz == 0
        np.testing.assert_array_equal(other.log_odds, found[0].log_odds)
        np.testing.assert_array_equal(other.labels, found[0].labels)
        np.testing.assert_array_equal(other.level, found[0].level)
        assert other.scalars == found[0].scalars


def test_a_guess_on_some_documents_is_the_same():
    found = []
    for n_shards in SHARD_TOKENS:
        problem = cut("rvm, poisson", n_shards)
        found.append(first_topics(np.random.default_rng(2), problem, most_tokens=500))
        assert len(found[-1]) == n_shards
    for other in found[1:]:
        np.testing.assert_array_equal(np.concatenate(other), found[0][0])


def test_shards_of_short_documents_have_fewer_tokens():
    """Two shards take the same time if a document counts for three tokens beside its own."""
    length_D = np.concatenate([np.full(100, 50), np.full(2500, 2)])
    start = np.concatenate([[0], np.cumsum(length_D)])
    documents = Tokens(start, np.zeros(start[-1], np.int32), 1)
    shards = shards_of(documents, np.zeros(length_D.size, np.int32), 5_000)
    assert [shard.first for shard in shards] == [0, 820]  # 100 x 53 + 720 x 5 is half of all
    assert sum(shard.tokens.word.size for shard in shards) == start[-1]
