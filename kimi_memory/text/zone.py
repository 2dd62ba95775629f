"""The time zone of a person: days and shown times follow it, stored stamps stay UTC."""

from __future__ import annotations

from datetime import date, datetime, time, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Zone = tzinfo | None
"""None is the zone of the machine."""


@lru_cache
def zone_of(name: str) -> Zone:
    """Return the zone of a name such as ``Asia/Shanghai``; that of the machine for no name.

    Raises:
        ValueError: there is no such zone.
    """
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        raise ValueError(f"{name!r} is no time zone such as 'Asia/Shanghai' or 'UTC'") from error


def day_in(at: datetime, zone: Zone) -> date:
    """Return the day of a moment in a zone."""
    return at.astimezone(zone).date()


def start_of(day: date, zone: Zone) -> datetime:
    """Return the moment at which a day begins in a zone."""
    start = datetime.combine(day, time())
    return start.replace(tzinfo=zone) if zone is not None else start.astimezone()
