"""Files of every kind, damaged at random: read, or refused in one printable sentence.

Budget and seed are those of docs/reading.md.
"""

import signal
import sys
import tempfile
import traceback
from pathlib import Path

import bombs
import mutations
import numpy as np
import pytest

import thincrm as tc
from thincrm.errors import ThincrmError

SEED, QUICK, SLOW = 20261116, 300, 50_000
MOST_SECONDS, MOST_MB = 10, 200
FILES = mutations.whole_files()


def readers(path):
    if path.suffix in (".npz", ".mtx", ".ldac") or path.name == "uci.txt":
        return [lambda: tc.read_counts(path)]
    if path.name == "words.txt":
        return [lambda: tc.read_counts([[(0, 1)]], path), lambda: tc.read_counts(path)]
    if path.suffix == ".txt":
        return [lambda: tc.read_texts(path.parent, date="name")]
    if path.name == "metadata.csv":
        return [lambda: tc.read_texts(path.parent / "two", date="when", metadata=path)]
    return [
        lambda: tc.read_texts(path, date="date", covariates="x", skip_bad=True),
        lambda: tc.read_texts(path, covariates="x"),
        lambda: tc.read_table(path, "date", skip_bad=True),
        lambda: tc.read_table(path, "x", label="text"),
    ]


def told(read):
    try:
        read()
    except ThincrmError as error:
        return str(error)
    return ""


def too_long(*_):
    raise TimeoutError


def attack(name, count, folder):
    """Return what went wrong in `count` mutations of a file: the seed of each, and what."""
    bombs.forget_peak()
    before, path, wrong = bombs.peak_mb(), folder / name, []
    (folder / "two").mkdir()
    for beside in ("two/a.txt", "two/b.txt"):
        (folder / beside).write_text("war and peace")
    path.parent.mkdir(exist_ok=True)
    signal.signal(signal.SIGALRM, too_long)
    for number in range(count):
        path.write_bytes(mutations.mutated(FILES[name], np.random.default_rng([SEED, number])))
        for which, read in enumerate(readers(path)):
            signal.alarm(MOST_SECONDS)
            try:
                sentence = told(read)
            except BaseException:
                wrong.append(f"mutation {number}, reader {which}: {traceback.format_exc()}")
            else:
                if not sentence.isprintable() or len(sentence) > 2000:
                    wrong.append(f"mutation {number}, reader {which}: says {sentence!r}")
            finally:
                signal.alarm(0)
    if bombs.peak_mb() - before > MOST_MB:
        wrong.append(f"{bombs.peak_mb() - before:.0f} MB were taken")
    return wrong


@pytest.mark.parametrize("name", FILES)
def test_some_mutations(name, tmp_path):
    assert attack(name, QUICK, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_many_mutations(name, tmp_path):
    assert attack(name, SLOW, tmp_path) == []


if __name__ == "__main__":  # python test_mutations.py a.csv 1000
    with tempfile.TemporaryDirectory() as place:
        found = attack(sys.argv[1], int(sys.argv[2]), Path(place))
    print("\n".join(found) or "nothing went wrong")
