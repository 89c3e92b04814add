"""Small Gibbs samplers in plain NumPy, many replicates at once, with knobs that break them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

N_SEEN = 5


class NormalGamma:
    """mu ~ N(0, 1), tau ~ Gamma(3, 2), five y ~ N(mu, 1/tau)."""

    @staticmethod
    def draw(rng, n):
        mu, tau = rng.normal(size=n), rng.gamma(3.0, 1 / 2.0, n)
        y = mu + rng.normal(size=(N_SEEN, n)) / np.sqrt(tau)
        return {"mu": mu, "tau": tau, "y": y}

    @staticmethod
    def blocks(*, shape=1.0, rate=1.0, precision=1.0):
        def redraw_mu(rng, s):
            total = precision + N_SEEN * s["tau"]
            mean = s["tau"] * s["y"].sum(0) / total
            return s | {"mu": mean + rng.normal(size=mean.size) / np.sqrt(total)}

        def redraw_tau(rng, s):
            square = ((s["y"] - s["mu"]) ** 2).sum(0)
            return s | {"tau": rng.gamma(shape * (3 + N_SEEN / 2), 1 / (rate * (2 + square / 2)))}

        return [redraw_mu, redraw_tau]

    @staticmethod
    def functionals(s):
        square = ((s["y"] - s["mu"]) ** 2).sum(0)
        return {
            "mu": s["mu"],
            "mu squared": s["mu"] ** 2,
            "tau": s["tau"],
            "log-likelihood": 0.5 * N_SEEN * np.log(s["tau"]) - 0.5 * s["tau"] * square,
        }


class BetaBinomial:
    """p ~ Beta(2, 3), x ~ Binomial(6, p), of which y ~ Binomial(x, 0.7) are seen."""

    @staticmethod
    def draw(rng, n):
        p = rng.beta(2.0, 3.0, n)
        x = rng.binomial(6, p)
        return {"p": p, "x": x, "y": rng.binomial(x, 0.7)}

    @staticmethod
    def blocks(*, extra=0.0, lost=0.3):
        def redraw_p(rng, s):
            return s | {"p": rng.beta(2.0 + extra + s["x"], 3.0 + 6 - s["x"])}

        def redraw_x(rng, s):
            unseen = lost * s["p"] / (1 - s["p"] + lost * s["p"])
            return s | {"x": s["y"] + rng.binomial(6 - s["y"], unseen)}

        return [redraw_p, redraw_x]

    @staticmethod
    def functionals(s):
        return {"p": s["p"], "x": s["x"], "x is 0": s["x"] == 0}


class Probit:
    """Albert and Chib (1993): two coefficients ~ N(0, 1), four signs of z ~ N(design b, 1)."""

    design = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 0.5], [1.0, 2.0]])

    @classmethod
    def draw(cls, rng, n):
        b = rng.normal(size=(2, n))
        z = cls.design @ b + rng.normal(size=(4, n))
        return {"b": b, "z": z, "y": z > 0}

    @classmethod
    def blocks(cls, *, precision=1.0, flipped=False):
        covariance = np.linalg.inv(precision * np.eye(2) + cls.design.T @ cls.design)
        root = np.linalg.cholesky(covariance)

        def redraw_z(rng, s):
            mean = cls.design @ s["b"]
            sign = np.where(s["y"] ^ flipped, 1.0, -1.0)
            tail = special.ndtr(sign * mean) * (1 - rng.random(mean.shape))
            return s | {"z": mean - sign * special.ndtri(tail)}

        def redraw_b(rng, s):
            b = covariance @ cls.design.T @ s["z"] + root @ rng.normal(size=s["b"].shape)
            return s | {"b": b}

        return [redraw_z, redraw_b]

    @classmethod
    def functionals(cls, s):
        return {
            "b0": s["b"][0],
            "b1": s["b"][1],
            "b1 squared": s["b"][1] ** 2,
            "z0": s["z"][0],
            "z3": s["z"][3],
            "log-likelihood": special.log_ndtr(
                np.where(s["y"], 1.0, -1.0) * (cls.design @ s["b"])
            ).sum(0),
            "residual": ((s["z"] - cls.design @ s["b"]) ** 2).sum(0),
        }


class Hierarchy:
    """a ~ N(0, 1), b | a ~ N(a, 1), y | b ~ N(b, 1), with b integrated out when a is redrawn."""

    @staticmethod
    def draw(rng, n):
        a = rng.normal(size=n)
        b = a + rng.normal(size=n)
        return {"a": a, "b": b, "y": b + rng.normal(size=n)}

    @staticmethod
    def redraw_a_without_b(rng, s):
        return s | {"a": s["y"] / 3 + rng.normal(size=s["y"].size) * np.sqrt(2 / 3)}

    @staticmethod
    def redraw_a(rng, s):
        return s | {"a": s["b"] / 2 + rng.normal(size=s["y"].size) * np.sqrt(1 / 2)}

    @staticmethod
    def redraw_b(rng, s):
        mean = (s["a"] + s["y"]) / 2
        return s | {"b": mean + rng.normal(size=mean.size) * np.sqrt(1 / 2)}

    @staticmethod
    def functionals(s):
        return {"a": s["a"], "b": s["b"], "gap": s["b"] - s["a"], "product": s["a"] * s["b"]}


RIGHT = [NormalGamma, BetaBinomial, Probit]
LEVEL_REPEATS = [  # 1,000 see a level of 8 % instead of 5, 4,000 one of 6.5
    150,
    pytest.param(1000, marks=pytest.mark.joint),
    pytest.param(4000, marks=pytest.mark.slow),
]
TWINS = {
    "gamma shape 10 % too large": (NormalGamma, {"shape": 1.1}),
    "gamma rate 10 % too large": (NormalGamma, {"rate": 1.1}),
    "prior precision 0.8 for 1": (NormalGamma, {"precision": 0.8}),
    "beta shape 10 % too large": (BetaBinomial, {"extra": 0.2}),
    "missing rate 10 % too large": (BetaBinomial, {"lost": 0.33}),
    "coefficients' precision 0.8 for 1": (Probit, {"precision": 0.8}),
    "truncation to the wrong side": (Probit, {"flipped": True}),
}
