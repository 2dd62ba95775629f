"""Units of notes: a card or an event is one, other notes lend their head to their chunks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kimi_memory.domain.graph import links_of, mentioned
from kimi_memory.domain.note import Card, Link, Note
from kimi_memory.domain.pages import Digest, Event, Project, Proposal
from kimi_memory.domain.search_types import Unit
from kimi_memory.domain.session import owned
from kimi_memory.formats import codec
from kimi_memory.index.tiers import tier_of


def read_note(path: str, text: str) -> list[Unit] | dict[str, Any]:
    """Return the units of a note, or what its head says of every chunk of its body.

    Raises:
        FormatError: the note cannot be parsed.
    """
    note = codec.parse(text, path)
    match note:
        case Card():
            return [_card_unit(note, path, text)]
        case Event():
            return [_event_unit(note, path, text)]
        case Digest():
            return []  # It repeats turns, and those are units themselves.
        case Proposal():
            return []  # It repeats a card, and nobody has said yes to more.
    return _head_fields(note)


def _card_unit(card: Card, path: str, text: str) -> Unit:
    return Unit(
        confidence=card.confidence,
        importance=card.importance,
        trust=str(card.trust),
        valid_from=card.valid_from or card.created,
        # What has expired is not so any more, whatever else would end it.
        valid_to=card.valid_to or card.expires,
        temperature=card.temperature,
        links=_link_texts(*links_of(card), *mentioned(text, [link.to for link in card.links])),
        **_unit_fields(card, path, text),
    )


def _event_unit(event: Event, path: str, text: str) -> Unit:
    return Unit(
        importance=event.importance,
        trust=_default_trust(event),
        links=_link_texts(*mentioned(text, ())),
        **_unit_fields(event, path, text),
    )


def _unit_fields(note: Card | Event, path: str, text: str) -> dict[str, Any]:
    """Return what is known of a note that is a unit as a whole."""
    return {
        **_shared_fields(note, path),
        "id": note.id,
        "path": path,
        "first": 1,
        "last": max(1, len(text.splitlines())),
        # Without its quotes: they are turns, which are units of their own.
        "text": "\n".join(filter(None, note.body_texts)),
        "title": note.title,
        "type": str(note.type),
        "key": note.key,
        "project": note.project,
        **owned(note.scope),
    }


def _link_texts(*links: Link) -> tuple[str, ...]:
    return tuple(map(str, links))


def _default_trust(note: Note) -> str:
    """Return whose word a note without evidence of its own is: jobs write all but identity."""
    return "human" if note.kind == "identity" else "agent"


def _head_fields(note: Note) -> dict[str, Any]:
    project = note.name if isinstance(note, Project) else getattr(note, "project", "")
    shared = _shared_fields(note, "")
    # By its path, which the chunk brings along.
    del shared["tier"]
    return {
        **shared,
        "project": project,
        "agent": getattr(note, "name", "") if note.kind == "agent" else "",
        "type": str(getattr(note, "type", "")),
        "importance": float(getattr(note, "importance", 0.5)),
        "trust": _default_trust(note),
    }


def _shared_fields(note: Note, path: str) -> dict[str, Any]:
    return {
        "kind": note.kind,
        "tier": tier_of(path),
        "at": _note_moment(note),
        "status": str(note.status),
        "tags": note.tags,
    }


def _note_moment(note: Note) -> datetime:
    at = getattr(note, "at", None)
    return at if isinstance(at, datetime) else note.updated
