"""Laws of clusters, weights and masses against sums and integrals; the same bits on any threads."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from mixture_world import Lines, Mixture, World, block, many
from scipy import integrate, stats
from scipy.special import expit

from thincrm.data.covariates import covariates
from thincrm.inference.engine import Threads
from thincrm.inference.updates import redraw_activations, redraw_observations
from thincrm.levy import GammaProcess, GeneralizedGammaProcess, StableProcess
from thincrm.levy.marginal import log_evidence
from thincrm.models.mixtures.draw import atom_log_odds, predictive_weights
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.likelihood import MixtureLikelihood
from thincrm.models.mixtures.predict import log_joint_density, mixture_cdf, mixture_quantile
from thincrm.models.mixtures.shards import as_shards
from thincrm.models.mixtures.sweep import redraw_masses
from thincrm.numerics.streams import sweep_generator
from thincrm.ports import Likelihood, Problem
from thincrm.thinning import Always, Bump, ProbitRVM, SigmoidGP

SEED = 20267
FULL = GaussianClusters("full").law()
Y = np.array([[0.3, -1.0], [0.7, np.nan], [np.nan, np.nan], [np.nan, 0.2], [0.1, 0.4]])


def density(law, rows, params):
    out = np.empty((len(rows[0]), len(params[0])))
    law.log_density(0, len(out), rows, law.packed(params), out)
    return out


@pytest.mark.parametrize("student", [False, True])
def test_a_row_s_density_is_that_of_its_seen_cells(student):
    spec = GaussianClusters("full", student=student)
    law, rows = spec.law(), spec.rows(Y)
    params = law.draw(np.random.default_rng(0), 3, law.start_hyper(rows))
    found = density(law, rows, params)
    for (n, y), k in itertools.product(enumerate(Y), range(3)):
        seen = ~np.isnan(y)
        cover = np.linalg.inv(params.precision[k])[np.ix_(seen, seen)]
        if not seen.any():
            assert found[n, k] == 0.0
        elif student:
            want = stats.multivariate_t(params.mean[k][seen], cover, spec.degrees).logpdf(y[seen])
            assert found[n, k] == pytest.approx(want)
        else:
            want = stats.multivariate_normal(params.mean[k][seen], cover).logpdf(y[seen])
            assert found[n, k] == pytest.approx(want)


def test_a_full_covariance_of_one_column_is_a_diagonal_one():
    diagonal = replace(GaussianClusters("diagonal").law(), shape=1.5)
    rows = GaussianClusters("full").rows(Y[:2, :1])
    hyper = FULL.start_hyper(rows)
    other = diagonal.start_hyper(rows)._replace(rate=0.5 * hyper.scale)
    params = FULL.draw(np.random.default_rng(0), 2, hyper)
    label = np.zeros(2, np.int32)
    full = FULL.add_rows(0, 2, np.uint64(1), 0, rows, label, FULL.packed(params), 1)
    flat = diagonal.draw(np.random.default_rng(0), 1, other)
    thin = diagonal.add_rows(0, 2, np.uint64(1), 0, rows, label, diagonal.packed(flat), 1)
    assert FULL.log_marginal(full, hyper) == pytest.approx(diagonal.log_marginal(thin, other))


def test_the_marginal_likelihood_is_the_integral():
    law = GaussianClusters("diagonal").law()
    rows = GaussianClusters("diagonal").rows(Y[:2, :1])
    hyper = law.start_hyper(rows)
    packed = law.packed(law.draw(np.random.default_rng(0), 1, hyper))
    found = law.add_rows(0, 2, np.uint64(1), 0, rows, np.zeros(2, np.int32), packed, 1)

    log_tau, mean = np.meshgrid(np.linspace(-12.0, 8.0, 801), np.linspace(-40.0, 40.0, 8001))
    tau, total = np.exp(log_tau), stats.gamma.logpdf(np.exp(log_tau), law.shape, scale=5.0)
    assert hyper.rate[0] == pytest.approx(0.2)
    total = total + log_tau + stats.norm.logpdf(mean, 0.0, (hyper.tightness * tau) ** -0.5)
    for y in Y[:2, 0]:
        total += stats.norm.logpdf(y, mean, tau**-0.5)
    want = np.exp(total).sum() * 0.025 * 0.01
    assert law.log_marginal(found, hyper)[0] == pytest.approx(np.log(want), abs=1e-3)


@pytest.mark.parametrize("spec", [Lines(), Mixture()], ids=["lines", "mixed"])
def test_statistics_add_up_to_the_density(spec):
    """m(y1, y2) / m(y1) is what clusters given y1 expect of y2."""
    law, rng = spec.law(), np.random.default_rng(1)
    some = spec.rows(np.zeros((2, 4)))
    hyper = law.start_hyper(some)
    rows = type(some)(*(np.array(part) for part in some))
    label = np.zeros(2, np.int32)
    packed = law.packed(law.draw(rng, 1, hyper))
    one, both = (law.add_rows(0, n, np.uint64(1), 0, rows, label, packed, 1) for n in (1, 2))
    many_ = type(one)(*(np.repeat(part, 40_000, axis=0) for part in one))
    second = type(rows)(*(part[1:] for part in rows))
    fit = np.exp(density(law, second, law.redraw(rng, many_, hyper))[0])
    want = np.exp(law.log_marginal(both, hyper) - law.log_marginal(one, hyper))[0]
    assert abs(fit.mean() - want) < 4.42 * fit.std() / np.sqrt(fit.size)


LEVIES = [GammaProcess(2.0), GeneralizedGammaProcess(2.0, 0.3), StableProcess(1.0, 0.4)]


@pytest.mark.parametrize("levy", LEVIES, ids=lambda levy: type(levy).__name__)
@pytest.mark.parametrize(("hits", "exposure"), [(0.0, 0.7), (3.0, 2.0), (40.0, 11.0)])
def test_evidence_of_a_mass_is_the_integral(levy, hits, exposure):
    def integrand(log_mass):
        law = levy.log_prob(np.full(6, log_mass))[0]
        return np.exp(law + hits * log_mass - exposure * np.exp(log_mass))

    total, _ = integrate.quad(integrand, -60.0, 8.0, limit=400, points=[-5.0, 0.0, 2.0])
    found = log_evidence(levy, 6, np.array([hits]), np.array([exposure]))[0]
    assert found == pytest.approx(np.log(total), abs=1e-6)


@pytest.mark.parametrize("background", [False, True])
def test_predictive_weights_are_the_mean_over_gates(background):
    rng = np.random.default_rng(2)
    log_mass, log_odds = rng.normal(0.0, 2.0, 4), rng.normal(0.0, 2.0, (5, 4))
    if background:
        log_odds[:, 0] = np.inf
    p, mass, want = expit(log_odds), np.exp(log_mass), np.zeros((5, 4))
    for pattern in itertools.product([0, 1], repeat=4):
        r = np.array(pattern)
        if r.any():
            want += np.prod(np.where(r, p, 1 - p), 1)[:, None] * r * mass / (r @ mass)
    want /= want.sum(1, keepdims=True)
    for gates in ("shared", "observation"):
        assert np.allclose(predictive_weights(gates, log_mass, log_odds), want, atol=1e-8)
    rate = p * mass
    found = predictive_weights("weighted", log_mass, log_odds)
    assert np.allclose(found, rate / rate.sum(1, keepdims=True))


def problem_of(gates, n_threads):
    """Return 3,000 rows with holes in two shards, the first of several blocks."""
    rng = np.random.default_rng(3)
    t = rng.integers(0, 25, 3_000) / 25
    value = rng.standard_normal((3_000, 2)) + 4.0 * (rng.random((3_000, 1)) < t[:, None])
    value[rng.random(value.shape) < 0.2] = np.nan
    known, thinning, spec = covariates(t), Bump(), GaussianClusters("full", student=True)
    return Problem(
        levy=GammaProcess(), thinning=thinning, likelihood=MixtureLikelihood(spec.law(), gates),
        prepared=thinning.prepare(known), trials=known.trials, n_atoms=10, n_background=1,
        shards=as_shards(spec.rows(value), known.row, known.trials, n_most=2_500),
        engine=Threads(n_threads),
    )  # fmt: skip


def run(problem, n_sweeps=12):
    with problem.engine.running():
        state = problem.likelihood.start(sweep_generator(SEED, 0, 0), problem)
        for sweep in range(n_sweeps):
            rng = sweep_generator(SEED, 0, sweep + 1)
            for update in problem.likelihood.updates:
                state = update(rng, problem, state)
    return state


@pytest.mark.parametrize("gates", ["shared", "weighted", "observation"])
def test_same_bits_on_any_threads_and_what_a_draw_predicts(gates):
    problem = problem_of(gates, 1)
    likelihood = problem.likelihood
    assert isinstance(likelihood, Likelihood)
    draw, other = (likelihood.keep(one, run(one), 0, 12) for one in (problem, problem_of(gates, 3)))
    assert draw.scalars == other.scalars
    assert np.array_equal(draw.labels, other.labels)
    assert draw.counts.sum() == 3_000
    assert np.array_equal(np.bincount(draw.labels), draw.counts.sum(0))
    log_odds = atom_log_odds(draw, problem.thinning, problem.prepared, [0.0, 1.0])
    weight = predictive_weights(gates, draw.log_mass, log_odds)
    law = likelihood.clusters
    q = np.array([0.05, 0.5, 0.95])
    y = mixture_quantile(law, draw.params, 0, q, weight)
    for row, values in enumerate(y):
        assert np.allclose(mixture_cdf(law, draw.params, 0, values, weight)[row], q, atol=1e-9)
    assert y[1, 1] > y[0, 1] + 1.0, "rows are larger later"
    new = GaussianClusters("full", student=True).rows([[0.0, 0.0], [4.0, np.nan]])
    found = log_joint_density(law, new, draw.params, np.log(weight))
    assert found.shape == (2, draw.log_mass.size)
    filled = law.fill(np.uint64(1), new, np.zeros(2, int), law.packed(draw.params), noise=True)
    assert np.array_equal(filled[0], [0.0, 0.0])
    assert np.isfinite(filled).all()


BOX = Bump(kernel="box", length=(0.4, 0.5))
PRODUCTS = {
    "always, shared": (Always(), "shared"),
    "always, weighted": (Always(), "weighted"),
    "always, observation": (Always(), "observation"),
    "bump, shared": (Bump(length=(0.4, 0.5), height=0.9), "shared"),
    "box, weighted": (BOX, "weighted"),
    "box, observation": (BOX, "observation"),
    "gp, shared": (SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2), "shared"),
    "rvm, shared": (ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3), "shared"),
}


def gap_to_dirichlet(thinning, gates):
    """Return how far partitions of three rows at one time are from the Dirichlet process's.

    Of S open atoms of shape a, Gamma(a) masses make a symmetric Dirichlet; with S = 1 + Binomial
    that is the Chinese restaurant of γ p(t) as atoms become many.
    """
    world = World(thinning, gates, GaussianClusters("diagonal"), n_clusters=8, holes=1.0, mass=0.3)
    rng = np.random.default_rng(SEED)
    n, batches = many(world)(rng, 2_000)
    for update in (redraw_observations, redraw_activations, redraw_masses) * 3:
        n, batches = block(update)(rng, (n, batches))
    last = [np.concatenate([own.label for own in state.local]) for _, state in batches]
    label = np.concatenate(last).reshape(-1, 6)[:, 3:]
    distinct = 1 + (np.diff(np.sort(label, 1)) > 0).sum(1)
    p = thinning.mean_activation(batches[0][0].prepared)[2]
    size, a = 1 + np.arange(8), world.mass
    chance = stats.binom(7, p).pmf(size - 1) / ((size * a + 1) * (size * a + 2))
    alone, together = chance @ ((size - 1) * (size - 2) * a**2), chance.sum() * (a + 1) * (a + 2)
    gaps = [
        (np.mean(distinct == number) - want) / np.sqrt(want * (1 - want) / distinct.size)
        for number, want in ((1, together), (3, alone))
    ]
    return np.abs(gaps).max()


@pytest.mark.joint
@pytest.mark.parametrize("name", PRODUCTS)
def test_partitions_at_one_time_are_a_dirichlet_process_s(name):
    assert gap_to_dirichlet(*PRODUCTS[name]) < 4.57  # two numbers at 1e-5


@pytest.mark.joint
def test_gates_that_are_averaged_are_no_dirichlet_process():
    """A gate's mean in its place shares mass out otherwise, unless p is 0 or 1."""
    assert gap_to_dirichlet(PRODUCTS["rvm, shared"][0], "weighted") > 4.57
