"""Text of others, made fit for a terminal."""

from __future__ import annotations

import re

__all__ = ["printable"]

_JOINERS = "\u200c\u200d"  # words of Persian, Hindi and others are written with them
_SUSPECT = re.compile(r"[^\x20-\x7e]")


def printable(text: str) -> str:
    r"""Return text with nothing in it that a terminal obeys or that turns what is read around.

    Control characters (the escape that begins a sequence, line ends), marks of writing direction,
    lone surrogates and what else no letter stands for become \x1b, \u202e and the like.
    """
    return _SUSPECT.sub(_visible, text)


def _visible(found: re.Match[str]) -> str:
    letter = found[0]
    if letter.isprintable() or letter in _JOINERS:
        return letter
    return repr(letter)[1:-1]
