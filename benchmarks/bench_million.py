"""A million documents by days: the whole command, killed on the way; its page and tables.

    python benchmarks/bench_million.py --counts commits_counts.npz --days commits_days.npz \\
        --folder place [--kill-after 120]

`thincrm topics` at a terminal, killed (-9) after so many seconds; once more, and it is `thincrm
resume`; without --kill-after it goes on to the end, and `thincrm report` follows. Prints time,
processor time, peak memory and silences of each, and the size and a digest of what is in the run's
tables: the digest does not depend on the kills.
Default settings but for --sweeps and --threads. Without files nothing is done.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from watched import watch


def write_corpus(counts: str, days: str, n_documents: int | None, folder: Path) -> None:
    every, day = sparse.csr_array(sparse.load_npz(counts)), np.load(days)["day"]
    chosen = np.arange(every.shape[0])
    if n_documents is not None:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, n_documents, replace=False))
    sparse.save_npz(folder / "counts.npz", every[chosen], compressed=False)
    table = pd.DataFrame({"day": pd.to_datetime(day[chosen], unit="D")})
    table.to_csv(folder / "days.csv", index=False)


def digest(tables: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(tables.iterdir()):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--counts")
    parser.add_argument("--days")
    parser.add_argument("--documents", type=int)
    parser.add_argument("--sweeps", default="150")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--kill-after", type=float, default=float("inf"))
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if not (options.counts and options.days):
        return
    with tempfile.TemporaryDirectory() as own:
        folder = options.folder or Path(own)
        out, log, thincrm = folder / "run", folder / "log", [sys.executable, "-m", "thincrm"]
        if not (folder / "days.csv").exists():
            write_corpus(options.counts, options.days, options.documents, folder)
        command = ["topics", str(folder / "counts.npz"), "--metadata", str(folder / "days.csv")]
        command += ["--date", "day", "--sweeps", options.sweeps]
        command += ["--threads", options.threads, "--out", str(out)]
        if out.exists():
            command = ["resume", str(out)]
        if watch([*thincrm, *command], log, options.kill_after) is None:
            return
        watch([*thincrm, "report", str(out)], log)
        print(f"page: {(out / 'report.html').stat().st_size / 1e6:.2f} MB")
        for path in sorted((out / "tables").iterdir()):
            print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
        print(f"digest of the tables: {digest(out / 'tables')}")


if __name__ == "__main__":
    main()
