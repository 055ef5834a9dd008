"""Dates as programs and collectors print them → datetime."""

from __future__ import annotations

from datetime import datetime

NO_YEAR = 1904
"""Stands in for the year of a stamp that has none, in a source where no earlier stamp had one. A leap year, so that
29 February is a date in it."""

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}

STAMP = (
    r"(?:\d{4}[-/]\d\d[-/]\d\d[ T_]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d\d/\d\d/\d{4},? \d\d:\d\d:\d\d(?:[.,]\d{1,9})?)"
)
"""An expression for a date with a year and a time, year first or American."""

CTIME = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"
"""An expression for what C's ctime() prints: `Tue Mar  3 10:20:30 2026`."""


def from_stamp(text: str) -> datetime | None:
    """Read what STAMP matches; None for a date that the calendar does not have."""
    if text[2] == "/":
        text = f"{text[6:10]}-{text[0:2]}-{text[3:5]}T{text[10:].lstrip(', ')}"
    elif text[4] == "/":
        text = text.replace("/", "-")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def from_ctime(text: str) -> datetime | None:
    """Read `Tue Mar  3 10:20:30 2026`."""
    return _with_month(text[4:7], f"{text[8:10]} {text[11:19]}", int(text[20:24]))


def from_syslog(text: str) -> datetime | None:
    """Read `Jan  2 03:04:05` or `Jan 02 03:04:05.123456`: no year."""
    return _with_month(text[:3], f"{text[4:6]} {text[7:]}", NO_YEAR)


def from_month_day(month: str, day: str, clock: str) -> datetime | None:
    """Read a month, a day and `03:04:05.123` given apart: no year."""
    try:
        return datetime.fromisoformat(f"{NO_YEAR}-{int(month):02}-{int(day):02}T{clock}")
    except ValueError:
        return None


def _with_month(name: str, day_and_clock: str, year: int) -> datetime | None:
    month = _MONTHS.get(name)
    day, _, clock = day_and_clock.strip().partition(" ")
    if month is None:
        return None
    try:
        return datetime.fromisoformat(f"{year}-{month:02}-{int(day):02}T{clock}")
    except ValueError:
        return None
