"""The time zone of a person: days and shown times follow it, stored stamps stay UTC."""

from __future__ import annotations

from datetime import date, datetime, time, tzinfo

Zone = tzinfo | None
"""None is the zone of the machine."""


def day_in(at: datetime, zone: Zone) -> date:
    """Return the day of a moment in a zone."""
    return at.astimezone(zone).date()


def start_of(day: date, zone: Zone) -> datetime:
    """Return the moment at which a day begins in a zone."""
    start = datetime.combine(day, time())
    return start.replace(tzinfo=zone) if zone is not None else start.astimezone()
