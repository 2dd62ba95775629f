"""Commits as values: their messages with trailers, written and read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from kimi_memory.domain.operation_types import Commit
from kimi_memory.store.git.command import EMAIL, NAME

FORMAT = "%H%x00%aI%x00%an%x00%s%x00%(trailers:only=true,unfold=true)%x00"
_FIELDS = 5
_LONGEST_SUBJECT = 300


def one_line(text: str) -> str:
    """Return text that fits on one line of a commit message."""
    sound = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(c if c.isprintable() else " " for c in sound).split())


def message(subject: str, trailers: Mapping[str, str]) -> bytes:
    """Return a commit message; trailers without a value are left out."""
    title = one_line(subject)[:_LONGEST_SUBJECT] or "Update memory"
    lines = [f"{trailer_name(name)}: {value}" for name, value in _clean_trailers(trailers)]
    return "\n".join([title, *([""] if lines else []), *lines, ""]).encode()


def _clean_trailers(trailers: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, one_line(value)) for name, value in trailers.items() if one_line(value)]


def trailer_name(name: str) -> str:
    """Return a name git recognises as that of a trailer."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", name).strip("-") or "Note"


def ident(at: datetime) -> bytes:
    """Return who makes our commits at a moment, as git's objects have it."""
    # Git knows no moment before its epoch, and no zone with seconds.
    zone = f"{at.astimezone(at.tzinfo):%z}"[:5]
    return f"{NAME} <{EMAIL}> {max(0, int(at.timestamp()))} {zone}".encode()


def parse_log(output: bytes) -> list[Commit]:
    """Return the commits that git listed in FORMAT."""
    fields = output.decode("utf-8", "replace").split("\0")
    whole = len(fields) // _FIELDS
    return [_parse_commit(fields[n * _FIELDS : (n + 1) * _FIELDS]) for n in range(whole)]


def _parse_commit(fields: list[str]) -> Commit:
    name, at, author, subject, trailers = fields
    return Commit(name.strip(), _parse_moment(at), subject, author, _parse_trailers(trailers))


def _parse_moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def _parse_trailers(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}
