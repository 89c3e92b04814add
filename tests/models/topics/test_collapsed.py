"""Tokens moved with topics integrated out: exact for all count factors, with bursts and not."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from topic_world import (
    World,
    all_topics,
    block,
    functionals,
    level_of,
    many,
    topic_of,
    with_topics,
    words_of,
)

from thincrm.data.counts import Tokens
from thincrm.models.topics import collapsed, collapsed_kernel
from thincrm.models.topics.collapsed import SWEEP_WITHOUT_TOPICS, redraw_without_topics
from thincrm.models.topics.collapsed_kernel import seat_words
from thincrm.models.topics.sweep import redraw_shares, redraw_topics, token_message
from thincrm.numerics.streams import fresh_key
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test, two_sample_test
from thincrm.thinning import Bump, ProbitRVM, SigmoidGP

pytestmark = pytest.mark.joint
SEED = 20271
WORLDS = {
    "poisson": World(
        ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8), True,
        shape=0.8, mass=0.9, rate=0.7,
    ),
    "negative binomial": World(Bump(length=(0.4, 0.5), height=0.9), False, mass=0.3, rate=8.0),
    "levels": World(
        SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2), True, mass=0.9, rate=0.7, odds=(0.3, 1.0, 4.0)
    ),
}  # fmt: skip
WORLDS = {name: replace(world, n_replicates=10) for name, world in WORLDS.items()}
WORLDS |= {f"{name}, bursty": replace(world, burstiness=0.6) for name, world in WORLDS.items()}


def rank(name, redraw=redraw_without_topics, **options):
    """Rank passes there and back; topics are integrated out of one, so they are redrawn after."""

    def there(rng, problem, state):
        return followed(rng, problem, redraw(rng, problem, state, 1))

    def back(rng, problem, state):
        return followed(rng, problem, backwards(rng, problem, state, redraw))

    world, options = WORLDS[name], {"n_first": 1_600, "n_steps": 3, "rng": SEED} | options
    return exact_rank_test(
        many(world), [block(there)], functionals(world), backward=[block(back)], **options
    )


def followed(rng, problem, state):
    """Redraw topics, then which tokens are fresh: what a pass starts with is forgotten so."""
    state = all_topics(rng, problem, redraw_topics(rng, problem, state))
    return replace(state, evidence=state.evidence._replace(**seated(rng, problem, state)))


def seated(rng, problem, state):
    message, [shard], [local] = token_message(problem, state), problem.shards, state.local
    table, counts = np.empty(local.topic.size, np.int32), np.zeros(state.own.theta.shape, np.int32)
    corpus = shard.corpus(local.level, message.sizes.n_levels)
    seat_words(fresh_key(rng), corpus, message.rates, local.topic, table, counts)
    return {"counts": counts, "seats": state.own.seats}


def backwards(rng, problem, state, redraw):
    """Scan from the last token of the last document to the first: the time reversal of a pass."""
    [shard], level = problem.shards, level_of(state)
    start = shard.tokens.word.size - shard.tokens.start[::-1]
    tokens = Tokens(start, shard.tokens.word[::-1].copy(), shard.tokens.n_words)
    row = shard.row[::-1].copy()
    turned = replace(
        problem, shards=(replace(shard, tokens=tokens, row=row, order=np.arange(row.size)),)
    )
    levels = None if level is None else level[::-1].copy()
    state = with_topics(turned, state, topic_of(state)[::-1].copy(), levels)
    moved = redraw(rng, turned, state, 1)
    out = with_topics(problem, moved, topic_of(moved)[::-1].copy(), level)
    counts, seats = moved.evidence.counts, moved.evidence.seats
    return replace(out, evidence=out.evidence._replace(counts=counts, seats=seats))


@pytest.mark.parametrize("name", WORLDS)
def test_passes(name):
    assert_passed(rank(name))


@pytest.mark.parametrize("name", ["poisson, bursty", "negative binomial", "levels, bursty"])
def test_whole_sweep(name):
    """Every update of the sweep that models make, two passes in each."""
    world = WORLDS[name]
    moves = [block(update) for update in SWEEP_WITHOUT_TOPICS if update is not redraw_shares]
    verdict = two_sample_test(
        many(world), moves, functionals(world), n_steps=2, n_first=1_600, rng=SEED
    )
    assert_passed(verdict)


COUNTED = "ball[here + k] = concentration + tally[here + k]"
TWINS = {
    "own word not taken out": ("poisson", 4_000, {f"-= 1\n                {COUNTED}": "-= 1"}),
    "topics whose size only grows": ("poisson", 1_000, {"total_K[k] -= 1.0": ""}),
    "echoes counted as fresh": (
        "poisson, bursty", 1_000,
        {"size_J[table_N[n]] += 1\n            else": "tally[here + k] += 1\n            else"},
    ),
    "unused topics as likely as used ones": (
        "negative binomial", 1_000,
        {"= unused[at + k] /": "= shape_K[k] * gain_K[k] * (unused[at + k] > 0.0) /"},
    ),
    "echoes that do not fade": (
        "poisson, bursty", 4_000,
        {"gain_K, echo_J, echo_K)": "gain_K, np.full(99, echo_J[0]), echo_K)"},
    ),
}  # fmt: skip


def broken(changes, monkeypatch):
    """Return the update with a kernel whose source is changed; it runs as plain Python."""
    source = inspect.getsource(collapsed_kernel.redraw_collapsed.py_func)
    for old, new in changes.items():
        assert old in source
        source = source.replace(old, new or "pass")
    names = dict(vars(collapsed_kernel))
    names |= {name: names[name].py_func for name in ("_other_token", "sum_echoes", "draw_echo")}
    exec(source.replace("@compiled\n", ""), names)
    monkeypatch.setattr(collapsed, "redraw_collapsed", names["redraw_collapsed"])
    return redraw_without_topics


@pytest.mark.parametrize("twin", TWINS)
def test_wrong_passes_are_rejected(twin, monkeypatch):
    name, n_first, changes = TWINS[twin]
    assert_rejected(rank(name, broken(changes, monkeypatch), n_first=n_first))


def test_plain_source_has_the_bits_of_the_compiled_loop(monkeypatch):
    problem, state = WORLDS["poisson, bursty"].draw(np.random.default_rng(3))
    rngs = [np.random.default_rng(4) for _ in range(2)]
    ours = redraw_without_topics(rngs[0], problem, state)
    plain = broken({}, monkeypatch)(rngs[1], problem, state)
    np.testing.assert_array_equal(topic_of(ours), topic_of(plain))
    np.testing.assert_array_equal(ours.evidence.counts, plain.evidence.counts)
    assert not np.array_equal(topic_of(ours), topic_of(state))


def test_a_word_that_fills_a_document_is_fresh_now_and_then():
    """Every table is a fresh draw: at least one per topic and document, at most a token each."""
    problem, state = WORLDS["levels, bursty"].draw(np.random.default_rng(5))
    moved = redraw_without_topics(np.random.default_rng(6), problem, state)
    tokens = np.bincount(words_of(problem), minlength=moved.evidence.counts.shape[0])
    fresh = moved.evidence.counts.sum(axis=1)
    assert (fresh <= tokens).all()
    assert fresh.sum() < tokens.sum()
    assert (moved.evidence.counts >= 0).all()
    used = np.flatnonzero(moved.evidence.total)
    assert (moved.evidence.of(used).sum(axis=0) > 0).all()
