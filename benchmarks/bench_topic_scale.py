"""How a sweep's time and the peak memory of a fit grow with the corpus, and how soon it beats LDA.

    python benchmarks/bench_topic_scale.py [--data sotu_counts.npz] [--factors 1 10 100]

The corpus is repeated; each size runs in a process of its own. Memory is what the fit
adds to what the process had with the counts loaded and the loops compiled; a topic-word costs 8
bytes of it (counts and topics), which are taken off.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

import thincrm as tc
from bench_topics import corpus, milliseconds, problem, threads_ratio

TOPICS, SWEEPS = 200, 6


def memory() -> int:
    """Return the resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def watch(peak: list[int], stop: threading.Event) -> None:
    while not stop.wait(0.01):
        peak[0] = max(peak[0], memory())


def fit(counts, t, n_sweeps: int, **settings) -> tc.TopicModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tc.TopicModel(
            max_topics=TOPICS,
            n_sweeps=n_sweeps,
            random_state=0,
            n_threads=1,
            quiet=True,
            **settings,
        ).fit(counts, t=t)


def one_size(data: str | None, factor: int) -> None:
    counts, t = corpus(data)
    fit(counts[:50], t[:50], 3)
    counts, t = sparse.vstack([counts] * factor, format="csr"), np.tile(t, factor)
    before, stop = memory(), threading.Event()
    peak = [before]
    watcher = threading.Thread(target=watch, args=(peak, stop))
    watcher.start()
    fit(counts, t, 6, n_draws=1)
    stop.set()
    watcher.join()
    per_cell = (peak[0] - before - 8 * TOPICS * counts.shape[1]) / counts.nnz
    task, n_tokens = problem(counts, t, TOPICS, tc.SigmoidGP()), int(counts.sum())
    one = sum(milliseconds(task, 1, SWEEPS).values())
    ratio = threads_ratio(task, max(2 * SWEEPS, 240 // factor))
    print(
        f"{n_tokens:>11,} tokens: {one:8.1f} ms a sweep, {1e6 * one / n_tokens:5.0f} ns a token, "
        f"two threads {ratio:.2f} times as fast; {per_cell:5.1f} bytes a non-zero"
    )


def race(data: str | None) -> None:
    """Print how soon the dynamic model has the held-out perplexity that LDA ends with."""
    try:
        import tomotopy  # noqa: PLC0415

        from thincrm.experiments.baselines import _tomotopy  # noqa: PLC0415
    except ImportError:
        return
    counts, t = corpus(data)
    train, heldout = tc.split_words(counts, 0.2, 0)
    peer = tomotopy.LDAModel(k=TOPICS, alpha=0.1, eta=0.1, seed=0)
    peer.optim_interval = 10
    score = _tomotopy(peer, train, heldout, 1000)
    print(
        f"LDA {TOPICS}, average of late draws: perplexity {score.perplexity:.1f} in "
        f"{score.seconds:.0f} s"
    )
    fit(train[:50], t[:50], 3)
    for n_sweeps in (100, 150, 200, 300, 400, 600):
        start = time.perf_counter()
        value = fit(train, t, n_sweeps).perplexity(heldout).value
        seconds = time.perf_counter() - start
        print(
            f"  dynamic, {n_sweeps} sweeps: {value:.1f} in {seconds:.0f} s, "
            f"{seconds / score.seconds:.2f} of it"
        )
        if value <= score.perplexity:
            break


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--factors", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--alone", action="store_true", help="run the one factor in this process")
    options = parser.parse_args()
    if options.alone:
        one_size(options.data, options.factors[0])
        return
    for factor in options.factors:
        command = [sys.executable, __file__, "--alone", "--factors", str(factor)]
        subprocess.run(command + (["--data", options.data] if options.data else []), check=True)
    race(options.data)


if __name__ == "__main__":
    main()
