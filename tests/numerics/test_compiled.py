import os
import shutil
import subprocess
import sys
from pathlib import Path

import thincrm
from thincrm.numerics import linear, streams, variates

DIGEST = Path(__file__).with_name("plain_digest.py")


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_every_compiled_loop_equals_its_plain_body_bit_for_bit():
    plain = run(DIGEST, NUMBA_DISABLE_JIT="1").stdout.splitlines()
    assert run(DIGEST).stdout.splitlines() == plain
    assert len({line.split()[-1] for line in plain}) == len(plain)


def test_no_loop_is_left_out():
    shown = DIGEST.read_text("utf-8")
    for module in (linear, streams, variates):
        for name in module.__all__:
            if hasattr(getattr(module, name), "py_func"):
                assert name in shown or name in {"open_stream", "solve_factor", "solve_transposed"}


CODE = """
import numpy as np
from thincrm.numerics.streams import new_stream
from thincrm.numerics.variates import normal
print(normal(new_stream(np.uint64(1), 2)))
"""


def test_loops_are_compiled_once_and_again_when_a_file_they_inline_changes(tmp_path):
    """A loop of one file holds a copy of the loops it calls, whatever file those stand in."""
    package = tmp_path / "thincrm"
    shutil.copytree(
        Path(thincrm.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    place = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    cold, warm = (run("-c", CODE, **place) for _ in range(2))
    assert cold.stderr.count("thincrm: compiling") == 1
    assert cold.stderr.count("\n") == 1
    assert warm.stderr == ""
    assert warm.stdout == cold.stdout
    streams_file = package / "numerics" / "streams.py"
    changed = streams_file.read_text("utf-8").replace("2.0**-52", "2.0**-53")
    streams_file.write_text(changed, "utf-8")
    edited = run("-c", CODE, **place)
    assert edited.stderr.count("thincrm: compiling") == 1
    assert edited.stdout != cold.stdout
