"""Held-out perplexity of the State of the Union: default settings against tomotopy's LDA.

    python benchmarks/bench_perplexity.py sotu_counts.npz [--splits 5] [--first 0] [--lda-chains 1]

A fifth of every document's words is held out. Ours: default settings (four chains of 600 sweeps,
the draws of all averaged), decades for dates; beside it the draws of each chain alone. LDA: 200 and
300 topics, eta 0.01 and 0.1, alpha learned, 1,000 iterations, 100 draws of the second half
averaged; of the best as many chains as asked for, their draws averaged too. A split takes nine
minutes on one core, and each further chain of LDA two.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse

import thincrm as tc
from thincrm.data.counts import as_counts, split_words, tokens
from thincrm.data.sotu import read_sotu
from thincrm.experiments.baselines import PRIORS, heldout_shares, perplexity_of
from thincrm.models.topics.predict.perplexity import perplexity

HELD_OUT, ITERATIONS = 0.2, 1000
SIZES = (200, 300)


def ours(
    train: sparse.csr_array, heldout: sparse.csr_array, t: np.ndarray, seed: int
) -> tuple[float, list[float]]:
    """Return the perplexity of all chains together, and of each alone."""
    model = tc.TopicModel(random_state=seed, n_threads=1, quiet=True).fit(train, t=t)
    chains = sorted({draw.chain for draw in model.draws_})
    known = tokens(as_counts(train))
    alone = [
        perplexity([d for d in model.draws_ if d.chain == c], model.row_, heldout, known).value
        for c in chains
    ]
    return model.perplexity(heldout).value, alone


def lda_shares(
    train: sparse.csr_array, heldout: sparse.csr_array, size: int, eta: float, seed: int
) -> np.ndarray:
    """Return the shares of held-out cells by a chain of LDA."""
    import tomotopy  # noqa: PLC0415 - stands beside, is not needed

    model = tomotopy.LDAModel(k=size, alpha=0.1, eta=eta, seed=seed)
    model.optim_interval = 10
    return heldout_shares(model, train, heldout, ITERATIONS)[0]


def print_split(corpus, seed: int, n_chains: int) -> None:
    """Print what all models make of a split."""
    train, heldout = split_words(corpus.counts, HELD_OUT, seed)
    start = time.perf_counter()
    all_chains, alone = ours(train, heldout, corpus.decades, seed)
    print(
        f"split {seed}: ours {all_chains:.1f}, chains alone "
        + " ".join(f"{value:.1f}" for value in alone)
        + f" ({time.perf_counter() - start:.0f} s)",
        flush=True,
    )
    shares = {c: lda_shares(train, heldout, *c, seed) for c in product(SIZES, PRIORS)}
    scores = {choice: perplexity_of(found, heldout) for choice, found in shares.items()}
    best = min(scores, key=scores.__getitem__)
    print("  LDA " + ", ".join(f"{k} {eta:g}: {x:.1f}" for (k, eta), x in scores.items()))
    print(
        f"  of the best LDA ({best[0]}, eta {best[1]:g}): ours {all_chains / scores[best]:.3f}, "
        f"one chain {np.mean(alone) / scores[best]:.3f}",
        flush=True,
    )
    together = shares[best]
    for chain in range(1, n_chains):
        together = together + lda_shares(train, heldout, *best, seed + 1000 * chain)
    if n_chains > 1:
        value = perplexity_of(together / n_chains, heldout)
        print(f"  {n_chains} chains of it {value:.1f}: ours {all_chains / value:.3f}", flush=True)


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("corpus", type=Path, nargs="?")
    ask.add_argument("--splits", type=int, default=5)
    ask.add_argument("--first", type=int, default=0)
    ask.add_argument("--lda-chains", type=int, default=1)
    asked = ask.parse_args()
    if asked.corpus is None:
        ask.print_usage()
        return
    corpus = read_sotu(asked.corpus)
    for seed in range(asked.first, asked.first + asked.splits):
        print_split(corpus, seed, asked.lda_chains)


if __name__ == "__main__":
    main()
