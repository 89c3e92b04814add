"""Every member of the room, with several parameter settings each; and plain quadrature."""

import dataclasses
import itertools

import numpy as np
import pytest
from scipy import integrate

import thincrm.levy

SETTINGS = {
    "mass": (1.0, 3.0, 0.4),
    "rate": (1.0, 0.3, 20.0),
    "concentration": (1.0, 0.4, 6.0),
    "discount": (0.5, 0.15, 0.8),
}


def settings_of(cls):
    """Return the keyword arguments of each setting of a Lévy process class."""
    names = [field.name for field in dataclasses.fields(cls)]
    return [{name: SETTINGS[name][i] for name in names} for i in range(3)]


MEMBERS = [
    getattr(thincrm.levy, name)(**kwargs)
    for name in thincrm.levy.__all__
    for kwargs in settings_of(getattr(thincrm.levy, name))
]

every_member = pytest.mark.parametrize("levy", MEMBERS, ids=repr)


def has_moments(levy):
    return not isinstance(levy, thincrm.levy.StableProcess)


def per_atom(cls, i, ratio, n_atoms):
    """Return setting i of a class with `ratio` times as much mass as atoms.

    Each finite approximation depends on mass and K through mass/K only, so that one call with many
    atoms gives many independent replicates of one atom.
    """
    return cls(**(settings_of(cls)[i] | {"mass": ratio * n_atoms}))


def log_prob_at(levy, log_mass, n_atoms):
    """Return levy.log_prob at many points, for an approximation with `n_atoms` atoms."""
    same_law = dataclasses.replace(levy, mass=levy.mass * log_mass.size / n_atoms)
    return same_law.log_prob(log_mass)


def line_grid(support, n=40_001, reach=3e4):
    """Return log masses, and d log mass, along z = sinh(t): z = log m, or logit m below 1."""
    t = np.linspace(-np.arcsinh(reach), np.arcsinh(reach if support == np.inf else 600.0), n)
    z, dz = np.sinh(t), np.cosh(t) * (t[1] - t[0])
    if support == np.inf:
        keep = z < 300.0
        return z[keep], dz[keep]
    return -np.logaddexp(0.0, -z), dz * np.exp(-np.logaddexp(0.0, z))


def quad_over_masses(levy, function, low=0.0):
    """Return the integral of function(m) levy_density(m) above `low` by scipy's quad, in log m."""

    def integrand(log_mass):
        m = np.exp(log_mass)
        return float(function(m) * levy.levy_density(m) * m)

    def from_one(log_gap):
        gap = np.exp(log_gap)
        return float(function(1.0 - gap) * levy.levy_density(1.0 - gap) * gap)

    start = np.log(low) if low > 0 else -300.0
    remainder = 0.0
    if levy.support == np.inf:
        edges = np.union1d(start, np.append(np.arange(-300.0, 60.0, 10.0), [100.0, 180.0, 250.0]))
        pieces = [(integrand, a, b) for a, b in itertools.pairwise(edges) if a >= start]
    else:
        middle = np.log(max(low, 0.5))
        edges = np.union1d([start, middle], np.arange(-300.0, -0.7, 10.0))
        pieces = [
            (integrand, a, b) for a, b in itertools.pairwise(edges) if a >= start and b <= middle
        ]
        gap = 2.0**-20  # nearer to 1 the density is a pure power of 1 - m
        pieces += [(from_one, np.log(gap), np.log1p(-max(low, 0.5)))]
        density = levy.levy_density([1.0 - gap, 1.0 - 2.0 * gap])
        power = 1.0 + np.log2(density[1] / density[0])
        remainder = float(function(1.0) * density[0] * gap / power)
    total = sum(integrate.quad(f, a, b, epsabs=1e-14, epsrel=1e-9)[0] for f, a, b in pieces)
    return total + remainder
