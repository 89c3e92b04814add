"""A sweep on a Dask cluster against the same sweep on threads: time, and the same bits.

    python benchmarks/bench_cluster.py [--counts commits_counts.npz --days commits_days.npz]
        [--workers 1 2 4] [--sweeps 6] [--kill]

Scheduler and workers are processes of this machine, workers of one thread each; all chains begin
at one state and make their sweeps in turns, since the speed of a machine that others use drifts.
Prints seconds a sweep by the clock (the median), of them those that the driver itself works, a
digest of the state at the end, and medians of the ratios within a turn. With --kill a worker is
killed (-9) before every second sweep, and its place taken by another.
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
from contextlib import ExitStack, contextmanager, nullcontext
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


class Run:
    """Sweeps of one chain on one engine, one when asked."""

    def __init__(self, name: str, task: TopicProblem, state, client=None) -> None:
        self.name, self.task, self.state, self.client = name, task, state, client
        self.clock, self.own = [], []

    def sweep(self, kill: bool) -> None:
        """Make a sweep; with kill a worker is killed before every second one."""
        if kill and self.client is not None and len(self.clock) % 2 == 1:
            os.kill(min(self.client.run(os.getpid).values()), signal.SIGKILL)
        own_threads = self.task.engine.running() if self.client is None else nullcontext()
        began, worked = time.perf_counter(), time.process_time()
        with own_threads:
            for update in SWEEP:
                rng = sweep_generator(0, 0, len(self.clock) + 1)
                self.state = update(rng, self.task, self.state)
        self.clock.append(time.perf_counter() - began)
        self.own.append(time.process_time() - worked)

    def digest(self) -> str:
        """Return a few letters that stand for the state."""
        found = hashlib.sha256(self.state.own.theta.tobytes())
        for local in self.task.engine.fetch(self.state.local):
            found.update(local.topic.tobytes())
        return found.hexdigest()[:12]

    def say(self) -> None:
        """Print the median, the range, the driver's time and the digest."""
        clock, own = self.clock[1:], np.median(self.own[1:])
        print(
            f"{self.name}: {np.median(clock):.2f} s a sweep ({min(clock):.2f} to {max(clock):.2f})"
            f", driver {own:.2f} s of processor time, digest {self.digest()}",
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
    with ExitStack() as open_now:
        runs = [Run("one thread", replace(task, engine=Threads(1)), state)]
        runs += [Run("two threads", replace(task, engine=Threads(2), latest=[]), state)]
        for n_workers in options.workers:
            client = open_now.enter_context(cluster(n_workers))
            there = replace(task, engine=DaskEngine(client), latest=[])
            name = f"{n_workers} worker{'s' * (n_workers > 1)}"
            runs.append(Run(name, there, state, client))
        open_now.enter_context(one_blas_thread())  # as chains run
        for run in runs[2:]:
            open_now.enter_context(run.task.engine.running())
        for _ in range(options.sweeps):
            for run in runs:
                run.sweep(options.kill)
        for run in runs:
            run.say()
    for run, other in [
        (runs[1], runs[0]),
        (runs[0], runs[2]),
        *((run, runs[2]) for run in runs[3:]),
    ]:
        share = np.array(other.clock[1:]) / np.array(run.clock[1:])
        print(f"{run.name}: {np.median(share):.2f} times as fast as {other.name} (in turns)")


if __name__ == "__main__":
    main()
