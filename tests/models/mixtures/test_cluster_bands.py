"""Bands of a mixture's tables, against a plain twin: draws count for what they are worth."""

import numpy as np
import pytest
from mixture_rows import come_and_go, small
from scipy.special import expit

from thincrm.inference.convergence import tail_ess

Y, T, *_ = come_and_go(5)
N_CHAINS, N_DRAWS = 2, 20
WHERE = np.array([[0.25], [0.75]])


@pytest.fixture(scope="module")
def fitted():
    return small(gates="weighted", n_sweeps=60, n_draws=N_DRAWS, n_chains=N_CHAINS).fit(Y, t=T)


def plain_band(values, chains):
    """Return the 90 % band of one number: values of the draws that have it, and their chains."""
    found = [values[chains == c] for c in np.unique(chains)]
    found = [part for part in found if 2 * part.size >= max(map(len, found))]
    shortest = min(map(len, found))
    n = float(len(values))
    if shortest >= 8:
        n = min(n, tail_ess(np.array([part[-shortest:] for part in found])))
    way = max((0.05 * (n + 1) - 1) / (n - 1), 0.0)
    ordered, last = np.sort(values), len(values) - 1
    return np.interp([way * last, (1 - way) * last], np.arange(last + 1), ordered)


def of_draws(model, number):
    """Return number(draw, its clusters that belong to cluster k) of the draws that have k."""
    found = {}
    for draw in model.draws_:
        most = [np.bincount(model.labels_[draw.labels == j]).argmax() for j in range(draw.n_used)]
        for k in set(most):
            value = number(draw, np.flatnonzero(np.array(most) == k))
            found.setdefault(int(k), []).append((value, draw.chain))
    return {k: tuple(map(np.array, zip(*pairs, strict=True))) for k, pairs in found.items()}


def compare(lower, upper, drawn):
    """Compare with the twin; tell whether quantiles of all draws are others (they are no twin)."""
    np.testing.assert_allclose([lower, upper], plain_band(*drawn), rtol=1e-9, atol=1e-12)
    return not np.allclose([lower, upper], np.quantile(drawn[0], [0.05, 0.95]), rtol=1e-6)


def test_sizes(fitted):
    table = fitted.sizes()
    drawn = of_draws(fitted, lambda draw, mine: np.isin(draw.labels, mine).mean())
    for k, row in table.iterrows():
        assert row.presence == len(drawn[k][0]) / (N_CHAINS * N_DRAWS)
        compare(row.lower, row.upper, drawn[k])


def test_shares_and_curves(fitted):
    table = fitted.activation(t=WHERE[:, 0]).set_index(["cluster", "t"])
    other = []
    for place, t in enumerate(WHERE[:, 0]):

        def share(draw, mine, place=place):
            return fitted._weights(draw, WHERE)[place, mine].sum()

        def opened(draw, mine, place=place):
            chance = expit(fitted._atom_log_odds(draw, WHERE)[place, mine])
            return np.average(chance, weights=[(draw.labels == k).sum() for k in mine])

        for number, prefix in ((share, "share_"), (opened, "")):
            drawn = of_draws(fitted, number)
            for k in range(len(fitted.sizes())):
                row = table.loc[(k, t)]
                other += [compare(row[prefix + "lower"], row[prefix + "upper"], drawn[k])]
    assert any(other)


def test_means_of_clusters(fitted):
    level, unit = fitted.layout_.scale.level_P, fitted.layout_.scale.spread_P

    def mean(draw, mine):
        size = [(draw.labels == k).sum() for k in mine]
        return np.average(draw.params.mean[mine, 0] * unit[0] + level[0], weights=size)

    table, drawn = fitted.clusters(), of_draws(fitted, mean)
    rows = [(k, table.loc[(k, "0")]) for k in range(len(fitted.sizes()))]
    assert any([compare(row["lower"], row["upper"], drawn[k]) for k, row in rows])


def test_laws_of_a_column(fitted):
    """Every draw has them: what it says alone is what the table of it alone says."""
    chains = np.array([draw.chain for draw in fitted.draws_])
    other = []
    for ask in (
        lambda model: model.density(y=[1.0], t=[0.25], column=0).iloc[0],
        lambda model: model.quantiles(q=[0.3], t=[0.25], column=0).iloc[0],
        lambda model: model.probability_below(1.0, t=[0.25], column=0).iloc[0],
        lambda model: model.n_clusters_at(t=[0.25]).iloc[0],
    ):
        whole, each = ask(fitted), []
        for draw in fitted.draws_:
            alone = small(gates="weighted")
            alone.__dict__.update(fitted.__dict__)
            alone._adopt([draw], [{"chain": 0, "sweep": 1}])
            each.append(ask(alone)["mean"])
        other.append(compare(whole["lower"], whole["upper"], (np.array(each), chains)))
    assert any(other)
