"""Status: where a note stands in its life."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where a note stands in its life."""

    CANDIDATE = "candidate"
    ACTIVE = "active"
    STALE = "stale"
    CONFLICTED = "conflicted"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
