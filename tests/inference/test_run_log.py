"""Checkpoints from a stranger: what is no place of a run is a sentence."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from thincrm.errors import DamagedFile
from thincrm.inference import run_log
from thincrm.inference.run_log import ChainState, read_checkpoint
from thincrm.inference.schedule import Schedule

SCHEDULE = Schedule(n_sweeps=6, n_draws=2, n_chains=2, seed=1)
TRACE = {"chain": np.array([0] * 6 + [1] * 2), "sweep": np.array([*range(1, 7), 1, 2])}
PLACES = [ChainState(0, 6, "its end"), ChainState(1, 2, "a state")]


def test_places_and_trace_are_read():
    places, rows = read_checkpoint({"chains": PLACES, "trace": TRACE}, SCHEDULE)
    assert places == PLACES
    assert [row["sweep"] for row in rows] == TRACE["sweep"].tolist()


@pytest.mark.parametrize(
    "found",
    [
        None, 3, "text", [], {}, {"chains": PLACES}, {"chains": 3, "trace": TRACE},
        {"chains": PLACES[:1], "trace": TRACE}, {"chains": PLACES[::-1], "trace": TRACE},
        {"chains": PLACES, "trace": {}}, {"chains": PLACES, "trace": TRACE, "more": 1},
        {"chains": [PLACES[0], PLACES[1]._replace(state=None)], "trace": TRACE},
        {"chains": [PLACES[0], PLACES[1]._replace(sweep=3)], "trace": TRACE},
        {"chains": [PLACES[0], PLACES[1]._replace(sweep=7)], "trace": TRACE},
        {"chains": [PLACES[0]._replace(state=None), PLACES[1]], "trace": TRACE},
    ],
)  # fmt: skip
def test_what_is_no_place_of_the_run_is_refused(found):
    with pytest.raises(DamagedFile, match=r"where the run stood|not a table"):
        read_checkpoint(found, SCHEDULE)


@pytest.mark.parametrize(("cost", "apart"), [(0.0, 5.0), (1.0, 20.0)])
def test_checkpoints_come_every_five_seconds_or_take_a_twentieth(monkeypatch, cost, apart):
    """Where one takes a second to write they are twenty seconds apart, sweeps of half a second."""
    clock, written = SimpleNamespace(at=0.0), []

    class Folder:
        write_length = write_results = None

        def write_draws(self, draws):
            assert not draws

        def write_checkpoint(self, value):
            written.append(clock.at)
            clock.at += cost

    monkeypatch.setattr(run_log, "time", SimpleNamespace(monotonic=lambda: clock.at))
    log = run_log.RunLog(Schedule(n_sweeps=1000, n_draws=1, n_chains=1, seed=1), Folder())
    for sweep in range(1, 200):
        clock.at += 0.5
        log.note(0, sweep, None, {"chain": 0, "sweep": sweep})
    assert len(written) > 3
    assert set(np.diff(written)) == {apart}


@dataclass(frozen=True)
class Draw:
    """A draw as a model may keep one: arrays, and records of arrays."""

    sweep: int
    x: np.ndarray
    curve: object


class Curve(NamedTuple):
    weights: np.ndarray


def test_draws_are_kept_in_the_order_that_files_have():
    """Else sums over draws would have other bits before and after they are read from files."""
    log = run_log.RunLog(Schedule(n_sweeps=1, n_draws=1, n_chains=1, seed=1))
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    log.note(0, 1, None, {"chain": 0, "sweep": 1}, Draw(1, array, Curve(array.T[::-1])))
    (draw,) = log.draws
    for found, given in ((draw.x, array), (draw.curve.weights, array.T[::-1])):
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, given)
