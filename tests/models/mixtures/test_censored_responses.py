"""Censored responses: the sweep, every number told of them, files, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mixture_rows import come_and_go, small
from mixture_world import Limits, World, block, functionals, many
from scipy.stats import norm, truncnorm

import thincrm as tc
from thincrm.errors import DamagedFile, InvalidInput
from thincrm.models.mixtures.censored import _draw_between
from thincrm.models.mixtures.sweep import SWEEP
from thincrm.numerics.streams import new_stream
from thincrm.testing import assert_passed, assert_rejected, two_sample_test
from thincrm.thinning import Bump

SEED = 20267
WORLD = World(
    Bump(length=(0.4, 0.5), height=0.9), "weighted", Limits(), n_replicates=1, learned=True
)


def stays(updates, n_first):
    return two_sample_test(
        many(WORLD), [block(update) for update in updates], functionals(WORLD), n_steps=1,
        n_first=n_first, rng=SEED,
    )  # fmt: skip


def taken_as_exact(update):
    """Return the update of a problem whose limits are taken for responses."""

    def move(rng, problem, state):
        shards = []
        for shard in problem.shards:
            low, high = shard.rows.low, shard.rows.high
            said = np.where(np.isfinite(low), low, high)
            shards.append(shard._replace(rows=shard.rows._replace(low=said, high=said)))
        return update(rng, replace(problem, shards=tuple(shards)), state)

    return move


@pytest.mark.joint
def test_the_whole_sweep():
    """Splits, merges and exchanges, rows, curves, masses, scale, clusters and their prior."""
    assert_passed(stays(SWEEP, 500))


@pytest.mark.joint
def test_limits_taken_for_responses_are_rejected():
    assert_rejected(stays([taken_as_exact(update) for update in SWEEP], 1_000))


@pytest.fixture(scope="module")
def cut():
    """Return t, true responses, what is recorded of them (at most 20), and sides."""
    rng = np.random.default_rng(SEED)
    t = rng.random(120)
    true = 10 + 20 * t + rng.standard_normal(120)
    side = np.where(true > 20, 1, 0)
    return t, true, np.minimum(true, 20.0)[:, None], side


@pytest.fixture(scope="module")
def fitted(cut, tmp_path_factory):
    t, _, table, side = cut
    folder = tmp_path_factory.mktemp("censored") / "run"
    return small(n_sweeps=60, n_draws=6).fit(table, t=t, censored=side, out=folder), folder


def test_lines_go_on_beyond_the_limit(cut, fitted):
    t, true, table, side = cut
    model, _ = fitted
    assert model.likelihood_ == tc.RegressionClusters()
    middle = model.quantiles(q=0.5, t=[0.75])["predictive"][0]
    assert middle == pytest.approx(25, abs=1.5)
    filled = model.impute(table, t=t, censored=side).mean[:, 0]
    np.testing.assert_array_equal(filled[side == 0], true[side == 0])
    assert (filled[side == 1] > 20).all()
    assert np.abs(filled - true).mean() < 1.2
    exact = small(n_sweeps=60, n_draws=6).fit(table, t=t)  # what censoring is for
    assert exact.quantiles(q=0.5, t=[0.75])["predictive"][0] < 21


def laws(model, cut, when):
    """Return the weights and laws of every draw's clusters at a covariate."""
    t, _, table, _ = cut
    level, unit = table.mean(), table.std()
    for draw in model.draws_:
        line = draw.params.slope @ [1.0, (when - t.mean()) / t.std()]
        law = norm(line * unit + level, unit / np.sqrt(draw.params.precision))
        yield model._weights(draw, np.array([[when]]))[0], law


