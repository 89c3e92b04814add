"""Small worlds drawn from the definition of the dependent Indian buffet process."""

from functools import partial

import numpy as np
from feature_world import cells_of, problem_of, used_of, with_usages
from scipy.special import log_expit, log_ndtr, ndtri_exp

from thincrm.models.dependent_ibp.copula import MOVES, GaussianCopula, move_mass
from thincrm.models.dependent_ibp.copula_fields import CopulaState
from thincrm.models.features.kernel import as_table
from thincrm.models.features.likelihood import FeatureLikelihood
from thincrm.models.features.state import FeatureGlobals
from thincrm.ports import GateEvidence, State

TIMES = np.array([0.0, 0.3, 0.3, 1.0, 1.0])
ROWS, WHERE, TRIALS = np.unique(TIMES, return_inverse=True, return_counts=True)
K, P = 3, 3
WIDTHS, SHARES = (1.0, 30.0), (0.3, 0.9)
MASS_PRIOR = (3.0, 2.0)
PRECISION_PRIOR = (4.0, 3.0)
KNOWN_MOVES = (*MOVES[:-1], partial(move_mass, prior=MASS_PRIOR))


class KnownCopula(GaussianCopula):
    """A copula whose mass has the prior of these worlds."""

    def redraw(self, rng, x, evidence, prepared):
        for move in KNOWN_MOVES:
            x = move(rng, x, evidence, prepared)
        return x


COPULA = KnownCopula(WIDTHS, SHARES)
PREPARED = COPULA.prepare(TIMES)


def draw_copula(rng):
    """Draw (x, z): sticks, fields, hidden normals, indicators."""
    mass = rng.gamma(MASS_PRIOR[0]) / MASS_PRIOR[1]
    log_v = np.log(rng.random(K)) / mass
    width, share = rng.integers(0, 2, K), rng.integers(0, 2, K)
    field, weight = np.empty((ROWS.size, K)), np.empty((K, ROWS.size))
    for k in range(K):
        kernel = np.exp(-WIDTHS[width[k]] * (ROWS[:, None] - ROWS) ** 2)
        root = np.linalg.cholesky(SHARES[share[k]] * kernel)
        field[:, k] = root @ rng.standard_normal(ROWS.size)
        weight[k] = whitened(field[:, k], width[k], share[k])
    own = np.sqrt(1.0 - np.array(SHARES)[share])
    hidden = field[WHERE] + own * rng.standard_normal((TIMES.size, K))
    z = hidden < ndtri_exp(np.cumsum(log_v))
    return CopulaState(weight, width, share, log_v - np.log(-np.expm1(log_v)), mass), z


def whitened(field_T, width, share):
    """Return the coordinates e of a field: f = rho^1/2 N^-1/2 U d^1/2 e."""
    turned = PREPARED.direction_MTT[width].T @ (np.sqrt(TRIALS) * field_T)
    return turned / np.sqrt(SHARES[share] * PREPARED.size_MT[width])


def evidence_of(z):
    count = np.stack([np.bincount(WHERE, column, ROWS.size) for column in z.T], axis=1)
    return GateEvidence.from_counts(count.astype(int), TRIALS)


def draw(rng):
    """Draw (x, what its indicators say of it)."""
    x, z = draw_copula(rng)
    return x, evidence_of(z)


def functionals(state):
    """Return numbers that tie the variables to each other and to the indicators."""
    x, evidence = state
    share = np.array(SHARES)[x.share]
    shape = np.stack([field_of(x, k) for k in range(K)], axis=1)
    field = np.sqrt(share) * shape
    edge = ndtri_exp(np.cumsum(log_expit(x.stick)))
    gap = (edge - field) / np.sqrt(1 - share)
    n_one, n_zero = evidence.positive, TRIALS[:, None] - evidence.positive
    return {
        "field": field[0, 1],
        "fields squared": (shape**2).sum(),
        "fields times z": (field * n_one).sum(),
        "neighbours": (shape[0] * shape[1]).sum(),
        "width": x.width.sum(),
        "width times roughness": (x.width * (shape[0] - shape[1]) ** 2).sum(),
        "share": x.share[0],
        "share times z": (x.share * n_one[2]).sum(),
        "stick": x.stick[0],
        "last threshold": edge[-1],
        "thresholds times z": (edge * n_one).sum(),
        "mass": x.mass,
        "mass times sticks": x.mass * log_expit(x.stick).sum(),
        "log z": (n_one * log_ndtr(gap) + n_zero * log_ndtr(-gap)).sum(),
    }


def field_of(x, k):
    """Return f_k / rho^1/2 at the rows."""
    scaled = np.sqrt(PREPARED.size_MT[x.width[k]]) * x.weight[k]
    return PREPARED.direction_MTT[x.width[k]] @ scaled / np.sqrt(TRIALS)


def draw_table(rng):
    """Draw (problem, state) of the whole model: a table with holes, a row of them all holes."""
    x, z = draw_copula(rng)
    scale = rng.gamma(PRECISION_PRIOR[0]) / PRECISION_PRIOR[1]
    noise = rng.gamma(PRECISION_PRIOR[0], size=P) / PRECISION_PRIOR[1]
    feature = rng.standard_normal((K, P)) / np.sqrt(scale)
    y = z @ feature + rng.standard_normal((TIMES.size, P)) / np.sqrt(noise)
    y[0, 1] = y[2, 0] = np.nan
    y[4] = np.nan
    table = as_table(y, TRIALS, shared=False)
    problem = problem_of(
        table, TRIALS, levy=None, thinning=COPULA, prepared=PREPARED, n_atoms=K,
        likelihood=FeatureLikelihood(background=False, sure=True), learn_levy=False,
    )  # fmt: skip
    state = State((), FeatureGlobals(feature, noise, scale), np.zeros(K), x, None, None)
    return problem, with_usages(problem, state, z.astype(np.int8), np.empty((TIMES.size, 0)))


def table_functionals(both):
    """Return numbers that tie indicators, features, noise and the copula together."""
    problem, state = both
    used, own, (value, seen) = used_of(state), state.own, cells_of(problem)
    error = (((value - used @ own.feature) * seen) ** 2).sum(0)
    found = functionals((state.x, evidence_of(used)))
    return found | {
        "z": used.sum(),
        "z of a row without data": used[4, 0],
        "rows in common": (used[3] & used[4]).sum(),
        "feature": own.feature[0, 0],
        "features squared": (own.feature**2).sum() * own.scale,
        "features times z": (used.sum(0) @ own.feature).sum(),
        "noise": own.noise[0],
        "fit": (0.5 * seen.sum(0) * np.log(own.noise)).sum() - 0.5 * (own.noise * error).sum(),
    }
