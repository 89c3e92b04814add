"""One redraw of 200 activation curves, and the textbook way to make it."""

import numpy as np
from scipy.special import expit
from scipy.stats import truncnorm

import thincrm as tc
from clock import best_seconds
from thincrm.ports import GateEvidence

N_ATOMS = 200
WIDTHS = (25.0, 100.0, 400.0, 1600.0, 6400.0)
ROWS = (22, 213)  # decades, and years, of the State of the Union addresses
OBSERVATIONS = (6_000, 6_000_000)


def problem(n_rows, n_observations):
    """Return a thinning function with gates drawn from the prior, and a state to move."""
    rng = np.random.default_rng(0)
    thinning = tc.ProbitRVM(WIDTHS)
    prepared = thinning.prepare(np.arange(n_rows))
    x = thinning.draw(rng, N_ATOMS, prepared)
    trials_T = np.bincount(np.arange(n_observations) % n_rows)
    p_TK = expit(thinning.log_odds(x, prepared))
    open_TK = rng.binomial(trials_T[:, None], p_TK)
    return thinning, x, GateEvidence.from_counts(open_TK, trials_T), prepared


def redraw_seconds(n_rows, n_observations):
    thinning, x, evidence, prepared = problem(n_rows, n_observations)
    return best_seconds(lambda: thinning.redraw(1, x, evidence, prepared))


def textbook_seconds(n_rows, n_observations):
    """Time Albert and Chib's step with a latent normal per observation and atom (NumPy, SciPy)."""
    thinning, x, evidence, prepared = problem(n_rows, n_observations)
    rng = np.random.default_rng(1)
    row_N = np.repeat(np.arange(n_rows), evidence.trials)
    rank_N = np.concatenate([np.arange(count) for count in evidence.trials])
    mean_J = np.zeros(x.weights.shape[1])
    mean_J[0] = thinning.bias_mean

    def step():
        for k in range(N_ATOMS):
            basis_NJ = prepared.basis_MTJ[x.width[k]][row_N]
            eta_N = basis_NJ @ x.weights[k]
            open_N = rank_N < evidence.positive[row_N, k]
            low_N = np.where(open_N, -eta_N, -np.inf)
            high_N = np.where(open_N, np.inf, -eta_N)
            latent_N = eta_N + truncnorm.rvs(low_N, high_N, random_state=rng)
            precision_JJ = np.diag(x.precisions[k]) + basis_NJ.T @ basis_NJ
            shift_J = x.precisions[k] * mean_J + basis_NJ.T @ latent_N
            centre_J = np.linalg.solve(precision_JJ, shift_J)
            noise_J = np.linalg.solve(
                np.linalg.cholesky(precision_JJ).T, rng.standard_normal(mean_J.size)
            )
            weight_J = centre_J + noise_J
            rng.gamma(1.5, 1.0 / (1.0 + 0.5 * (weight_J - mean_J) ** 2))

    return best_seconds(step, repeats=1)


def main():
    print(f"  ProbitRVM.redraw, {N_ATOMS} atoms, {len(WIDTHS)} widths, one core")
    for n_rows in ROWS:
        few, many = (redraw_seconds(n_rows, n) for n in OBSERVATIONS)
        peer = textbook_seconds(n_rows, OBSERVATIONS[0])
        print(
            f"  T = {n_rows:3d}: {1e3 * few:8.1f} ms at {OBSERVATIONS[0]:,} observations, "
            f"{1e3 * many:8.1f} ms at {OBSERVATIONS[1]:,} (ratio {many / few:.2f}); "
            f"textbook step (width fixed) {1e3 * peer:8.0f} ms, {peer / few:.1f} times ours"
        )


if __name__ == "__main__":
    main()
