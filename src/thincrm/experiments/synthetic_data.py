"""The synthetic table of the paper's section 6.2: eight images that come and go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from thincrm.numerics.arrays import Bool, Float, Seed, as_generator

__all__ = ["IMAGES", "Synthetic", "draw_synthetic"]

TIMES = np.arange(1, 21)
NOISE_VARIANCE = 0.25
LENGTH = 3.0  # of the kernels, the same for all features, in units of t
LEAST_MASS, MOST_MASS = 0.4, 0.9
FEWEST_TIMES = 3  # at which a feature is open: one that never is cannot be found
_DRAWN = (
    "####.... ......## ........ ...##... #....... .......# ........ ........",
    "#..#.... ......## ........ ...##... ##...... ......## ........ .####...",
    "#..#.... ......## ..####.. ...##... .##..... .....##. ........ .#..#...",
    "####.... ........ ..####.. ######## ..##.... ....##.. ........ .#..#...",
    "........ ........ ..####.. ######## ...##... ........ ........ .####...",
    "........ ........ ..####.. ...##... ....##.. ........ .....### ........",
    "........ ##....## ........ ...##... .....##. ........ .....#.# ........",
    "........ ##....## ........ ...##... ......## ........ .....### ########",
)
IMAGES: Float = np.array(
    [[[mark == "#" for mark in part] for part in line.split()] for line in _DRAWN], float
).transpose(1, 0, 2)  # feature, row, column


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A table and what it was made of.

    Attributes
    ----------
    values : (N, 64) float
        Pixels.
    t : (N,) int
        When each image was taken.
    curve_TK : (20, 8) float
        Thinning probabilities p_k(t).
    gate_TK : (20, 8) bool
        Which features were open: r_k^t.
    mass_K : (8,) float
        How often an open feature is used: pi_k.
    """

    values: Float
    t: np.ndarray
    curve_TK: Float
    gate_TK: Bool
    mass_K: Float


def draw_synthetic(rng: Seed, n_each: int = 100) -> Synthetic:
    """Draw a table: `n_each` images at each of 20 times.

        kappa_k ~ Uniform,  w_lk ~ kappa_k delta_0 + (1 - kappa_k) N(0, 4)
        p_k(t) = Phi(sum_l w_lk exp(-(t - l)^2 / (2 length^2))),  r_k^t ~ Bernoulli(p_k(t))
        z_nk ~ Bernoulli(r_k^t pi_k),  y_n = sum_k z_nk A_k + N(0, 0.25)

    The paper says neither the images, nor the length, nor the masses pi_k; here they are uniform
    on (0.4, 0.9). Curves are drawn again if a feature is open at fewer than three times.
    """
    rng = as_generator(rng)
    n_features = len(IMAGES)
    mass_K = rng.uniform(LEAST_MASS, MOST_MASS, n_features)
    kernel_TL = np.exp(-0.5 * ((TIMES[:, None] - TIMES) / LENGTH) ** 2)
    curve_TK, gate_TK = np.empty((2, TIMES.size, n_features))
    for k in range(n_features):
        while True:
            weight_L = rng.normal(0.0, 2.0, TIMES.size) * (rng.random(TIMES.size) > rng.random())
            curve_TK[:, k] = ndtr(kernel_TL @ weight_L)
            gate_TK[:, k] = rng.random(TIMES.size) < curve_TK[:, k]
            if gate_TK[:, k].sum() >= FEWEST_TIMES:
                break
    t = np.repeat(TIMES, n_each)
    used_NK = rng.random((t.size, n_features)) < gate_TK[t - 1] * mass_K
    clean_NP = used_NK @ IMAGES.reshape(n_features, -1)
    noise_NP = rng.normal(0.0, np.sqrt(NOISE_VARIANCE), clean_NP.shape)
    return Synthetic(clean_NP + noise_NP, t, curve_TK, gate_TK.astype(bool), mass_K)
