"""Ctrl-C as a wish: taken down when it comes, answered where a run can stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupts", "is_interrupt"]


class Interrupts:
    """Keep an interrupt away from compiled calls, out of which it may come as another error.

    A second one is raised at once. Signals reach the main thread only, and a handler of somebody
    else's is left alone.
    """

    def __init__(self) -> None:
        self._wished = self._answered = False

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Take down interrupts inside."""
        before = signal.getsignal(signal.SIGINT)
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or before is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._take_down)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _take_down(self, number: int, frame: FrameType | None) -> None:
        if self._wished:
            raise KeyboardInterrupt
        self._wished = True

    def answer(self) -> None:
        """Raise the interrupt that was taken down, once: what it stops may still be noted."""
        if self._wished and not self._answered:
            self._answered = True
            raise KeyboardInterrupt

    def caused(self, error: BaseException | None) -> bool:
        """Tell whether an error is an interrupt, or what a compiled call made of one."""
        return is_interrupt(error) or (isinstance(error, SystemError) and self._wished)


def is_interrupt(error: BaseException | None) -> bool:
    """Tell whether an error is an interrupt, or came of one."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
