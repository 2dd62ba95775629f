"""Units read from files: turns of a session, cards, events, chunks of pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from kimi_memory.errors import FormatError
from kimi_memory.model import form
from kimi_memory.model.card import Card
from kimi_memory.model.event import Event
from kimi_memory.model.frontmatter import decode, read
from kimi_memory.model.note import Note
from kimi_memory.model.pages import Project, Proposal
from kimi_memory.model.record import unseal
from kimi_memory.model.records import read_transcript_lines
from kimi_memory.model.session import Session
from kimi_memory.model.unit import Chunk, Unit

Split = Callable[[str], list[Chunk]]

TIERS = ("short-term", "episodic", "mid-term", "semantic", "long-term")
_REPEAT = re.compile(r"^.* \^card-[0-9a-z-]+[ \t]*$", re.MULTILINE)
_PART = re.compile(r"(.+)\.(?:[2-9]|[1-9]\d+)")


def read_units(path: str, content: bytes, split: Split) -> list[Unit]:
    """Return the units of a file in order of their lines.

    Raises:
        FormatError: the file cannot be parsed.
    """
    if path.endswith(".jsonl"):
        return _turns(path, content)
    text = decode(content, path)
    matter = read(text, path)
    kind = str(matter.values.get("kind", ""))
    note = form.parse(text, path) if matter.values.get("id") and kind else None
    match note:
        case Card():
            return [_card(note, path, text)]
        case Event():
            return [_event(note, path, text)]
        case Proposal():
            return []  # It repeats a card, and nobody has said yes to more.
    head: dict[str, Any] = {"kind": "page"} if note is None else _head(note)
    # Pages repeat cards line by line; the card itself is the unit.
    body = _REPEAT.sub("", matter.body)
    shift = matter.first_body_line - 1
    chunks = [chunk for chunk in split(body) if _says_something(chunk, body != matter.body)]
    return [_chunk(chunk, path, shift, head) for chunk in chunks]


def _says_something(chunk: Chunk, thinned: bool) -> bool:
    """Whether a chunk has text; headings alone do not where lines were taken out."""
    lines = [line for line in chunk.text.splitlines() if line.strip()]
    return bool(lines) and not (thinned and all(line.startswith("#") for line in lines))


def tier_of(path: str) -> str:
    """Return the tier a path lies in, ``page`` outside of all."""
    head = path.partition("/")[0]
    return head if head in TIERS else "page"


def root_of(session: Session) -> str:
    """Return the id a session shares with those it continues."""
    id = session.continues or session.id
    found = _PART.fullmatch(id)
    return found[1] if found and session.continues else id


def _turns(path: str, content: bytes) -> list[Unit]:
    lines = content.splitlines(keepends=True)
    transcript = read_transcript_lines(lines, path)
    session = transcript.session
    common: dict[str, Any] = {
        "kind": "turn",
        "tier": tier_of(path),
        "path": path,
        "session": root_of(session),
        "project": session.project,
        "agent": session.agent,
    }
    return [
        Unit(
            id=f"session:{session.id}#{turn.n}",
            first=line,
            last=line,
            text=turn.text,
            n=turn.n,
            speaker=turn.speaker,
            role=str(turn.role),
            at=turn.at,
            tags=turn.tags,
            importance=turn.importance,
            trust=str(turn.origin),
            **common,
        )
        for turn, line in zip(transcript.turns, _places(lines), strict=False)
    ]


_SEALED = b'{"kind":"turn",'


def _places(lines: list[bytes]) -> list[int]:
    """Return the line of each turn record, in order."""
    return [number for number, line in enumerate(lines, start=1) if _is_turn(line)]


def _is_turn(line: bytes) -> bool:
    if line.startswith(_SEALED):
        return True
    if b"turn" not in line:
        return False
    try:
        return unseal(line).get("kind") == "turn"
    except (ValueError, RecursionError):
        return False


def _card(card: Card, path: str, text: str) -> Unit:
    parts = [card.value, card.applies, card.usage, card.caveats]
    return Unit(
        id=card.id,
        path=path,
        first=1,
        last=max(1, len(text.splitlines())),
        text="\n".join(part for part in parts if part),
        title=card.title,
        type=str(card.type),
        key=card.key,
        project=card.project,
        confidence=card.confidence,
        importance=card.importance,
        trust=str(card.trust),
        valid_to=card.valid_to or card.expires,
        **_shared(card, path),
    )


def _event(event: Event, path: str, text: str) -> Unit:
    parts = [event.content, event.outcome, event.lesson]
    return Unit(
        id=event.id,
        path=path,
        first=1,
        last=max(1, len(text.splitlines())),
        text="\n".join(part for part in parts if part),
        title=event.title,
        type=str(event.type),
        key=event.key,
        project=event.project,
        importance=event.importance,
        trust=_trust(event),
        **_shared(event, path),
    )


def _trust(note: Note) -> str:
    """Return whose word a note without evidence of its own is: jobs write all but identity."""
    return "human" if note.kind == "identity" else "agent"


def _head(note: Note) -> dict[str, Any]:
    project = note.name if isinstance(note, Project) else getattr(note, "project", "")
    shared = _shared(note, "")
    del shared["tier"]
    return {
        **shared,
        "project": project,
        "agent": getattr(note, "name", "") if note.kind == "agent" else "",
        "type": str(getattr(note, "type", "")),
        "importance": float(getattr(note, "importance", 0.5)),
        "trust": _trust(note),
    }


def _shared(note: Note, path: str) -> dict[str, Any]:
    return {
        "kind": note.kind,
        "tier": tier_of(path),
        "at": _moment(note),
        "status": str(note.status),
        "tags": note.tags,
    }


def _moment(note: Note) -> datetime:
    at = getattr(note, "at", None)
    return at if isinstance(at, datetime) else note.updated


def _chunk(chunk: Chunk, path: str, shift: int, head: dict[str, Any]) -> Unit:
    first = chunk.first + shift
    return Unit(
        id=f"{path}#L{first}",
        tier=tier_of(path),
        path=path,
        first=first,
        last=chunk.last + shift,
        text=chunk.text,
        title=" / ".join(chunk.trail),
        **head,
    )


def guard(path: str, content: bytes, split: Split) -> tuple[list[Unit], FormatError | None]:
    """Return the units of a file, or none and what is wrong with it."""
    try:
        return read_units(path, content, split), None
    except FormatError as error:
        return [], error
