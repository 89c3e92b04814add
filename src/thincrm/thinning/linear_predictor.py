"""What ProbitRVM and SigmoidGP share: a linear predictor at the rows, and moves on its weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import Float, Int, Seed, as_generator
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks
from thincrm.ports import GateEvidence
from thincrm.thinning.atom import Atoms, Prior
from thincrm.thinning.augment import augment
from thincrm.thinning.moves import Move

__all__ = ["apply_moves", "predictor"]

_BLOCK = 16


def predictor(basis_MTJ: Float, weight_KJ: Float, width_K: Int) -> Float:
    """Return the (T, K) predictors eta_tk = F_{m_k}[t] . w_k."""
    eta_TK = np.empty((basis_MTJ.shape[1], len(width_K)))
    for m in range(len(basis_MTJ)):
        atoms = np.flatnonzero(width_K == m)
        eta_TK[:, atoms] = basis_MTJ[m] @ weight_KJ[atoms].T
    return eta_TK


def apply_moves(
    rng: Seed,
    moves: Sequence[Move],
    link: int,
    basis_MTJ: Float,
    mean_J: Float,
    gamma: tuple[float, float],
    evidence: GateEvidence,
    state: tuple[Float, Float, Int],
) -> tuple[Float, Float, Int]:
    """Return new (weights, precisions, width) after `moves`; the old ones are left as they are."""
    rng = as_generator(rng)
    weight_KJ, precision_KJ, width_K = np.array(state[0]), np.array(state[1]), np.array(state[2])
    n_rows = basis_MTJ.shape[1]
    if evidence.positive.shape != (n_rows, len(width_K)):
        raise InvalidInput(
            f"evidence is {evidence.positive.shape} (rows, atoms) but there are {n_rows} distinct "
            f"covariate rows and {len(width_K)} atoms."
        )
    gram_MJJ = np.zeros((len(basis_MTJ), mean_J.size, mean_J.size))
    if augment in moves:
        gram_MJJ = np.einsum("mti,t,mtj->mij", basis_MTJ, evidence.trials, basis_MTJ, optimize=True)
    positive_KT = np.ascontiguousarray(evidence.positive.T)
    column_MJT = np.ascontiguousarray(basis_MTJ.transpose(0, 2, 1))
    prior = Prior(basis_MTJ, column_MJT, gram_MJJ, mean_J, *gamma)
    silent_KT = np.ascontiguousarray(evidence.silent.T)
    q_KT = np.ascontiguousarray(np.exp(evidence.log_q.T))
    atoms = Atoms(link, positive_KT, silent_KT, q_KT, weight_KJ, precision_KJ, width_K)
    keys = [fresh_key(rng) for _ in moves]

    def work(first: int, stop: int) -> None:
        for move, key in zip(moves, keys, strict=True):
            move(first, stop, key, prior, atoms)

    map_blocks(work, len(width_K), _BLOCK)
    return weight_KJ, precision_KJ, width_K
