"""A model from outside the package that has no page of its own: lamps that are lit at times."""

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.base import BaseEstimator

from thincrm.data.covariates import covariates
from thincrm.inference.diagnostics import Diagnostics
from thincrm.models.reported import Reported
from thincrm.thinning import SigmoidGP


class Draw:
    def __init__(self, chain, sweep, centre_K):
        self.chain, self.sweep, self.centre_K = chain, sweep, centre_K
        self.scalars = {"n_lamps": float(len(centre_K)), "brightness": float(centre_K.sum())}


class Lamps(Reported, Diagnostics, BaseEstimator):
    """Lamps that are lit around a place each; the draws are made up."""

    def __init__(
        self, thinning=None, hue="warm", max_lamps=3, n_sweeps=60, n_chains=2, random_state=0
    ):
        self.thinning = thinning
        self.hue = hue
        self.max_lamps = max_lamps
        self.n_sweeps = n_sweeps
        self.n_chains = n_chains
        self.random_state = random_state

    def fit(self, t, n_lamps=3):
        rng = np.random.default_rng(self.random_state)
        self.covariates_, self.seed_, self.thinning_ = covariates(t), 0, SigmoidGP()
        low, high = self.covariates_.rows[:, 0].min(), self.covariates_.rows[:, 0].max()
        centre = np.linspace(low, high, n_lamps)
        self.draws_ = [
            Draw(chain, sweep, centre + 0.02 * (high - low) * rng.normal(size=n_lamps))
            for chain in range(self.n_chains)
            for sweep in range(20, self.n_sweeps)
        ]
        self.trace_ = pd.DataFrame(
            {
                "n_lamps": n_lamps,
                "log_joint": rng.normal(size=self.n_chains * self.n_sweeps),
            },
            index=pd.MultiIndex.from_product(
                [range(self.n_chains), range(self.n_sweeps)], names=["chain", "sweep"]
            ),
        )
        return self

    def activation(self, t=None, level=0.9):
        known = self.covariates_
        rows = known.rows if t is None else known.encode(t)
        width = np.ptp(known.rows[:, 0]) / 8 or 1.0
        at = rows[:, 0][:, None]
        opened = np.stack([expit(3 - ((at - d.centre_K) / width) ** 2) for d in self.draws_])
        low, high = np.quantile(opened, [(1 - level) / 2, (1 + level) / 2], axis=0)
        n_lamps = opened.shape[2]
        columns = {"lamp": np.repeat(np.arange(n_lamps), len(rows))}
        for place, name in enumerate(known.names if rows.shape[1] > 1 else ["t"]):
            columns[name] = np.tile(rows[:, place], n_lamps)
        means = {"mean": opened.mean(axis=0), "lower": low, "upper": high}
        return pd.DataFrame(columns | {name: x.T.ravel() for name, x in means.items()})

    def tables(self):
        return {
            "activation": self.activation(),
            "lamp_makers": pd.DataFrame({"maker": self.makers(), "price": [1.25, np.nan]}),
            "diagnostics": self.diagnostics().reset_index(),
            "trace": self.trace_.reset_index(),
        }

    def makers(self):
        return ["</script><img src=x onerror=alert(1)>", "=HYPERLINK(0)"]
