"""A word on standard error where work takes long before there is progress to show."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["telling"]

_FIRST, _THEN = 5.0, 30.0  # seconds of silence


@contextmanager
def telling(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Say what is going on if it still is after five seconds, and every half minute from there."""
    if quiet:
        yield
        return
    done, start = threading.Event(), time.monotonic()

    def tell() -> None:
        wait = _FIRST
        while not done.wait(wait):
            sys.stderr.write(f"thincrm: {what}, {time.monotonic() - start:.0f} s so far ...\n")
            sys.stderr.flush()
            wait = _THEN

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
