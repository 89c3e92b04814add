"""Small products for the joint tests of thinning functions with a linear predictor."""

import numpy as np
from scipy.special import expit

from thincrm.ports import GateEvidence
from thincrm.thinning.gp import SigmoidGP
from thincrm.thinning.rvm import ProbitRVM

T = np.array([0.0, 0.3, 0.35, 1.0])
RVM = ProbitRVM(widths=(2.0, 40.0), bias_mean=-0.7, shape=1.5, rate=0.8)
FLAT = ProbitRVM(widths=(10.0,), bias_mean=0.0, shape=2.0, rate=1.0)
PROBIT = SigmoidGP(widths=(2.0, 40.0))
LOGISTIC = SigmoidGP(widths=(3.0, 30.0), link="logistic", bias_mean=-0.5)
FEW, MANY = np.array([2, 1, 0, 3]), np.array([40, 7, 0, 300])
SEEN, HIDDEN = np.zeros(4), np.array([0.8, 0.3, 0.5, 0.9])


def prior_and_gates(thinning, trials, q):
    """Return draw(rng, n): n atoms from the prior, with gates drawn at the rows of T."""
    prepared = thinning.prepare(T)

    def draw(rng, n):
        x = thinning.draw(rng, n, prepared)
        p_TK = expit(thinning.log_odds(x, prepared))
        positive = rng.binomial(trials[:, None], p_TK * (1 - q)[:, None])
        with np.errstate(divide="ignore"):
            log_q = np.broadcast_to(np.log(q)[:, None], positive.shape)
        return x, GateEvidence.of(positive, trials, log_q)

    return draw


def block(thinning, *moves):
    """Return the update that applies `moves` (none: a whole redraw)."""
    prepared = thinning.prepare(T)

    def update(rng, state):
        x, evidence = state
        if moves:
            return thinning.move(rng, x, evidence, prepared, moves), evidence
        return thinning.redraw(rng, x, evidence, prepared), evidence

    return update


def functionals(thinning):
    prepared = thinning.prepare(T)

    def values(state):
        x, evidence = state
        eta_TK = thinning.predictor(x, prepared)
        p_TK = expit(thinning.log_odds(x, prepared))
        out = {
            "eta first": eta_TK[0],
            "eta last": eta_TK[-1],
            "eta squared": (eta_TK**2).mean(0),
            "weight squared": (x.weights**2).sum(1),
            "bias": x.weights[:, 0],
            "width": x.width.astype(float),
            "p sum": p_TK.sum(0),
            "positive times p": (evidence.positive * p_TK).sum(0),
            "log prior": thinning.log_prob(x, prepared),
        }
        if hasattr(x, "precisions"):
            out["log precision"] = np.log(x.precisions).mean(1)
            out["bias precision"] = x.precisions[:, 0]
            out["precision times square"] = (x.precisions * x.weights**2).sum(1)
        return out

    return values
