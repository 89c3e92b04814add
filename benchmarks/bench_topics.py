"""A dynamic sweep of the topic model against an iteration of tomotopy's LDA, one core, one corpus.

    python benchmarks/bench_topics.py [--data sotu_counts.npz] [--topics 200]

Without --data a corpus of the State of the Union's size is made up. The peer is left out where
tomotopy is not installed.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy import sparse

from thincrm.data.counts import as_counts, tokens
from thincrm.data.covariates import covariates
from thincrm.inference.engine import Threads
from thincrm.levy import GammaProcess
from thincrm.models.topics.factors import PoissonFactor
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.start import start_state
from thincrm.models.topics.state import TopicProblem, facts_of, shards_of
from thincrm.models.topics.sweep import SWEEP
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import using_threads
from thincrm.ports import Problem
from thincrm.thinning import Always, SigmoidGP

SWEEPS = 30


def corpus(path: str | None) -> tuple[sparse.csr_array, np.ndarray]:
    if path is not None:
        counts = as_counts(sparse.load_npz(path))
        table = np.genfromtxt(
            Path(path).with_name("sotu_docs.csv"), delimiter=",", names=True, dtype=None,
            encoding="utf-8", usecols=("decade",), invalid_raise=False,
        )  # fmt: skip
        return counts, np.asarray(table["decade"])
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(1000, 0.05), 100)
    rows = [rng.multinomial(66, rng.dirichlet(np.full(100, 0.05)) @ topics) for _ in range(6000)]
    return as_counts(np.array(rows)), np.sort(rng.integers(0, 22, 6000))


def problem(counts: sparse.csr_array, t: np.ndarray, n_topics: int, thinning) -> TopicProblem:
    known = covariates(t if isinstance(thinning, SigmoidGP) else np.zeros(len(t)))
    documents = tokens(counts)
    return Problem(
        levy=GammaProcess(5.0, 0.1), thinning=thinning,
        likelihood=TopicLikelihood(PoissonFactor(), None, None), prepared=thinning.prepare(known),
        shards=shards_of(documents, known.row.astype(np.int32)), trials=known.trials,
        n_atoms=n_topics, engine=Threads(), facts=facts_of(documents),
    )  # fmt: skip


def milliseconds(task: TopicProblem, n_threads: int, n_sweeps: int = SWEEPS) -> dict[str, float]:
    with using_threads(n_threads):
        state = start_state(sweep_generator(0, 0, 0), task)
        spent: dict[str, list[float]] = {}
        for sweep in range(n_sweeps):
            rng = sweep_generator(0, 0, sweep + 1)
            for update in SWEEP:
                start = time.perf_counter()
                state = update(rng, task, state)
                spent.setdefault(update.__name__, []).append(time.perf_counter() - start)
    return {name: 1e3 * float(np.median(times[n_sweeps // 6 :])) for name, times in spent.items()}


def threads_ratio(task: TopicProblem, n_sweeps: int = 8 * SWEEPS) -> float:
    """Return a sweep's time on one thread over that on two: medians, three sweeps each in turn.

    The first of three finds the data in another core's cache, and does not count.
    """
    spent: tuple[list[float], list[float]] = ([], [])
    with using_threads(2):
        state = start_state(sweep_generator(0, 0, 0), task)
        for sweep in range(n_sweeps):
            turn = sweep // 3 % 2
            with using_threads(1) if turn == 0 else nullcontext():
                start = time.perf_counter()
                for update in SWEEP:
                    state = update(sweep_generator(0, 0, sweep + 1), task, state)
                if sweep % 3 > 0:
                    spent[turn].append(time.perf_counter() - start)
    return float(np.median(spent[0]) / np.median(spent[1]))


def print_room(task: TopicProblem, n_sweeps: int = 10 * SWEEPS) -> None:
    """Print what a sweep takes, one thread, late in a chain with so much room for topics."""
    spent = []
    with using_threads(2):
        state = start_state(sweep_generator(0, 0, 0), task)
        for sweep in range(n_sweeps):
            late = sweep >= n_sweeps - SWEEPS
            with using_threads(1) if late else nullcontext():
                start = time.perf_counter()
                for update in SWEEP:
                    state = update(sweep_generator(0, 0, sweep + 1), task, state)
            spent += [time.perf_counter() - start] if late else []
    used, part = state.own.seats.size, state.evidence.seats.size
    print(
        f"room for {task.n_atoms:4} topics: {1e3 * float(np.median(spent)):.1f} ms; "
        f"{part} took part in the last sweep, {used} hold words"
    )


def chains_ratio(path: str | None, n_topics: int) -> float:
    """Return how much two chains get done, each a process of its own, against one alone.

    They share nothing, so this is what two cores of the machine have to give at the time.
    """
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        alone = pool.submit(_sweep, path, n_topics).result()
        both = [pool.submit(_sweep, path, n_topics) for _ in range(2)]
        return sum(alone / chain.result() for chain in both)


def _sweep(path: str | None, n_topics: int) -> float:
    return sum(milliseconds(problem(*corpus(path), n_topics, SigmoidGP()), 1, 4 * SWEEPS).values())


def lda_milliseconds(counts: sparse.csr_array, n_topics: int) -> float | None:
    try:
        import tomotopy  # noqa: PLC0415
    except ImportError:
        return None
    model = tomotopy.LDAModel(k=n_topics, seed=1)
    for d in range(counts.shape[0]):
        words = counts.indices[counts.indptr[d] : counts.indptr[d + 1]]
        number = counts.data[counts.indptr[d] : counts.indptr[d + 1]]
        model.add_doc([str(word) for word in np.repeat(words, number)])
    model.train(5, workers=1)
    start = time.perf_counter()
    model.train(SWEEPS, workers=1)
    return 1e3 * (time.perf_counter() - start) / SWEEPS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--topics", type=int, default=200)
    options = parser.parse_args()
    counts, t = corpus(options.data)
    print(f"{counts.shape[0]} documents, {int(counts.sum())} tokens, {options.topics} topics")
    parts = milliseconds(problem(counts, t, options.topics, SigmoidGP()), 1)
    for name, value in parts.items():
        print(f"  {name:20} {value:7.2f} ms")
    one = sum(parts.values())
    ratio = threads_ratio(problem(counts, t, options.topics, SigmoidGP()))
    chains = chains_ratio(options.data, options.topics)
    static = sum(milliseconds(problem(counts, t, options.topics, Always()), 1).values())
    print(f"dynamic sweep, one thread {one:.1f} ms; two threads {ratio:.2f} times as fast")
    print(f"two chains at once, a process each: {chains:.2f} times one")
    print(f"static sweep, one thread {static:.1f} ms")
    for n_topics in (options.topics, 2 * options.topics, 4 * options.topics):
        print_room(problem(counts, t, n_topics, SigmoidGP()))
    peer = lda_milliseconds(counts, options.topics)
    if peer is not None:
        print(f"tomotopy LDA, one worker {peer:.1f} ms: a dynamic sweep is {one / peer:.2f} of it")


if __name__ == "__main__":
    main()
