"""Many independent realisations from one call, for statistical tests of random measures."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

import thincrm.thinning
from thincrm.ports import Thinning
from thincrm.thinning.always import Always
from thincrm.thinning.bump import Bump
from thincrm.thinning.function import FunctionThinning


@dataclass(frozen=True)
class Many:
    """A Lévy measure whose series is `n` independent ones, end to end: atoms are independent, so
    one draw at some covariates holds n independent realisations.
    """

    levy: Any
    n: int

    def moment(self, order):
        return self.levy.moment(order)

    def n_atoms_for(self, error, n_eff):
        return self.n * self.levy.n_atoms_for(error, n_eff)

    def log_series(self, rng, n_atoms):
        arrivals = np.cumsum(rng.standard_exponential((self.n, n_atoms // self.n)), axis=1)
        return _log_masses(self.levy, arrivals.tobytes())


@lru_cache(maxsize=2)
def _log_masses(levy, arrivals):
    """Return the masses of the same arrivals once: tests of one seed differ in thinning alone."""
    return levy.log_tail_inverse(np.frombuffer(arrivals))


def blocks(values_TK, n):
    """Sum the atoms of each of n realisations: (T, n)."""
    return values_TK.reshape(len(values_TK), n, -1).sum(2)


def assert_means(draws, expected, n_tests=1):
    """Two-sided z test of the mean of independent draws; level 1e-5 for `n_tests` together."""
    spread = draws.std() / np.sqrt(draws.size)
    z = (draws.mean() - expected) / spread
    bound = stats.norm.isf(1e-5 / (2 * n_tests))
    assert abs(z) < bound, f"mean {draws.mean():.5g}, expected {expected:.5g}, z = {z:.2f}"


def fade(x, t):
    return np.exp(-x * t[:, None])


def thinnings():
    """One of every thinning function; those of the room's own list join by themselves."""
    found = {
        "always": Always(),
        **{kernel: Bump(kernel, (0.4, 0.4), height=0.9) for kernel in ("gaussian", "exponential")},
        **{kernel: Bump(kernel, 0.4) for kernel in ("box", "one-sided")},
        "function": FunctionThinning(fade, lambda rng, n: rng.standard_exponential(n)),
    }
    for name in getattr(thincrm.thinning, "__all__", ()):
        member = getattr(thincrm.thinning, name)
        if name in ("Always", "Bump", "FunctionThinning") or not isinstance(member, type):
            continue
        try:
            value = member()
        except TypeError:
            continue
        if isinstance(value, Thinning):
            found[name] = value
    return found
