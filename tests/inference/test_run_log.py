"""Checkpoints from a stranger: what is no place of a run is a sentence."""

import numpy as np
import pytest

from thincrm.errors import DamagedFile
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
