"""How likely evidence is, the mass of one atom of a finite approximation integrated out."""

from __future__ import annotations

import math
from functools import singledispatch

import numpy as np
from scipy.special import gammaln

from thincrm.errors import InvalidType
from thincrm.levy.gamma import GammaProcess
from thincrm.levy.tempered import TemperedStable
from thincrm.numerics.arrays import Float

__all__ = ["log_evidence", "log_mean_mass"]

_TINY = np.finfo(float).tiny


@singledispatch
def log_evidence(levy: object, n_atoms: int, hits: Float, exposure: Float) -> Float:
    """Return log ∫ m^hits e^{-exposure m} f_K(m) dm, elementwise; K = n_atoms."""
    raise InvalidType(f"{levy} has no closed form here: use a process whose masses have no end.")


@log_evidence.register
def _(levy: GammaProcess, n_atoms: int, hits: Float, exposure: Float) -> Float:
    """Return the log of Γ(a + h) λ^a / (Γ(a) (λ + E)^{a + h}), a = γ/K."""
    shape = levy.mass / n_atoms
    value = gammaln(shape + hits) - math.lgamma(shape) + shape * math.log(levy.rate)
    return np.asarray(value - (shape + hits) * np.log(levy.rate + exposure))


@log_evidence.register
def _(levy: TemperedStable, n_atoms: int, hits: Float, exposure: Float) -> Float:
    """Return the log of C/K Γ(h + 1 - σ) ∫_{τ+E}^{τ+E+a} r^{σ-h-1} dr."""
    form = levy._tilted()
    power = form.discount - hits
    log_low = np.log(np.maximum(form.tilt + exposure, _TINY))  # of curves that underflow
    log_high = np.logaddexp(log_low, levy._log_cut(n_atoms))
    top = np.where(power > 0.0, power * log_high, power * log_low)
    gap = -np.abs(power) * (log_high - log_low)
    integral = top + np.log(-np.expm1(gap)) - np.log(np.abs(power))
    norm = form.log_constant - math.log(n_atoms)
    return np.asarray(norm + gammaln(1.0 - form.discount + hits) + integral)


@singledispatch
def log_mean_mass(levy: object, n_atoms: int, most_hits: int, exposure: Float) -> Float:
    """Return the (K, most_hits + 1) logs of E[m | hits, exposure], hits = 0, 1, ..., most_hits."""
    hits = np.arange(most_hits + 2.0)
    return np.diff(log_evidence(levy, n_atoms, hits, exposure[:, None]))


@log_mean_mass.register
def _(levy: GammaProcess, n_atoms: int, most_hits: int, exposure: Float) -> Float:
    """Return the log of (a + h) / (λ + E), a = γ/K."""
    log_hits = np.log(levy.mass / n_atoms + np.arange(most_hits + 1.0))
    return np.asarray(log_hits - np.log(levy.rate + exposure)[:, None])
