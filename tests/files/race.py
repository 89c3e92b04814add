"""Processes that begin a run in one new folder at the same moment; run as a script."""

import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.console.run_source import kept_reading, kept_texts

TEXTS, OWN = ("war peace", "tax money"), ("alpha", "beta", "gamma", "delta")
MORE = ("--text", "body", "--date", "date", "--sweeps", "60", "--draws", "1", "--max-topics", "3",
        "--threads", "1", "--quiet")  # fmt: skip


def topics(corpus, out):
    warnings.simplefilter("ignore")
    return CliRunner().invoke(app, ["topics", str(corpus), "--out", str(out), *MORE])


def write_corpora(folder, n_processes):
    """Write a corpus for each process: its name, and a word of its own, tell whose it was."""
    for number in range(n_processes):
        rows = [f"{1800 + i},{OWN[number]} {TEXTS[i % 2]}" for i in range(12)]
        (folder / f"{number}.csv").write_text("\n".join(["date,body", *rows]) + "\n")


def race(folder, out, n_processes):
    """Let all begin at once; return {number: (process, code, what it said)}."""
    start, go = os.pipe()
    found, children = {}, {}
    for number in range(n_processes):
        answer, say = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(start, 1)  # ends when the parent closes the other end
            done = topics(folder / f"{number}.csv", out)
            os.write(say, f"{done.exit_code} {done.stderr or done.exception!r}".encode()[:4000])
            os._exit(0)
        os.close(say)
        children[number] = child, answer
    os.close(start)
    os.close(go)
    for number, (child, answer) in children.items():
        with os.fdopen(answer, "rb") as file:
            said = file.read().decode()
        os.waitpid(child, 0)
        code, _, text = said.partition(" ")
        found[number] = child, int(code), text.strip()
    return found


def check(folder, out, found):
    """One wins, and all in the folder is its own; the others say who holds it, or that it is."""
    winners = [number for number, (_, code, _) in found.items() if code == 0]
    assert len(winners) == 1, found
    (winner,) = winners
    process = found[winner][0]
    for number, (_, code, said) in found.items():
        if number == winner:
            continue
        assert code == 2, found
        holder = re.search(r"is being written by process (\d+) on ", said)
        assert holder or "holds a finished run" in said, found
        assert holder is None or int(holder[1]) == process, (process, found)
    assert kept_reading(out)["source"] == f"{winner}.csv", found
    model = tc.load(out)
    assert model.complete_
    texts = kept_texts(out, model.counts_.shape[0])
    assert texts is not None
    assert all(OWN[winner] in text for text in texts), found
    assert OWN[winner] in list(model.vocabulary_)
    assert not list(out.rglob(".tmp-*"))
    return sum("being written" in said for _, _, said in found.values())


def main(n_rounds, n_processes):
    """Race so many times, and say how many losers met the winner at work."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpora(folder, n_processes)
        assert topics(folder / "0.csv", folder / "first").exit_code == 0  # compiled, for all
        met = 0
        for number in range(n_rounds):
            out = folder / f"run{number}"
            met += check(folder, out, race(folder, out, n_processes))
        print(f"{n_rounds} rounds of {n_processes}: {met} losers met the winner at work")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
