"""Failures as sentences: what is wrong, where, and what to do.

Python and the command line call some things by different names: `n_sweeps` is `--sweeps` there. A
`Sentence` holds both wordings. It is a `str` in the words of Python; `in_shell` returns the other.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Self

from thincrm.printable import printable

__all__ = [
    "CannotWrite",
    "DamagedFile",
    "InvalidInput",
    "InvalidType",
    "RunInUse",
    "Sentence",
    "ThincrmError",
    "UndefinedMoment",
    "argument",
    "check_between",
    "check_count",
    "check_finite",
    "check_positive",
    "either",
    "in_shell",
    "resume_call",
    "sentence_of",
]

_OPTIONS = {"random_state": "--seed"}  # whose option has another name


class Sentence(str):
    """Text in the words of Python, and in `.shell` in those of the command line.

    It is joined from parts: plain text, which is the same for both, and other sentences.
    """

    shell: str

    def __new__(cls, *parts: str) -> Self:
        """Join the parts."""
        said = super().__new__(cls, "".join(parts))
        said.shell = "".join(getattr(part, "shell", part) for part in parts)
        return said


def either(python: str, shell: str) -> Sentence:
    """Return what Python calls `python` and the command line `shell`."""
    said = Sentence(python)
    said.shell = shell
    return said


def argument(name: str) -> Sentence:
    """Return the name of an argument: `n_sweeps` in Python, `--sweeps` on the command line."""
    plain = name.removeprefix("n_").replace("_", "-")
    return either(name, _OPTIONS.get(name, f"--{plain}" if name.isidentifier() else name))


def resume_call(path: object) -> Sentence:
    """Return what goes on with the run in a folder."""
    return either(f"thincrm.resume({str(path)!r})", f"'thincrm resume {path}'")


def in_shell(said: object) -> str:
    """Return a sentence, an error or a warning in the words of the command line."""
    if isinstance(said, BaseException):
        said = sentence_of(said)
    return str(getattr(said, "shell", said))


def sentence_of(error: BaseException) -> str:
    """Return what an error says, in both wordings if it has them."""
    said = error.args[0] if error.args else None
    return said if isinstance(said, Sentence) else str(error)


class ThincrmError(Exception):
    """Base of every error this library raises on purpose.

    Its sentence is joined from parts, and printed with nothing in it that a terminal obeys.
    """

    def __init__(self, *parts: str) -> None:
        super().__init__(Sentence(*parts))

    def __str__(self) -> str:
        return printable(super().__str__())


class InvalidInput(ThincrmError, ValueError):
    """A value that cannot be used; the sentence names the argument and the fix."""


class InvalidType(ThincrmError, TypeError):
    """An argument of the wrong kind."""


class UndefinedMoment(InvalidInput):
    """A mean, variance or correlation that does not exist (is infinite)."""


class DamagedFile(InvalidInput):
    """A file that is cut off, changed, of another kind, or not to be trusted."""


class CannotWrite(ThincrmError, OSError):
    """A file that could not be written; what was there before still is."""


class RunInUse(ThincrmError, RuntimeError):
    """A run that another process is writing."""


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidType(argument(name), f" must be a number, got {value!r}.")
    try:
        return float(value)
    except OverflowError as error:
        raise InvalidInput(argument(name), " is too large for a number.") from error


def check_positive(name: str, value: object) -> float:
    """Return `value` as a finite float above zero, or say what is wrong with it."""
    number = _number(name, value)
    if not (math.isfinite(number) and number > 0):
        raise InvalidInput(argument(name), f" must be a finite number above 0, got {value!r}.")
    return number


def check_finite(name: str, value: object) -> float:
    """Return `value` as a finite float."""
    number = _number(name, value)
    if not math.isfinite(number):
        raise InvalidInput(argument(name), f" must be a finite number, got {value!r}.")
    return number


def check_between(name: str, value: object, low: float, high: float) -> float:
    """Return `value` as a float strictly between `low` and `high`."""
    number = _number(name, value)
    if not low < number < high:
        raise InvalidInput(
            argument(name), f" must lie strictly between {low} and {high}, got {value!r}."
        )
    return number


def check_count(name: str, value: object, least: int = 1, most: int = 2**31 - 1) -> int:
    """Return `value` as an int from `least` to `most`."""
    number = _number(name, value)
    if number != int(number) if math.isfinite(number) else True:
        raise InvalidInput(argument(name), f" must be a whole number, got {value!r}.")
    if number < least:
        raise InvalidInput(argument(name), f" must be at least {least}, got {value!r}.")
    if number > most:
        raise InvalidInput(argument(name), f" must be at most {most}, got {value!r}.")
    return int(number)
