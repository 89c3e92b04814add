"""Do results move when covariates are rounded? The same corpus with 300, 600 and all rows.

    python benchmarks/bench_rows.py --counts commits_counts.npz --days commits_days.npz
        [--rows 300 600 0] [--seeds 0 1] [--out found]

Commit messages with their days, a fifth of the words of each held out, and others to be dated. A
chain for each number of rows (0: all) and seed. Compared are chains of different seeds, with the
same and with different rows: perplexity, activation curves of topics that are in both (matched by
their words), and the mean dates of other documents, by topics alone and by default. With
--out results are kept there, and chains that are there already are not run again. Without files
nothing is done.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import linear_sum_assignment

import thincrm as tc

DOCUMENTS, OTHERS, TOPICS, SWEEPS, ALIKE = 6_000, 500, 100, 150, 0.7
BY_ALL = 200  # of the others, dated by words and topics


def corpus(counts: str, days: str):
    every, day = sparse.csr_array(sparse.load_npz(counts)), np.load(days)["day"]
    some = np.random.default_rng(1).choice(every.shape[0], DOCUMENTS + OTHERS, replace=False)
    part = every[some]
    common = np.asarray((part > 0).sum(axis=0)).reshape(-1) >= 5
    return part[:, common], pd.to_datetime(day[some], unit="D")


def found_by(counts, t, n_rows: int, seed: int) -> dict[str, np.ndarray]:
    train, heldout = tc.split_words(counts[:DOCUMENTS], 0.2, 0)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = tc.TopicModel(
            max_topics=TOPICS, n_sweeps=SWEEPS, n_draws=25, n_chains=1, random_state=seed,
            n_threads=1, max_rows=n_rows or None, quiet=True,
        ).fit(train, t=t[:DOCUMENTS])  # fmt: skip
        seconds = time.perf_counter() - began
        grid = pd.DatetimeIndex(np.quantile(t, np.linspace(0.01, 0.99, 50)))
        share_GK = model.activation(grid)["share"].to_numpy().reshape(-1, len(grid)).T
        others = counts[DOCUMENTS:]
        by_topics = model.predict_time(others, evidence="topics", method="cheap")
        by_all = model.predict_time(others[:BY_ALL])
        perplexity = model.perplexity(heldout).value
    return {
        "perplexity": np.array(perplexity),
        "words": model.word_tokens().to_numpy(),
        "share": share_GK,
        "topics": by_topics.to_numpy() @ days_of(by_topics.columns),
        "both": by_all.to_numpy() @ days_of(by_all.columns),
        "seconds": np.array(seconds),
        "rows": np.array(len(model.draws_[-1].log_odds)),
    }


def days_of(t: pd.DatetimeIndex) -> np.ndarray:
    return np.asarray((t - pd.Timestamp(0)) / pd.Timedelta(days=1), float)


def apart(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> tuple[float, ...]:
    """Return how far apart two chains are.

    Perplexities, in per cent; shares of words of topics that are in both, mean absolute difference
    relative to their mean; how many of the tokens are in these; days of the other documents.
    """
    likely = [np.sqrt(one["words"] / one["words"].sum(axis=0)) for one in (a, b)]
    alike_KL = likely[0].T @ likely[1]
    first, second = linear_sum_assignment(-alike_KL)
    both = alike_KL[first, second] > ALIKE
    mine, yours = a["share"][:, first[both]], b["share"][:, second[both]]
    curves = np.abs(mine - yours).sum() / (0.5 * (mine + yours)).sum()
    held = a["words"].sum(axis=0)
    return (
        100 * abs(float(a["perplexity"] / b["perplexity"]) - 1),
        float(curves),
        float(held[first[both]].sum() / held.sum()),
        *(float(np.abs(a[by] - b[by]).mean()) for by in ("topics", "both")),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--counts")
    parser.add_argument("--days")
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 600, 0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if not (options.counts and options.days):
        return
    counts, t = corpus(options.counts, options.days)
    truth, found = days_of(t[DOCUMENTS:]), {}
    for n_rows, seed in product(options.rows, options.seeds):
        kept = options.out / f"{n_rows}-{seed}.npz" if options.out else None
        if kept and kept.exists():
            found[n_rows, seed] = dict(np.load(kept))
        else:
            found[n_rows, seed] = found_by(counts, t, n_rows, seed)
            if kept:
                np.savez(kept, **found[n_rows, seed])
        one = found[n_rows, seed]
        print(
            f"{int(one['rows']):>5} rows, seed {seed}: perplexity {one['perplexity']:.1f}, dates "
            f"{np.abs(one['topics'] - truth).mean():.0f} days off by topics, "
            f"{np.abs(one['both'] - truth[:BY_ALL]).mean():.0f} by default, {one['seconds']:.0f} s",
            flush=True,
        )
    for (rows_a, seed_a), (rows_b, seed_b) in combinations(found, 2):
        if seed_a != seed_b:
            far = apart(found[rows_a, seed_a], found[rows_b, seed_b])
            print(
                f"{rows_a:>4} and {rows_b:>4} rows, seeds {seed_a} {seed_b}: perplexity "
                f"{far[0]:.2f} %, curves {far[1]:.3f} (topics with {far[2]:.2f} of the words), "
                f"dates {far[3]:.0f} days by topics, {far[4]:.0f} by default"
            )


if __name__ == "__main__":
    main()
