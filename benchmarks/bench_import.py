"""How long a user waits: the import, and the first compiled call of an installation."""

import os
import subprocess
import sys
import tempfile

IMPORT = "import thincrm"
EVERYTHING = "import thincrm; [getattr(thincrm, name) for name in thincrm.__all__]"
SET_UP = """
import numpy as np, thincrm as tc
thinning = tc.ProbitRVM()
prepared = thinning.prepare(np.arange(10))
evidence = tc.GateEvidence.from_counts(np.full((10, 2), 3), np.full(10, 60))
x = thinning.draw(0, 2, prepared)
"""
REDRAW = "thinning.redraw(0, x, evidence, prepared)"
TIMED = """
import time
wall, busy = time.perf_counter(), time.process_time()
{code}
print(time.perf_counter() - wall, time.process_time() - busy)
"""


def seconds(code, cache, set_up=""):
    """Return the wall and the processor time of some code in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", set_up + TIMED.format(code=code)],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(map(float, done.stdout.split()))


def show(what, times, target=None):
    goal = f"  target {target:g} s" if target else ""
    print(f"  {what:36} {times[0]:6.2f} s, processor {times[1]:6.2f} s{goal}")


def main():
    with tempfile.TemporaryDirectory() as cache:
        show(IMPORT, min(seconds(IMPORT, cache) for _ in range(5)), 0.6)
        show("import thincrm and all its names", min(seconds(EVERYTHING, cache) for _ in range(5)))
        show("first redraw, nothing compiled yet", seconds(REDRAW, cache, SET_UP), 10)
        show("first redraw of a later process", seconds(REDRAW, cache, SET_UP))


if __name__ == "__main__":
    main()
