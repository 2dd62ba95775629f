"""Moments as text: in UTC in front matter and records, on the clocks of then on pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timezone

_OFFSET = re.compile(r"[+-]\d\d:\d\d$")


def stamp(at: datetime) -> str:
    """Return the front matter form, ``2026-02-27T09:10:00``, in UTC."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat()


def zulu(at: datetime) -> str:
    """Return the form of records, ``2026-02-27T09:10:00Z``."""
    return f"{stamp(at)}Z"


def shown(at: datetime) -> str:
    """Return the form of pages, ``2026-02-27 17:10 +08:00``, on the clocks it is given on."""
    offset = at.utcoffset()
    # Clocks of long ago were off by odd seconds, which this form cannot show.
    zone = at.isoformat()[-6:] if offset and not offset.total_seconds() % 60 else "UTC"
    return f"{at if zone != 'UTC' else at.astimezone(UTC):%Y-%m-%d %H:%M} {zone}"


def on_clocks(at: datetime, text: str) -> datetime:
    """Return a moment on the clocks that its form on a page names."""
    found = _OFFSET.search(text.strip())
    if found is None:
        return at
    try:
        offset = datetime.fromisoformat(f"2000-01-01T00:00:00{found[0]}").utcoffset()
        return at.astimezone(timezone(offset)) if offset else at
    except (ValueError, OverflowError):
        return at


def moment(text: str) -> datetime:
    """Read either form, and any offset a person wrote; ValueError if it is neither."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"not a date and time: {text!r}") from None
