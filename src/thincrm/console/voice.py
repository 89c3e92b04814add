"""What a command says: sentences and tables, or nothing, or one JSON object."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from rich.console import Console, RenderableType

from thincrm.errors import Sentence, in_shell
from thincrm.numerics.waiting import telling
from thincrm.printable import printable

__all__ = ["Voice", "say_no_numbers", "say_row_numbers", "say_skipped"]

_MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Voice:
    """Where words go. Quiet: nowhere; JSON: only the result is printed, as one object."""

    quiet: bool = False
    json: bool = False

    @property
    def silent(self) -> bool:
        """Return whether no sentences are printed."""
        return self.quiet or self.json

    def say(self, what: RenderableType) -> None:
        """Print a sentence as it is, or something that rich draws."""
        if self.silent:
            return
        plain = isinstance(what, str)
        said = printable(in_shell(what)) if isinstance(what, str) else what
        Console().print(said, markup=False, highlight=False, soft_wrap=plain)

    def telling(self, what: str) -> AbstractContextManager[None]:
        """Say on standard error what is going on, if it takes long."""
        return telling(printable(what), quiet=self.quiet)

    def result(self, **found: object) -> None:
        """Print the result for another program."""
        if self.json:
            known = {name: _or_null(value) for name, value in found.items()}
            print(json.dumps(known, default=str, allow_nan=False))


def say_skipped(voice: Voice, skipped: int, first: str = "") -> None:
    """Say how many rows could not be read, and which was the first."""
    if skipped:
        more = "; the first: " if first else "."
        voice.say(Sentence(f"{skipped:,} bad rows were skipped{more}", first))


def say_row_numbers(voice: Voice, names: Sequence[str]) -> None:
    """Say which columns were left out because they only number the rows."""
    for name in names:
        called = f"Column {name}" if name.strip() else "A column without a name"
        voice.say(f"{called} numbers the rows and is left out (--column says which to take).")


def say_no_numbers(voice: Voice, names: Sequence[str]) -> None:
    """Say which columns were left out because they hold no numbers."""
    if names:
        more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        voice.say(f"Left out, as they hold no numbers: {', '.join(names[:_MOST_NAMES])}{more}.")


def _or_null(value: object) -> object:
    """Return None for a number that JSON does not have, such as the error of a single draw."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
