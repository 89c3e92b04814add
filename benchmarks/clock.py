"""What the benchmarks share: processor time. `make bench` holds linear algebra to one thread."""

import time

__all__ = ["best_seconds"]


def best_seconds(call, repeats=5):
    """Return the least processor time of `repeats` calls, after one that does not count."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)
