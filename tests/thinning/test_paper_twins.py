"""The sampler printed in the paper's supplement: corrected it passes, as printed it is rejected.

One atom a replicate, two gates at each of three covariates. A gate is seen open with probability
1 - Q when it is open; otherwise it is silent, and part of the state, as are the latent normals.
"""

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri

from thincrm.levy import GammaProcess
from thincrm.ports import MassEvidence
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test

pytestmark = pytest.mark.joint
SEED = 7
SHAPE, RATE, Q = 2.0, 1.0, 0.6
PSI = np.array([0.5, 4.0])
ROWS = np.repeat(np.array([0.0, 0.5, 1.0]), 2)
CENTRES = np.array([0.0, 0.5, 1.0])
BASIS_MNJ = np.concatenate(
    [np.ones((2, 6, 1)), np.exp(-PSI[:, None, None] * (ROWS[:, None] - CENTRES) ** 2)], axis=2
)


def predictor(state):
    return np.einsum("knj,kj->kn", BASIS_MNJ[state["width"]], state["w"])


def draw_latent(rng, mean, gate):
    """N(mean, 1) cut to the side of 0 that the gate says."""
    low = np.where(gate, ndtr(-mean), 0.0)
    high = np.where(gate, 1.0, ndtr(-mean))
    u = np.clip(low + (high - low) * rng.random(mean.shape), 1e-300, 1 - 1e-16)
    return mean + ndtri(u)


def draw(rng, n):
    state = {"l": rng.gamma(SHAPE, 1 / RATE, (n, 4)), "width": rng.integers(0, 2, n)}
    state["w"] = rng.standard_normal((n, 4)) / np.sqrt(state["l"])
    state["z"] = predictor(state) + rng.standard_normal((n, 6))
    state["r"] = state["z"] > 0
    state["seen"] = state["r"] & (rng.random((n, 6)) > Q)
    return state


def functionals(state):
    eta = predictor(state)
    return {
        "eta": eta.mean(1),
        "eta 0": eta[:, 0],
        "eta squared": (eta**2).mean(1),
        "w squared": (state["w"] ** 2).mean(1),
        "width": state["width"].astype(float),
        "gates": state["r"].sum(1).astype(float),
        "seen eta": (state["seen"] * eta).sum(1),
        "gate eta": (state["r"] * eta).sum(1),
        "z": state["z"].mean(1),
        "z eta": (state["z"] * eta).mean(1),
        "log l": np.log(state["l"]).mean(1),
    }


def redraw_gates(rng, state):
    p = ndtr(predictor(state))
    return state["seen"] | (rng.random(p.shape) < p * Q / (1 - p + p * Q))


def gates_and_latents(rng, state):
    r = redraw_gates(rng, state)
    return state | {"r": r, "z": draw_latent(rng, predictor(state), r)}


def weights(rng, state, *, printed=False):
    """w ~ N(B F'z, B), B = (diag l + F'F)^-1; printed with F'z in place of F'F (row 3)."""
    basis = BASIS_MNJ[state["width"]]
    pull = np.einsum("knj,kn->kj", basis, state["z"])
    precision = np.einsum("kj,ij->kij", state["l"], np.eye(4))
    if printed:
        precision += np.einsum("kj,ij->kij", np.abs(pull), np.eye(4))
    else:
        precision += np.einsum("kni,knj->kij", basis, basis)
    root = np.linalg.cholesky(precision)
    mean = np.linalg.solve(precision, pull[..., None])
    noise = np.linalg.solve(np.swapaxes(root, 1, 2), rng.standard_normal(pull.shape)[..., None])
    return state | {"w": (mean + noise)[..., 0]}


def precisions(rng, state):
    return state | {"l": rng.gamma(SHAPE + 0.5, 1.0 / (RATE + 0.5 * state["w"] ** 2))}


def width_and_latents(rng, state, *, printed=False):
    """P(m) ~ prod Phi(eta)^r Phi(-eta)^(1-r), then new latents; printed with Phi twice (row 4)."""
    log_p = []
    for basis in BASIS_MNJ:
        eta = state["w"] @ basis.T
        eta = ndtr(eta) if printed else eta
        log_p.append(np.where(state["r"], log_ndtr(eta), log_ndtr(-eta)).sum(1))
    odds = np.exp(log_p[1] - log_p[0])
    state = state | {"width": (rng.random(odds.size) < odds / (1 + odds)).astype(int)}
    return state | {"z": draw_latent(rng, predictor(state), state["r"])}


def latents_around_probability(rng, state):
    """Draw latents around p instead of the linear predictor (row 2)."""
    r = redraw_gates(rng, state)
    return state | {"r": r, "z": draw_latent(rng, ndtr(predictor(state)), r)}


def stale_latents(rng, state):
    """Draw gates, then weights from the latents of the gates before, then latents (row 5)."""
    state = weights(rng, state | {"r": redraw_gates(rng, state)})
    return state | {"z": draw_latent(rng, predictor(state), state["r"])}


def test_corrected_blocks_pass():
    blocks = [gates_and_latents, weights, precisions, width_and_latents]
    assert_passed(exact_rank_test(draw, blocks, functionals, rng=SEED))


@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param([latents_around_probability, weights, precisions], id="row 2"),
        pytest.param(
            [gates_and_latents, lambda g, s: weights(g, s, printed=True), precisions], id="row 3"
        ),
        pytest.param(
            [gates_and_latents, weights, lambda g, s: width_and_latents(g, s, printed=True)],
            id="row 4",
        ),
        pytest.param([stale_latents, precisions], id="row 5"),
    ],
)
def test_printed_equations_are_rejected(blocks):
    assert_rejected(exact_rank_test(draw, blocks, functionals, rng=SEED))


GAMMA = GammaProcess(mass=1.5, rate=1.2)


def draw_poisson(rng, n):
    """One atom of Ga(mass, rate), four documents with gates r, usages b and counts."""
    log_mass = np.concatenate([GAMMA.draw_log_mass(rng, 1) for _ in range(n)])
    r = rng.random((n, 4)) < 0.4
    usage = rng.gamma(0.7, 1.0, (n, 4))
    return {
        "m": log_mass,
        "r": r,
        "b": usage,
        "n": rng.poisson(r * usage * np.exp(log_mass)[:, None]),
    }


def mass_block(exposure):
    def update(rng, state):
        evidence = [
            MassEvidence.of(1, hits=h, exposure=e)
            for h, e in zip(state["n"].sum(1), exposure(state), strict=True)
        ]
        moved = [GAMMA.redraw(rng, state["m"][i : i + 1], one) for i, one in enumerate(evidence)]
        return state | {"m": np.concatenate(moved)}

    return update


def mass_functionals(state):
    mass = np.exp(state["m"])
    return {
        "mass": mass,
        "mass r b": mass * (state["r"] * state["b"]).sum(1),
        "n": state["n"].sum(1) * mass,
    }


def test_gamma_exposure_counts_open_gates_only():
    """Row 1: the rate of a mass is rho + sum r b; printed as 1 + sum b."""
    right = mass_block(lambda s: (s["r"] * s["b"]).sum(1))
    printed = mass_block(lambda s: s["b"].sum(1))
    options = {"n_first": 2_000, "n_steps": 4, "rng": SEED}
    assert_passed(exact_rank_test(draw_poisson, [right], mass_functionals, **options))
    assert_rejected(exact_rank_test(draw_poisson, [printed], mass_functionals, **options))
