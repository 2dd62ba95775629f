"""The time zone of a person: days and shown times follow it, stored stamps stay UTC."""

from __future__ import annotations

import difflib
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

Zone = tzinfo
_CITIES = {"beijing": "Asia/Shanghai", "北京": "Asia/Shanghai", "上海": "Asia/Shanghai"}
"""Cities of zones that are named after another one."""

# Summer and winter of two years: zones that agree on all four have the same days today.
_PROBES = tuple(datetime(year, month, 1, tzinfo=UTC) for year in (2020, 2026) for month in (1, 7))


class _Machine(tzinfo):
    """The zone of the machine with its changes of the clock, which ``timezone`` has not."""

    def utcoffset(self, at: datetime | None) -> timedelta | None:
        """Return how far the clocks of the machine are ahead of UTC at a moment."""
        return None if at is None else at.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, at: datetime | None) -> timedelta | None:
        """Return nothing: no caller asks what part of that is daylight saving."""
        return None

    def tzname(self, at: datetime | None) -> str | None:
        """Return what the machine calls its zone at a moment."""
        return None if at is None else at.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, at: datetime) -> datetime:
        """Return a moment of UTC on the clocks of the machine."""
        shown = at.replace(tzinfo=UTC).astimezone()
        here = shown.replace(tzinfo=self)
        # An hour that comes twice: the second time has the smaller offset.
        return here if here.utcoffset() == shown.utcoffset() else here.replace(fold=1)


MACHINE: Zone = _Machine()
"""The zone of the machine this runs on."""


def in_zone(at: datetime, zone: Zone) -> datetime:
    """Return a moment on the clocks of a zone; the first and last of the calendar stay in UTC."""
    try:
        return at.astimezone(zone)
    except (OverflowError, OSError, ValueError):
        # An hour before the first moment of the calendar is none that Python can hold.
        return at


def from_clocks(at: datetime, zone: Zone) -> datetime:
    """Return a moment in UTC; one without an offset is on the clocks of a zone."""
    try:
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (OverflowError, OSError, ValueError):  # the first and last day of the calendar
        return at if at.tzinfo else at.replace(tzinfo=UTC)


def pinned(at: datetime, zone: Zone) -> datetime:
    """Return a moment on the clocks of a zone, with the offset of then.

    Two moments of one zone compare by their clocks, wrongly in an hour that comes twice.
    """
    here = in_zone(at, zone)
    offset = here.utcoffset() or timedelta()
    whole = offset.total_seconds() % 60 == 0  # as no form can hold the seconds of old times
    return at.astimezone(timezone(offset)) if offset and whole else in_zone(at, UTC)


def day_in(at: datetime, zone: Zone) -> date:
    """Return the day of a moment in a zone."""
    return in_zone(at, zone).date()


def start_of(day: date, zone: Zone) -> datetime:
    """Return the moment, in UTC, at which a day begins in a zone."""
    start = datetime.combine(day, time(), zone)
    try:
        return start.astimezone(UTC)
    except (OverflowError, OSError, ValueError):
        # The same at the ends of the calendar: an hour's error there hurts nobody.
        return start.replace(tzinfo=UTC)


def mark_of(zone: Zone) -> str:
    """Return a text that differs for zones whose days differ; empty for UTC."""
    offsets = [in_zone(probe, zone).utcoffset() for probe in _PROBES]
    return " ".join(map(str, offsets)) if any(offsets) else ""


def nearest_zone(name: str) -> str:
    """Return the known zone whose name is most like a misspelt one."""
    from zoneinfo import available_timezones

    names = sorted(available_timezones())
    whole = {one.casefold(): one for one in names}
    # Reversed, so that of cities with one name the first in the alphabet stays.
    cities = {one.rpartition("/")[2].casefold(): one for one in reversed(names)} | _CITIES
    wanted = name.strip().replace(" ", "_").casefold()
    for known, text in ((whole, wanted), (cities, wanted), (cities, wanted.rpartition("/")[2])):
        if found := difflib.get_close_matches(text, known, n=1, cutoff=0.75):
            return known[found[0]]
    return "Asia/Shanghai"
