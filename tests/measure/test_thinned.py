"""Draws of thinned measures: what a realisation holds, and how far a cut series is from whole."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from measure_cases import Many, assert_means
from scipy import stats

from thincrm.errors import ThincrmError
from thincrm.levy import BetaProcess, GammaProcess, StableProcess
from thincrm.measure import Realisation, ThinnedCRM, plot_correlation
from thincrm.thinning.always import Always
from thincrm.thinning.bump import Bump

T = [0.0, 0.5, 0.5, 1.0]
CRM = ThinnedCRM(GammaProcess(3.0), Bump(length=0.4))


def test_a_realisation_holds_what_it_says():
    drawn = CRM.draw(T, rng=1)
    assert isinstance(drawn, Realisation)
    k = drawn.n_atoms
    assert drawn.masses.shape == drawn.locations.shape == (k,)
    assert drawn.probability.shape == drawn.gates.shape == drawn.weights.shape == (4, k)
    assert np.array_equal(drawn.weights, drawn.gates * drawn.masses)
    assert np.array_equal(drawn.probability[1], drawn.probability[2])
    assert np.all((drawn.locations > 0) & (drawn.locations < 1))
    assert drawn.total().index.tolist() == T
    assert np.allclose(drawn.total(), drawn.weights.sum(1))
    again = CRM.draw(T, rng=np.random.default_rng(1))
    assert np.array_equal(again.weights, drawn.weights)


def test_sets_and_integrals():
    drawn = CRM.draw(T, rng=2)
    inside = (drawn.locations >= 0.2) & (drawn.locations <= 0.6)
    expected = drawn.weights[:, inside].sum(1)
    assert np.allclose(drawn.measure((0.2, 0.6)), expected)
    assert np.allclose(drawn.measure(lambda theta: (theta >= 0.2) & (theta <= 0.6)), expected)
    assert np.allclose(drawn.measure(inside), expected)
    assert drawn.measure((0.2, 0.6), t=1.0) == pytest.approx(expected[3])
    assert np.allclose(drawn.integrate(np.square), drawn.weights @ drawn.locations**2)
    assert np.allclose(drawn.integrate(lambda theta: 1 + 0 * theta), drawn.total())


def test_couplings_join_gates_as_they_say():
    comonotone = replace(CRM, coupling="comonotone").draw(T, rng=3, n_atoms=500)
    low, high = (comonotone.probability[i] for i in (0, 1))
    assert not np.any(comonotone.gates[0] & ~comonotone.gates[1] & (low <= high))
    assert np.array_equal(comonotone.gates[1], comonotone.gates[2])
    shared = replace(CRM, coupling="shared").draw(T, rng=3, n_atoms=500)
    assert np.array_equal(shared.gates[1], shared.gates[2])
    independent = CRM.draw(T, rng=3, n_atoms=500)
    assert not np.array_equal(independent.gates[1], independent.gates[2])
    weighted = replace(CRM, weighted=True).draw(T, rng=3, n_atoms=500)
    assert weighted.gates.all()
    assert np.allclose(weighted.weights, weighted.probability * weighted.masses)
    assert ThinnedCRM(GammaProcess(), Always()).draw(T, rng=0, n_atoms=7).gates.all()


@pytest.mark.parametrize("coupling", ["independent", "shared", "comonotone"])
def test_gates_open_with_their_probability(coupling):
    drawn = replace(CRM, coupling=coupling).draw(T, rng=4, n_atoms=20_000)
    p = drawn.probability
    z = (drawn.gates - p).sum(1) / np.sqrt((p * (1 - p)).sum(1))
    assert np.all(np.abs(z) < stats.norm.isf(1e-5 / 8)), z


def test_tables_are_labelled():
    drawn = CRM.draw(["1990-01-01", "2000-01-01"], rng=5, n_atoms=3)
    frame = drawn.to_frame()
    assert list(frame.columns) == [
        "t",
        "location",
        "atom",
        "mass",
        "probability",
        "open",
        "weight",
    ]
    assert frame.shape == (6, 7)
    assert frame["t"].iloc[3] == pd.Timestamp("2000-01-01")
    assert np.allclose(frame.groupby("t")["weight"].sum(), drawn.total())
    plane = ThinnedCRM(GammaProcess(), Bump(), base=lambda rng, n: rng.normal(size=(n, 2)))
    rows = pd.DataFrame({"north": [0.0, 1.0], "east": [5.0, 7.0]})
    wide = plane.draw(rows, rng=0, n_atoms=2).to_frame()
    assert list(wide.columns[:4]) == ["north", "east", "location0", "location1"]
    assert plane.draw(rows, rng=0, n_atoms=2).total().index.names == ["north", "east"]


def test_bases():
    normal = ThinnedCRM(GammaProcess(), Always(), base=stats.norm(5, 0.1))
    assert np.all(np.abs(normal.draw(0.0, rng=0).locations - 5) < 1)
    vector = ThinnedCRM(GammaProcess(), Always(), base=stats.multivariate_normal([0, 9]))
    assert vector.draw(0.0, rng=0, n_atoms=4).locations.shape == (4, 2)
    again = vector.draw(0.0, rng=0, n_atoms=4).locations
    assert np.array_equal(again, vector.draw(0.0, rng=0, n_atoms=4).locations)


def test_covariates_fix_the_prior_across_calls():
    free = ThinnedCRM(GammaProcess(), Bump())
    fixed = ThinnedCRM(GammaProcess(), Bump(), covariates=np.linspace(0, 10, 20))
    assert free.correlation(0.0, 1.0) == free.correlation(0.0, 2.0)  # lengths are shares of it
    assert fixed.correlation(0.0, 1.0) > fixed.correlation(0.0, 2.0)
    assert fixed.correlation([0.0, 9.0], 1.0)[0] == fixed.correlation(0.0, 1.0)


class Longer(Many):
    """Ten times as many atoms as an error asks for."""

    def n_atoms_for(self, error, n_eff):
        return 10 * super().n_atoms_for(error, n_eff)


@pytest.mark.parametrize("levy", [GammaProcess(2.0), BetaProcess(2.0, 3.0)])
def test_the_error_of_a_cut_series_is_what_was_asked_for(levy):
    t, n = np.linspace(0, 1, 6), 2000
    bump = Bump(length=0.3)
    cut = ThinnedCRM(levy, bump).draw(t, rng=0, error=1e-3).n_atoms
    n_eff = ThinnedCRM(levy, bump).mean(t).sum() / levy.moment(1)
    assert levy.truncation_error(cut, n_eff) <= 1e-3 < levy.truncation_error(cut - 1, n_eff)
    long = ThinnedCRM(Longer(levy, n), bump).draw(t, rng=6, error=1e-3)
    beyond = long.weights.reshape(6, n, 10 * cut)[:, :, cut:]
    assert_means(beyond.sum((0, 2)), -np.log1p(-levy.truncation_error(cut, n_eff)), 2)
    # one Poisson draw from each B_t meets an atom left out in a realisation: at most 1 in 1000
    hit = np.random.default_rng(7).poisson(beyond).any((0, 2))
    assert hit.sum() <= stats.binom.isf(5e-6, n, 1e-3)


def test_a_stable_process_can_be_drawn_though_it_has_no_moments():
    drawn = ThinnedCRM(StableProcess(1.0, 0.4), Bump()).draw(T, rng=0)
    assert np.all(np.isfinite(drawn.total()))


def test_where_no_atom_can_be_open_the_measure_is_zero():
    nowhere = ThinnedCRM(GammaProcess(), Bump("box", 0.1, window=(5.0, 6.0), scale=1.0))
    assert np.array_equal(nowhere.draw([0.0, 1.0], rng=0).total(), [0.0, 0.0])


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    ax = CRM.draw(T, rng=0).plot()
    assert ax.get_xlabel() == "t"
    assert len(ax.collections[0].get_offsets()) == CRM.draw(T, rng=0).gates.sum()
    same = CRM.draw(["1990-01-01", "2000-01-01"], rng=0).plot(ax=plt.subplots()[1])
    assert same.get_ylabel() == "location"
    ax = plot_correlation(CRM, np.linspace(0, 1, 11))
    independent, comonotone, printed = (line.get_ydata() for line in ax.lines)
    assert independent[5] < comonotone[5] == pytest.approx(1.0)
    assert np.all(independent <= printed)
    with pytest.raises(ThincrmError, match="one column"):
        plot_correlation(CRM, np.ones((3, 2)))
    plt.close("all")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"levy": GammaProcess}, "levy must be one of thincrm.levy"),
        ({"levy": 3.0}, "levy must be one of thincrm.levy"),
        ({"thinning": "gaussian"}, "thinning must be one of thincrm.thinning"),
        ({"base": 3.0}, "base must be None"),
        ({"coupling": "random"}, "coupling must be one of independent, shared, comonotone"),
        ({"coupling": "shared", "weighted": True}, "no gates for coupling='shared'"),
        ({"covariates": [0.0, np.inf]}, "is not a finite number"),
    ],
)
def test_bad_factors_give_a_sentence(arguments, words):
    with pytest.raises(ThincrmError, match=words):
        ThinnedCRM(**{"levy": GammaProcess(), "thinning": Bump(), **arguments})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_atoms": 0}, "n_atoms must be at least 1"),
        ({"n_atoms": 2.5}, "n_atoms must be a whole number"),
        ({"error": 0.0}, "error must lie strictly between 0"),
        ({"error": 2}, "error must lie strictly between 0"),
        ({"error": 0.1, "n_atoms": 3}, "pass one"),
        ({"t": []}, "empty"),
        ({"t": [0.0, np.nan]}, "is not a finite number"),
    ],
)
def test_bad_draws_give_a_sentence(arguments, words):
    for family in (CRM, CRM.normalized()):
        with pytest.raises(ThincrmError, match=words):
            family.draw(**{"t": T, "rng": 0, **arguments})


def test_bad_sets_give_a_sentence():
    drawn = CRM.draw(T, rng=0)
    with pytest.raises(ThincrmError, match="drawn 2 times"):
        drawn.measure((0, 1), t=0.5)
    with pytest.raises(ThincrmError, match="drawn 0 times"):
        drawn.measure((0, 1), t=0.7)
    with pytest.raises(ThincrmError, match="must be an interval"):
        drawn.measure("everything")
    with pytest.raises(ThincrmError, match="low <= high"):
        drawn.measure((1.0, 0.0))
    with pytest.raises(ThincrmError, match="True or False for each"):
        drawn.measure(np.array([True]))
    with pytest.raises(ThincrmError, match="one number per location"):
        drawn.integrate(lambda theta: 1.0)
    plane = ThinnedCRM(GammaProcess(), Always(), base=lambda rng, n: rng.normal(size=(n, 2)))
    with pytest.raises(ThincrmError, match="locations are vectors"):
        plane.draw(0.0, rng=0).measure((0.0, 1.0))
    short = ThinnedCRM(GammaProcess(), Always(), base=lambda rng, n: np.zeros(1))
    with pytest.raises(ThincrmError, match="one row per atom"):
        short.draw(0.0, rng=0)