def test_scores_and_holes_by_their_definitions(cut, fitted):
    model, _ = fitted
    when, limit = 0.45, 19.0
    table, t = np.full((3, 1), limit), np.full(3, when)
    parts = [
        (w @ law.cdf(limit), w @ law.pdf(limit), w @ law.sf(limit))
        for w, law in laws(model, cut, when)
    ]
    found = model.score_samples(table, t=t, censored=[-1, 0, 1])
    np.testing.assert_allclose(found, np.log(np.mean(parts, axis=0)), atol=1e-8)
    assert model.score(table, t=t, censored=[-1, 0, 1]) == pytest.approx(found.mean())
    chance = model.predict_proba(table, t=t, censored=[-1, 0, 1])
    np.testing.assert_array_equal(model.predict(table, t, [-1, 0, 1]), chance.argmax(1))
    filled = model.impute(table, t=t, censored=[-1, 0, 1], level=0.8)
    for row, ends in ((0, (-np.inf, limit)), (2, (limit, np.inf))):
        means = []
        for w, law in laws(model, cut, when):
            centre, sd = law.mean(), law.std()
            share = w * (law.cdf(ends[1]) - law.cdf(ends[0]))
            inner = truncnorm((ends[0] - centre) / sd, (ends[1] - centre) / sd, centre, sd)
            used = share > 1e-9 * share.sum()
            means.append((share * inner.mean())[used].sum() / share.sum())
        assert filled.mean[row, 0] == pytest.approx(np.mean(means), rel=1e-5)
        assert ends[0] <= filled.lower[row, 0] < filled.mean[row, 0] < filled.upper[row, 0]
        assert filled.upper[row, 0] <= ends[1]
    assert filled.mean[1, 0] == filled.lower[1, 0] == filled.upper[1, 0] == limit


def test_from_files_and_resumed(cut, fitted, tmp_path):
    t, _, table, side = cut
    model, folder = fitted
    loaded = tc.load(folder)
    np.testing.assert_array_equal(loaded.censored_, side)
    half = small(n_sweeps=30, n_draws=6).fit(table, t=t, censored=side, out=tmp_path / "half")
    longer = tc.resume(tmp_path / "half", n_sweeps=60)
    whole = small(n_sweeps=60, n_draws=6).fit(table, t=t, censored=side)
    assert not half.trace_.equals(longer.trace_)
    assert longer.trace_.equals(whole.trace_)
    assert loaded.trace_.equals(model.trace_)
    data = loaded._pack_data()
    for wrong in (side, side.astype(np.int8)[1:], np.full(120, 2, np.int8), None):
        with pytest.raises(DamagedFile, match="censored responses cannot be"):
            loaded._unpack_data({**data, "censored": wrong})


def test_what_is_refused(cut, fitted):
    t, _, table, side = cut
    quick = small(n_sweeps=6, n_draws=2)
    for wrong, match in (
        (side[1:], "for each of Y's 120 rows"),
        (np.where(side, 2, 0), "must be -1"),
        (np.where(side, np.nan, 0), "holds nan in row"),
        (["yes"] * 120, "must hold -1, 0 or 1"),
        (
            pd.Series(side).sample(frac=1.0, random_state=1),
            "censored has the index of Y in another",
        ),
    ):
        with pytest.raises(InvalidInput, match=match):
            quick.fit(pd.DataFrame(table), t=t, censored=wrong)
    with pytest.raises(InvalidInput, match="GaussianClusters has none"):
        small(likelihood=tc.GaussianClusters()).fit(table, t=t, censored=side)
    Y, when, *_ = come_and_go(5, n_rows=30)
    plain = quick.fit(Y, t=when)
    with pytest.raises(InvalidInput, match="GaussianClusters has none"):
        plain.score_samples(Y, t=when, censored=np.zeros(30))
    holes = table.copy()
    holes[:3] = np.nan  # censored or not, a missing response says nothing
    found = fitted[0].score_samples(holes[:3], t=t[:3], censored=[-1, 0, 1])
    np.testing.assert_allclose(found, 0.0, atol=1e-9)


@pytest.mark.parametrize("low", [1e7, 1e9, 1e200, np.nan])
@pytest.mark.parametrize("width", [1e-9, 1.0, np.inf])
def test_draws_between_limits_that_are_far_out_come_to_an_end(low, width):
    for sign in (-1.0, 1.0):
        limits = sorted([sign * low, sign * (low + low * width)])
        x = _draw_between(new_stream(np.uint64(1), 2), *limits)
        assert np.isnan(low) or limits[0] <= x <= limits[1]
