"""A sweep on a Dask cluster against the same sweep on threads: time, and the same bits.

    python benchmarks/bench_cluster.py [--counts commits_counts.npz --days commits_days.npz]
        [--workers 1 2 4] [--sweeps 6] [--kill]

Scheduler and workers are processes of this machine, workers of one thread each; all sweeps begin
at one state. Prints seconds a sweep by the clock (the median), of them those that the driver
itself works, and a digest of the state at the end. With --kill a worker is killed (-9) before
every second sweep, and its place taken by another.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from bench_commits import made_up
from thincrm.data.counts import as_counts, tokens
from thincrm.data.covariates import covariates
from thincrm.data.rounding import rounded
from thincrm.inference.dask_engine import DaskEngine
from thincrm.inference.engine import Threads
from thincrm.levy import GammaProcess
from thincrm.models.topics.factors import PoissonFactor
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.start import start_state
from thincrm.models.topics.state import TopicProblem, facts_of, shards_of
from thincrm.models.topics.sweep import SWEEP
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import one_blas_thread
from thincrm.ports import Problem
from thincrm.thinning import SigmoidGP

TOPICS, MADE_UP, ROWS = 200, 60_000, 300


def problem(counts: str | None, days: str | None) -> TopicProblem:
    if counts and days:
        table, day = as_counts(sparse.load_npz(counts)), np.load(days)["day"]
    else:
        table, day = made_up(MADE_UP)
    known, documents, thinning = rounded(covariates(day), ROWS), tokens(table), SigmoidGP()
    size = min(2**21, documents.word.size // 8)
    return Problem(
        levy=GammaProcess(5.0, 0.1), thinning=thinning,
        likelihood=TopicLikelihood(PoissonFactor(), None, None), prepared=thinning.prepare(known),
        shards=shards_of(documents, known.row.astype(np.int32), size), trials=known.trials,
        n_atoms=TOPICS, engine=Threads(2), facts=facts_of(documents),
    )  # fmt: skip


@contextmanager
def cluster(n_workers: int) -> Iterator[object]:
    """Hold a client of a scheduler and so many workers, each a process with a nanny."""
    from distributed import Client  # noqa: PLC0415

    dask, quiet = [sys.executable, "-m", "dask"], {"stderr": subprocess.DEVNULL}
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder) / "scheduler.json"
        place = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0"]
        place += ["--scheduler-file", str(known)]
        running = [subprocess.Popen([*dask, "scheduler", *place], **quiet)]
        try:
            while not known.exists() or not known.read_text():
                time.sleep(0.1)
            address = json.loads(known.read_text())["address"]
            here = [address, "--nthreads", "1", "--local-directory", folder]
            for _ in range(n_workers):
                running.append(subprocess.Popen([*dask, "worker", *here], **quiet))
            with Client(address, set_as_default=False) as client:
                client.wait_for_workers(n_workers)
                yield client
        finally:
            for process in running[::-1]:
                process.terminate()
                process.wait()


def run(name: str, task: TopicProblem, state, n_sweeps: int, client=None, kill=False) -> None:
    clock, own, found = [], [], hashlib.sha256()
    with task.engine.running(), one_blas_thread():  # as chains run
        for sweep in range(n_sweeps):
            if kill and sweep % 2 == 1:
                os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)
            began, worked = time.perf_counter(), time.process_time()
            for update in SWEEP:
                state = update(sweep_generator(0, 0, sweep + 1), task, state)
            clock.append(time.perf_counter() - began)
            own.append(time.process_time() - worked)
        for local in task.engine.fetch(state.local):
            found.update(local.topic.tobytes())
    found.update(state.own.theta.tobytes())
    print(
        f"{name}: {np.median(clock[1:]):.2f} s a sweep ({min(clock[1:]):.2f} to "
        f"{max(clock[1:]):.2f}), driver {np.median(own[1:]):.2f} s of processor time, digest "
        f"{found.hexdigest()[:12]}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--counts")
    parser.add_argument("--days")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sweeps", type=int, default=6)
    parser.add_argument("--kill", action="store_true")
    options = parser.parse_args()
    try:
        import distributed  # noqa: F401, PLC0415
    except ImportError:
        return
    task = problem(options.counts, options.days)
    with task.engine.running():
        state = start_state(sweep_generator(0, 0, 0), task)
    print(f"{task.facts.n_tokens:,} tokens in {len(task.shards)} shards", flush=True)
    run("one thread", replace(task, engine=Threads(1)), state, options.sweeps)
    for n_workers in options.workers:
        with cluster(n_workers) as client:
            there = replace(task, engine=DaskEngine(client), latest=[])
            name = f"{n_workers} worker{'s' * (n_workers > 1)}"
            run(name, there, state, options.sweeps, client, options.kill)


if __name__ == "__main__":
    main()
