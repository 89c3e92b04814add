"""Dates in the usual forms, from the year 1 on, and a column of them that stays of one kind.

ISO 8601 (1862, 1862-03, 1862-03-12, with a time and a zone), 18620312, 1862/03/12, 12.03.1862,
12 March 1862, March 12, 1862, Wed, 12 Mar 1862 10:00 +0100, quarters (1862Q1, Q1 1862), decades
(1860s, their first year), and Unix time in seconds or milliseconds. Days and months in figures
between slashes (03/04/1862) are read by no rule, because there are two: a format says which.
"""

from __future__ import annotations

import datetime
import re
from array import array
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from thincrm.data.reading.lines import shown
from thincrm.errors import Sentence, either

__all__ = ["DateColumn", "date_in_name"]

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_TIME = (
    r"(?:,? (?:at )?(?P<time>\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?)(?: ?(?P<half>[ap])\.?m\.?)?"
    r"(?: ?(?P<zone>z|utc|gmt|[+-]\d\d:?\d\d))?)?"
)
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
_WORDS = [
    re.compile(_WEEKDAY + part + _TIME, re.ASCII)
    for part in (
        rf"{_DAY}[ -](?:of )?{_MONTH},?[ -]{_YEAR}",  # 12 March 1862
        rf"{_MONTH} {_DAY},? {_YEAR}",  # March 12, 1862
        rf"{_MONTH},? {_YEAR}",  # March 1862
        r"(?P<day>\d{1,2})\.(?P<number>\d{1,2})\." + _YEAR,  # 12.3.1862
        _YEAR + r"[/.](?P<number>\d{1,2})[/.](?P<day>\d{1,2})",  # 1862/3/12
        _YEAR + r"-(?P<number>\d{1,2})(?:-(?P<day>\d{1,2}))?",  # 1862-3 and 1862-3-12
    )
]
_IN_NAME = (
    re.compile(r"(?<!\d)(\d{4})[-_.](\d\d)[-_.](\d\d)(?!\d)", re.ASCII),
    re.compile(r"(?<!\d)(\d{4})(\d\d)(\d\d)(?!\d)", re.ASCII),
    re.compile(r"(?<!\d)(\d{4})[-_.](\d\d)(?![\d])", re.ASCII),
    re.compile(r"(?<!\d)(\d{4})(?!\d)", re.ASCII),
)
_QUARTERS = re.compile(
    r"(?P<a>\d{4})[ -]?Q(?P<b>[1-4])|Q(?P<c>[1-4])[ /-]?(?P<d>\d{4})", re.ASCII | re.IGNORECASE
)
_MOST_LETTERS = 200  # of a date
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_EPOCH_HERE = _EPOCH.replace(tzinfo=None)


def date_in_name(name: str) -> str:
    """Return the date in a file's name (1862-03-12, 1862_03_12, 18620312, 1862-03 or 1862)."""
    for pattern in _IN_NAME:
        found = pattern.search(name)
        if found:
            return "-".join(found.groups())
    raise ValueError("the name holds no date such as 1862-03-12, 18620312, 1862-03 or 1862")


@dataclass(slots=True)
class DateColumn:
    """Dates, one a row: all with a time zone (then kept in UTC) or all without.

    Bare years stay numbers if there is nothing else; beside dates they are the first of January.
    """

    form: str | None = None
    moments: array[int] = field(default_factory=partial(array, "q"))  # microseconds since 1970
    only_years: bool = True
    aware: bool = False

    def read(self, value: object) -> None:
        """Add a date, or raise ValueError with the reason why it is none."""
        try:
            moment, is_year = _parse(value, self.form)
            if moment.tzinfo is not None:
                moment = moment.astimezone(datetime.UTC)
        except OverflowError as error:
            raise ValueError(f"{shown(value)} is too far away") from error
        if self.moments and (moment.tzinfo is not None) != self.aware:
            has, had = ("no", "some") if self.aware else ("a", "none")
            raise ValueError(
                f"{shown(value)} has {has} time zone and those before have {had}; give all or none"
            )
        self.aware = moment.tzinfo is not None
        self.only_years &= is_year
        since = moment.replace(tzinfo=None) - _EPOCH_HERE
        self.moments.append((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)

    def series(self, name: str) -> pd.Series[Any]:
        """Return the column: whole numbers (years), dates, or dates in UTC."""
        moments = np.array(self.moments, np.int64).view("M8[us]")
        if self.only_years:
            years = moments.astype("M8[Y]").astype(np.int64) + 1970
            return pd.Series(years, name=name, dtype=np.int64)
        dates = pd.Series(moments, name=name)
        return dates.dt.tz_localize("UTC") if self.aware else dates


def _parse(value: object, form: str | None) -> tuple[datetime.datetime, bool]:
    """Return a moment, and whether it is a bare year."""
    if value is None or value is pd.NaT or value != value:  # noqa: PLR0124 - NaN is not itself
        raise ValueError("the date is missing")
    if isinstance(value, datetime.datetime):
        return value, False
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time()), False
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{shown(value)} is not a date")
    if form is None and isinstance(value, str) and len(value) == 10:  # quicker, and usual
        try:
            return datetime.datetime.fromisoformat(value), False
        except ValueError:
            pass
    said = str(value)
    text = " ".join(said.split()) if len(said) < 10 * _MOST_LETTERS else said
    if not text:
        raise ValueError("the date is missing")
    if len(text) > _MOST_LETTERS:
        raise ValueError(f"{shown(text)} is not a date")
    if form is not None:
        return _formatted(text, form)
    return _usual(text)


