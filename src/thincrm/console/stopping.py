"""How a command that fits a model ends when it is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from thincrm.printable import printable

__all__ = ["INTERRUPTED", "end_of", "resumable"]

INTERRUPTED = 130


@contextmanager
def resumable(run: Path) -> Iterator[None]:
    """Say how to go on with a run that was interrupted before there was anything to show."""
    try:
        yield
    except KeyboardInterrupt:
        if not (run / "settings.json").exists():
            raise
        _say(f"Interrupted before the first draw: 'thincrm resume {run}' goes on.")
        raise typer.Exit(INTERRUPTED) from None


def end_of(run: Path, complete: bool) -> None:
    """End with the code of an interrupt if the run did not get to its end."""
    if not complete:
        _say(f"Interrupted: 'thincrm resume {run}' goes on.")
        raise typer.Exit(INTERRUPTED)


def _say(sentence: str) -> None:
    typer.secho(printable(sentence), fg="red", err=True)
