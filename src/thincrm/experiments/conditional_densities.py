"""Rivals of density regression: p(y | t) of a column of numbers, by other means."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.mixture import BayesianGaussianMixture

from thincrm.numerics.arrays import Float

__all__ = ["Density", "gaussian_process", "kernel_density", "variational_mixture"]

Density = Callable[[Float, Float], Float]  # (t, y) -> log p(y | t)
_MOST_ROWS = 1000  # of a Gaussian process, whose cost is their cube
_FOLDS = 5


def variational_mixture(t: Float, y: Float, n_components: int, seed: int) -> Density:
    """Return p(y | t) of scikit-learn's Bayesian Gaussian mixture of (t, y).

    p(y | t) = Σ_k w_k(t) N(y | μ_k + slope_k (t - m_k), s_k), w_k(t) ∝ w_k N(t | m_k, v_k)
    """
    model = BayesianGaussianMixture(
        n_components=min(n_components, len(y)), max_iter=1000, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.column_stack([t, y]))
    mean, cov, log_w = model.means_, model.covariances_, np.log(model.weights_)
    slope = cov[:, 0, 1] / cov[:, 0, 0]
    left = np.sqrt(cov[:, 1, 1] - slope * cov[:, 0, 1])

    def density(t_N: Float, y_N: Float) -> Float:
        near = log_w + norm.logpdf(t_N[:, None], mean[:, 0], np.sqrt(cov[:, 0, 0]))
        line = mean[:, 1] + slope * (t_N[:, None] - mean[:, 0])
        both = near + norm.logpdf(y_N[:, None], line, left)
        return np.asarray(logsumexp(both, axis=1) - logsumexp(near, axis=1))

    return density


def gaussian_process(t: Float, y: Float, seed: int) -> Density:
    """Return p(y | t) of a Gaussian process regression with one noise for all t."""
    rows = np.random.default_rng(seed).permutation(len(y))[:_MOST_ROWS]
    kernel = ConstantKernel(1.0) * RBF(0.3) + WhiteKernel(0.3)
    model = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(t[rows, None], y[rows])

    def density(t_N: Float, y_N: Float) -> Float:
        mean, sd = model.predict(t_N[:, None], return_std=True)
        return np.asarray(norm.logpdf(y_N, mean, sd))

    return density


def kernel_density(t: Float, y: Float, seed: int) -> Density:
    """Return a kernel density of (t, y) over that of t, widths chosen by cross-validation."""
    widths = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
    order = np.random.default_rng(seed).permutation(len(y))
    ends = np.linspace(0, len(y), _FOLDS + 1).astype(int)

    def score(h_t: float, h_y: float) -> float:
        total = 0.0
        for first, stop in pairwise(ends):
            out = order[first:stop]
            rest = np.setdiff1d(order, out)
            total += float(_kernels(t[rest], y[rest], h_t, h_y)(t[out], y[out]).sum())
        return total

    best = max(product(widths, widths), key=lambda pair: score(*pair))
    return _kernels(t, y, *best)


def _kernels(t: Float, y: Float, h_t: float, h_y: float) -> Density:
    def density(t_N: Float, y_N: Float) -> Float:
        near = norm.logpdf(t_N[:, None], t, h_t)
        both = near + norm.logpdf(y_N[:, None], y, h_y)
        return np.asarray(logsumexp(both, axis=1) - logsumexp(near, axis=1))

    return density