@lru_cache(4096)  # documents share dates
def _usual(text: str) -> tuple[datetime.datetime, bool]:
    found = _figures(text) or _quarter(text) or _iso(text) or _words(text.lower())
    if found is None:
        raise ValueError(Sentence(f"{shown(text)} is not a date", _hint(text)))
    return found, _bare_year(text) is not None


def _hint(text: str) -> str:
    if re.fullmatch(r"\d{1,2}[/-]\d{1,2}[/-]\d{2,4}.*", text, re.ASCII):
        said = ", or could be two: write 1862-03-12, or say which it is with "
        return Sentence(said, either("date_format=", "--date-format"), ", such as %d/%m/%Y")
    return "; write it as 1862-03-12, 12 March 1862 or 1862"


def _formatted(text: str, form: str) -> tuple[datetime.datetime, bool]:
    try:
        return datetime.datetime.strptime(text, form), form == "%Y"
    except (ValueError, re.error) as error:
        raise ValueError(f"{shown(text)} does not have the date format {shown(form)}") from error


def _bare_year(text: str) -> int | None:
    # a column with holes has 1862.0; a decade begins with its first year
    found = re.fullmatch(r"(\d{4})(?:\.0+)?|(\d{3}0)['’]?s", text, re.ASCII)
    return int(found[1] or found[2]) if found else None


def _figures(text: str) -> datetime.datetime | None:
    """Read a year, or Unix time."""
    year = _bare_year(text)
    if year is not None:
        return datetime.datetime(year, 1, 1) if year else None
    seconds = re.fullmatch(r"(-?\d{9,10})(?:\.\d+)?", text, re.ASCII)
    if seconds:
        return _EPOCH + datetime.timedelta(seconds=float(text))
    if re.fullmatch(r"-?\d{12,13}(?:\.0+)?", text, re.ASCII):
        return _EPOCH + datetime.timedelta(milliseconds=float(text))
    return None


def _quarter(text: str) -> datetime.datetime | None:
    """Read 1862Q1 and Q1 1862: the first day of the quarter."""
    found = _QUARTERS.fullmatch(text)
    if not found:
        return None
    year, quarter = int(found["a"] or found["d"]), int(found["b"] or found["c"])
    return datetime.datetime(year, 3 * quarter - 2, 1) if year else None


def _iso(text: str) -> datetime.datetime | None:
    if not text.isascii() or not re.match(r"\d{4}-\d\d|\d{8}(?!\d)|\d{4}-?W", text):
        return None
    try:
        return datetime.datetime.fromisoformat(re.sub(r" ?(UTC|GMT|Z)$", "+00:00", text))
    except ValueError:
        return None


def _words(text: str) -> datetime.datetime | None:
    for pattern in _WORDS:
        found = pattern.fullmatch(text)
        if found:
            try:
                return _moment(found.groupdict())
            except ValueError:
                return None
    return None


def _moment(part: dict[str, str | None]) -> datetime.datetime:
    name, number = part.get("month"), part.get("number")
    month = _MONTHS.index(name[:3]) + 1 if name else int(number or 0)
    date = datetime.date(int(part["year"] or 0), month, int(part.get("day") or 1))
    hour, _, rest = (part["time"] or "0:00").partition(":")
    half = part["half"]
    if half and not 1 <= int(hour) <= 12:
        raise ValueError("no such hour")
    hours = int(hour) % 12 + 12 * (half == "p") if half else int(hour)
    zone = re.sub("z|utc|gmt", "+00:00", part["zone"] or "")
    return datetime.datetime.fromisoformat(f"{date.isoformat()}T{hours:02}:{rest}{zone}")
