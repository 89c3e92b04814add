"""Failures as sentences: what is wrong, where, and what to do."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from thincrm.printable import printable

__all__ = [
    "CannotWrite",
    "DamagedFile",
    "InvalidInput",
    "InvalidType",
    "RunInUse",
    "ThincrmError",
    "UndefinedMoment",
    "check_between",
    "check_count",
    "check_finite",
    "check_positive",
]


class ThincrmError(Exception):
    """Base of every error this library raises on purpose; what it quotes is made printable."""

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


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidType(f"{name} must be a number, got {value!r}.")
    try:
        return float(value)
    except OverflowError as error:
        raise InvalidInput(f"{name} is too large for a number.") from error


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a finite float above zero, or say what is wrong with it."""
    number = _number(name, value)
    if not (math.isfinite(number) and number > 0):
        raise InvalidInput(f"{name} must be a finite number above 0, got {value!r}.")
    return number


def check_finite(name: str, value: Any) -> float:
    """Return `value` as a finite float."""
    number = _number(name, value)
    if not math.isfinite(number):
        raise InvalidInput(f"{name} must be a finite number, got {value!r}.")
    return number


def check_between(name: str, value: Any, low: float, high: float) -> float:
    """Return `value` as a float strictly between `low` and `high`."""
    number = _number(name, value)
    if not low < number < high:
        raise InvalidInput(f"{name} must lie strictly between {low} and {high}, got {value!r}.")
    return number


def check_count(name: str, value: Any, least: int = 1, most: int = 2**31 - 1) -> int:
    """Return `value` as an int from `least` to `most`."""
    number = _number(name, value)
    if number != int(number) if math.isfinite(number) else True:
        raise InvalidInput(f"{name} must be a whole number, got {value!r}.")
    if number < least:
        raise InvalidInput(f"{name} must be at least {least}, got {value!r}.")
    if number > most:
        raise InvalidInput(f"{name} must be at most {most}, got {value!r}.")
    return int(number)
