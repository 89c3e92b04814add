"""Two and four processes that begin in one new folder: one has it, the others touch nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("race.py")


def race(n_rounds, n_processes):
    command = [sys.executable, SCRIPT, str(n_rounds), str(n_processes)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    print(run.stdout)
    assert " 0 losers" not in run.stdout  # else there was no race


@pytest.mark.parametrize("n_processes", [2, 4])
def test_one_of_several_beginners_has_the_folder(n_processes):
    race(4, n_processes)


@pytest.mark.slow
@pytest.mark.parametrize("n_processes", [2, 4])
def test_two_hundred_races(n_processes):
    race(200, n_processes)
