"""FeatureLikelihood: what open features do to the rows of a table (`ports.Likelihood`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thincrm.models.features.draw import FeatureDraw
from thincrm.models.features.kernel import Features
from thincrm.models.features.laws import squared_error
from thincrm.models.features.start import start_state
from thincrm.models.features.state import (
    FeatureEvidence,
    FeatureGlobals,
    FeatureLocal,
    FeatureProblem,
    FeatureShard,
    FeatureState,
    add_evidence,
    features_of,
)
from thincrm.models.features.sweep import (
    SWEEP,
    gate_evidence,
    mass_evidence,
    redraw_features,
    redraw_usages_of,
    redraw_variances,
)
from thincrm.ports import GateEvidence, MassEvidence, Update

__all__ = ["FeatureLikelihood"]


@dataclass(frozen=True, slots=True)
class FeatureLikelihood:
    """Rows are sums: y_n = level + sum_k z_nk s_nk A_k + sum_l f_nl D_l + noise (see `kernel`)."""

    shared: bool = False  # one gate a covariate, not one a row
    real: bool = False  # weights s ~ N(0, 1), not 1
    background: bool = True  # a level for every column
    sure: bool = False  # masses are 1: behind an open gate a feature is used
    n_dense: int = 0  # dense factors: every row uses them, with weights N(0, 1)
    level: tuple[int, ...] = ()  # functions of the covariate in the level, see `Curves.sizes`
    support: ClassVar[float] = 1.0
    updates: ClassVar[tuple[Update, ...]] = SWEEP

    def start(self, rng: np.random.Generator, problem: FeatureProblem) -> FeatureState:
        """Return a state to start a chain from."""
        return start_state(rng, problem)

    def message(self, problem: FeatureProblem, state: FeatureState) -> Features:
        """Return what rows need to know of the globals."""
        return features_of(problem, state)

    def redraw_local(
        self, key: np.uint64, shard: FeatureShard, local: FeatureLocal, message: Features
    ) -> tuple[FeatureLocal, FeatureEvidence]:
        """Redraw the usages of a shard's rows."""
        return redraw_usages_of(key, shard, local, message)

    def add(self, parts: Sequence[FeatureEvidence]) -> FeatureEvidence:
        """Return the evidence of all shards."""
        return add_evidence(list(parts))

    def gate_evidence(
        self, rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
    ) -> GateEvidence:
        """Return what usages say of the gates."""
        return gate_evidence(problem, state)

    def mass_evidence(
        self, rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
    ) -> MassEvidence:
        """Draw which silent gates are open; return what is then said of the masses."""
        return mass_evidence(rng, problem, state)

    def redraw_own(
        self, rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
    ) -> FeatureGlobals:
        """Redraw the features and the variances."""
        return redraw_variances(rng, problem, redraw_features(rng, problem, state)).own

    def summary(self, problem: FeatureProblem, state: FeatureState) -> dict[str, float]:
        """Return label-free numbers of a state.

        Beside dense factors the log likelihood is that of the rows' features, weights of factors
        summed out, under the entries that the rows were last redrawn with.
        """
        own, facts = state.own, problem.facts
        total = state.evidence.hits.sum(0)
        error_P = squared_error(state.evidence.sums, facts.square_P, own.feature)
        log_noise = np.log(own.noise / (2 * np.pi))
        fit = 0.5 * float((facts.seen_P * log_noise - own.noise * error_P).sum())
        found = {
            "n_features": int((total > 0).sum()),
            "n_large_features": int((total >= 0.01 * max(total.sum(), 1)).sum()),
            "features_per_row": float(total.sum()) / facts.n_rows,
            "log_likelihood": fit,
            "noise": float(np.mean(1.0 / own.noise)),
            "scale": 1.0 / own.scale,
        }
        if self.n_dense > 0:
            found |= {
                "log_likelihood": float(state.evidence.fit[0]),
                "n_factors": self._n_factors(problem, own),
                "fill_variance": self._fill_variance(problem, own),
                "level_variance": self._level_variance(problem, state),
            }
        for name in ("mass", "concentration", "discount"):
            if hasattr(state.levy, name):
                found[name] = float(getattr(state.levy, name))
        return found

    def _fill_variance(self, problem: FeatureProblem, own: FeatureGlobals) -> float:
        """Return the mean over columns of a cell's variance given all others of its row.

        1 / (S^-1)_pp with S = W^-1 + D D', W the noise's precisions: what a fill is uncertain by.
        How much of it is noise, and how much a factor of a column's own, the data do not tell.
        """
        dense_LP = own.feature[problem.n_atoms : problem.n_atoms + self.n_dense]
        scaled_LP = dense_LP * own.noise
        inner_LL = np.eye(self.n_dense) + scaled_LP @ dense_LP.T
        known_P = (scaled_LP * np.linalg.solve(inner_LL, scaled_LP)).sum(0)
        return float(np.mean(1.0 / np.maximum(own.noise - known_P, 1e-12 * own.noise)))

    def _level_variance(self, problem: FeatureProblem, state: FeatureState) -> float:
        """Return the mean over columns of the mean square of what the covariates tell of rows."""
        first = problem.n_atoms + self.n_dense
        part = slice(first, first + sum(self.level))
        whole_BB, level_BP = state.evidence.whole[part, part], state.own.feature[part]
        gram_BB = whole_BB + np.triu(whole_BB, 1).T
        n_cells = level_BP.shape[1] * problem.facts.n_rows
        return float((level_BP * (gram_BB @ level_BP)).sum() / n_cells)

    def _n_factors(self, problem: FeatureProblem, own: FeatureGlobals) -> int:
        """Return in how many directions a whole row tells the dense weights, however they turn.

        Those of the eigenvalues of sum_p D_p D_p' / sigma_p^2 above 1, the precision known before.
        """
        dense_LP = own.feature[problem.n_atoms : problem.n_atoms + self.n_dense]
        return int((np.linalg.eigvalsh((dense_LP * own.noise) @ dense_LP.T) > 1.0).sum())

    def keep(
        self, problem: FeatureProblem, state: FeatureState, chain: int, sweep: int
    ) -> FeatureDraw:
        """Return the draw to keep of a state."""
        return FeatureDraw(
            chain=chain,
            sweep=sweep,
            feature=state.own.feature,
            noise=state.own.noise,
            log_mass=state.log_mass,
            x=state.x,
            hits=state.evidence.hits,
            scalars=self.summary(problem, state),
        )
