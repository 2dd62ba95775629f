"""Moments as text: in UTC, without a zone in front matter, with ``Z`` in records."""

from __future__ import annotations

from datetime import UTC, datetime


def stamp(at: datetime) -> str:
    """Return the front matter form, ``2026-02-27T09:10:00``, in UTC."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat()


def zulu(at: datetime) -> str:
    """Return the form of records, ``2026-02-27T09:10:00Z``."""
    return f"{stamp(at)}Z"


def moment(text: str) -> datetime:
    """Read either form, and any offset a person wrote; ValueError if it is neither."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"not a date and time: {text!r}") from None
