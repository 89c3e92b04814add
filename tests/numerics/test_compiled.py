import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import thincrm
from thincrm.numerics import cholesky, streams, variates
from thincrm.numerics.source_stamp import _imported, source_stamp

DIGEST = Path(__file__).with_name("plain_digest.py")


def run(*arguments, before=(), **environment):
    return subprocess.run(
        [*before, sys.executable, *map(str, arguments)],
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
    for module in (cholesky, streams, variates):
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
    (package / "models" / "topics" / "model.py").write_text("# no loop imports this", "utf-8")
    assert run("-c", CODE, **place).stderr == ""
    streams_file = package / "numerics" / "streams.py"
    changed = streams_file.read_text("utf-8").replace("2.0**-52", "2.0**-53")
    streams_file.write_text(changed, "utf-8")
    edited = run("-c", CODE, **place)
    assert edited.stderr.count("thincrm: compiling") == 1
    assert edited.stdout != cold.stdout


def test_what_a_loop_is_made_of():
    """Files a loop's module imports, and what those import; a stranger's loop may use any file."""
    stamps = [
        source_stamp(f"thincrm.numerics.{name}") for name in ("streams", "variates", "powers")
    ]
    assert len({*stamps, source_stamp("my_model"), source_stamp("other_model")}) == 4
    imported = {path.stem for path in _imported(Path(variates.__file__))}
    assert {"compiled", "streams"} <= imported


QUIETLY = """
from thincrm.numerics.compiled import compiling_quietly
with compiling_quietly(True):
    import numpy as np
    from thincrm.numerics.streams import new_stream
    new_stream(np.uint64(1), 2)
"""


def test_who_asks_for_quiet_hears_nothing_of_compiling(tmp_path):
    assert run("-c", QUIETLY, NUMBA_CACHE_DIR=str(tmp_path)).stderr == ""


FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
"""


def test_a_full_disk_costs_the_kept_loop_not_the_run(tmp_path):
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    full, free = run("-c", FULL_DISK + CODE, **place), run("-c", CODE, **place)
    assert full.stdout == free.stdout
    assert full.stderr.count("compiled loops are not kept (File too large)") == 1
    assert free.stderr.count("\n") == 1


IS_ROOT = hasattr(os, "getuid") and os.getuid() == 0
UNPRIVILEGED = ("setpriv", "--bounding-set=-all") if IS_ROOT else ()  # root may write anywhere


@pytest.fixture
def read_only(tmp_path):
    """Return a copy of the package that cannot be written to."""
    package = tmp_path / "site" / "thincrm"
    shutil.copytree(
        Path(thincrm.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield package
    for folder in folders:
        folder.chmod(0o755)


@pytest.mark.skipif(IS_ROOT and not shutil.which("setpriv"), reason="root may write anywhere")
@pytest.mark.parametrize("prepared", ["nothing", "open to others", "a link"])
def test_a_read_only_installation_without_a_home_compiles_elsewhere(tmp_path, read_only, prepared):
    """An ordinary container, and a user other than root."""
    spare, other = tmp_path / "spare", tmp_path / "other"
    spare.mkdir()
    other.mkdir()
    usual = spare / f"thincrm-loops-{os.getuid()}"
    if prepared == "open to others":
        usual.mkdir()
        usual.chmod(0o777)
    elif prepared == "a link":
        usual.symlink_to(other)
    place = {
        "PYTHONPATH": str(read_only.parent),
        "HOME": "/proc/none",
        "XDG_CACHE_HOME": "/proc/none",
        "NUMBA_CACHE_DIR": "",
        "TMPDIR": str(spare),
    }
    cold, warm = (run("-c", CODE, before=UNPRIVILEGED, **place) for _ in range(2))
    assert cold.stderr.count("\n") == 1
    assert f"kept in {spare}/thincrm-loops-" in cold.stderr
    assert "NUMBA_CACHE_DIR names another place" in cold.stderr
    assert warm.stdout == cold.stdout
    if prepared == "nothing":
        assert warm.stderr == ""  # compiled once
        assert usual.stat().st_mode & 0o777 == 0o700
    else:  # what lies there would be run
        assert not any(usual.iterdir())
        assert not any(other.iterdir())


@pytest.mark.skipif(IS_ROOT and not shutil.which("setpriv"), reason="root may write anywhere")
def test_where_nothing_can_be_written_loops_are_compiled_all_the_same(read_only):
    place = {"HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none", "NUMBA_CACHE_DIR": ""}
    code = f"import tempfile; tempfile.tempdir = '/proc/none'\n{CODE}"
    done = run("-c", code, before=UNPRIVILEGED, PYTHONPATH=str(read_only.parent), **place)
    assert "kept nowhere: name a folder in NUMBA_CACHE_DIR" in done.stderr
    assert done.stdout == run("-c", CODE).stdout
