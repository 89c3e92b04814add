"""Arrays that come and go use the same memory again, though the C library was told otherwise."""

import ctypes
import os
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys, threading
import numpy as np
from thincrm.numerics.freed_memory import keep_freed_memory

def come_and_go():
    global n_faults
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(100):
        np.ones(2**18)  # 2 MB
    n_faults = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before

if sys.argv[1] == "keep":
    keep_freed_memory()
thread = threading.Thread(target=come_and_go)  # as a worker's tasks are run
thread.start()
thread.join()
print(n_faults)
"""


def n_faults(how: str) -> int:
    told = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", FAULTS, how]
    return int(subprocess.run(command, env=told, capture_output=True, check=True).stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="this is not glibc")
def test_arrays_use_the_memory_of_those_before_them():
    page_by_page, kept = n_faults("as told"), n_faults("keep")
    assert page_by_page > 10_000
    assert kept < 2_000
