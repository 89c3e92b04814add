"""Prior means of activations that are the link of a Gaussian: p = link(eta), eta ~ N(mu, S).

Given S = A A', with eta_s, eta_t of variances v_s, v_t and covariance c, the probit link has

    E p_t             = Phi(h_t),                  h_t = mu / sqrt(1 + v_t)
    E p_s p_t         = Phi_2(h_s, h_t; rho),      rho = c / sqrt((1 + v_s)(1 + v_t))
    E min(p_s, p_t)   = Phi_2(h_s, h_t; rho'),     rho' = (1 + c) / sqrt((1 + v_s)(1 + v_t))

the last because p = P(Z < eta) and both gates open when one Z lies below both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from scipy.special import expit, logit, ndtr, owens_t

from thincrm.numerics.arrays import Float
from thincrm.thinning.links import PROBIT

__all__ = ["bivariate_normal_cdf", "mean_link", "pair_link"]

_NODES = 64


def bivariate_normal_cdf(h: Float, k: Float, rho: Float) -> Float:
    """Return P(X < h, Y < k) for standard normals of correlation rho (Owen 1956)."""
    rho = np.clip(rho, -1.0 + 1e-15, 1.0 - 1e-15)
    h, k, rho = np.broadcast_arrays(h, k, rho)
    root = np.sqrt((1.0 - rho) * (1.0 + rho))
    tiny = 1e-300
    h_safe, k_safe = np.where(h == 0, tiny, h), np.where(k == 0, tiny, k)
    with np.errstate(over="ignore"):
        first = owens_t(h, (k_safe - rho * h) / (h_safe * root))
        second = owens_t(k, (h_safe - rho * k) / (k_safe * root))
    opposite = np.where(np.sign(h_safe) * np.sign(k_safe) < 0, 0.5, 0.0)
    general = 0.5 * (ndtr(h) + ndtr(k)) - first - second - opposite
    centre = 0.25 + np.arcsin(rho) / (2.0 * np.pi)
    return np.asarray(np.where((h == 0) & (k == 0), centre, general))


def mean_link(roots: Iterable[Float], mu: float, link: int) -> Float:
    """Return the (T,) means of p over the batches `roots` of A, each (B, T, J)."""
    total, n = 0.0, 0
    for root_BTJ in roots:
        variance_BT = (root_BTJ**2).sum(2)
        if link == PROBIT:
            mean_BT = ndtr(mu / np.sqrt(1.0 + variance_BT))
        else:
            z, w = np.polynomial.hermite_e.hermegauss(_NODES)
            mean_BT = expit(mu + np.sqrt(variance_BT)[..., None] * z) @ (w / w.sum())
        total, n = total + mean_BT.sum(0), n + len(root_BTJ)
    return np.asarray(total / n)


def pair_link(
    roots: Iterable[Float],
    mu: float,
    n_first: int,
    coupling: Literal["independent", "comonotone"],
    link: int,
) -> Float:
    """Return the (S, T) means of p_s p_t or min(p_s, p_t); the first `n_first` rows of A are s."""
    total, n = 0.0, 0
    shared = 1.0 if coupling == "comonotone" else 0.0
    for root_BRJ in roots:
        variance_BR = (root_BRJ**2).sum(2)
        first_BSJ, second_BTJ = root_BRJ[:, :n_first], root_BRJ[:, n_first:]
        covariance_BST = np.einsum("bsj,btj->bst", first_BSJ, second_BTJ)
        v_s, v_t = variance_BR[:, :n_first, None], variance_BR[:, None, n_first:]
        if link == PROBIT:
            one_s, one_t = np.sqrt(1.0 + v_s), np.sqrt(1.0 + v_t)
            rho = (shared + covariance_BST) / (one_s * one_t)
            mean_BST = bivariate_normal_cdf(mu / one_s, mu / one_t, rho)
        else:
            mean_BST = _logistic_pair(mu, v_s, v_t, covariance_BST, coupling)
        total, n = total + mean_BST.sum(0), n + len(root_BRJ)
    return np.asarray(total / n)


def _logistic_pair(mu: float, v_s: Float, v_t: Float, c: Float, coupling: str) -> Float:
    """Integrate the logistic variable(s) of the gates by Gauss-Legendre on their uniforms."""
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    threshold, weight = logit(0.5 * (node + 1.0)), 0.5 * weight
    s, t = np.sqrt(np.maximum(v_s, 1e-24)), np.sqrt(np.maximum(v_t, 1e-24))
    rho = c / (s * t)
    total = np.zeros(np.broadcast_shapes(c.shape))
    for z, w in zip(threshold, weight, strict=True):
        if coupling == "comonotone":
            total += w * bivariate_normal_cdf((mu - z) / s, (mu - z) / t, rho)
        else:
            for z2, w2 in zip(threshold, weight, strict=True):
                total += w * w2 * bivariate_normal_cdf((mu - z) / s, (mu - z2) / t, rho)
    return total
