"""A topic with very many tokens in one document is kept by itself, and says the same."""

import numpy as np
from test_topic_threads import every_product, problem_of, start, sweeps

from thincrm.inference.updates import log_odds_of
from thincrm.models.topics import usage_counts
from thincrm.models.topics.documents import counted
from thincrm.models.topics.joint import log_joint
from thincrm.models.topics.sweep import opened_of
from thincrm.numerics.streams import sweep_generator

MOST = 4  # instead of 65,536


@every_product
def test_long_pairs_say_what_a_table_of_all_sizes_says(name, monkeypatch):
    problem = problem_of(name, shard_tokens=1_000)
    assert len(problem.shards) > 1
    plain = counted(problem, start(problem))
    monkeypatch.setattr(usage_counts, "LONG", MOST)
    short = counted(problem, plain)
    whole, cut = plain.evidence, short.evidence
    assert whole.long.size == 0
    assert cut.long.shape[1] > 10
    assert len(cut.above) <= MOST < len(whole.above)
    np.testing.assert_array_equal(cut.total, whole.total)
    np.testing.assert_array_equal(cut.positive, whole.positive)
    np.testing.assert_array_equal(cut.above_J, whole.above_J)
    for k in range(problem.n_atoms):
        expected = whole.above_of(k)
        np.testing.assert_array_equal(cut.above_of(k), expected[: cut.above_of(k).size])
        assert not expected[cut.above_of(k).size :].any()
    np.testing.assert_allclose(log_joint(problem, short), log_joint(problem, plain), rtol=1e-12)
    factor, log_odds = problem.likelihood.factor, log_odds_of(problem, plain.x)
    if hasattr(factor, "shape_density"):
        at = np.full(problem.n_atoms if "negative" in name else 1, -0.3)
        found = [factor.shape_density(s.log_mass, s.evidence, log_odds)(at) for s in (plain, short)]
        np.testing.assert_allclose(*found, rtol=1e-12)
    rng = sweep_generator(1, 0, 0)
    shape, mass, opened = plain.own.shape, plain.log_mass, opened_of(rng, problem, plain)
    for ours, theirs in zip(
        factor.mass_evidence(sweep_generator(1, 0, 1), shape, mass, cut, opened),
        factor.mass_evidence(sweep_generator(1, 0, 1), shape, mass, whole, opened),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)
    moved = sweeps(problem, short, range(1, 3))[-1]
    assert moved.evidence.long.size > 0
    assert moved.evidence.total.sum() == problem.facts.n_tokens
