"""Cards, events and turns of a memory folder of ours, wherever it came from.

Why it exists: a memory is audited without being opened, because opening one may repair
it; and the cards of another memory can be imported like those of any other system.
Pages that repeat cards hold nothing of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.note import Card, CardType, Lang, Link, LinkRel, Note, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.errors import TranscriptError
from kimi_memory.formats import codec, frontmatter
from kimi_memory.formats.card_form import Head
from kimi_memory.formats.jsonl import turn_of, unseal
from kimi_memory.nlp.dates.timestamps import moment

SYSTEM = "kimi"
_PAGES = {"overview", "category", "entity", "session", *codec.KINDS}
_EXPORT = re.compile(rb'\{\s*"format": "kimi_memory/cards/1"')
_MOMENTS = ("created", "updated", "verified", "valid_from", "valid_to", "expires")
_TEXTS = ("title", "key", *Card.body_fields, "category", "project", "scope")
_IMPORTED = "imported"
_PAST = {Status.SUPERSEDED, Status.ARCHIVED}


@hookimpl
def read_memories(file: TranscriptFile, system: str) -> Iterable[Memo] | None:
    """Read one note or one session file; None for any other file."""
    if system not in ("", SYSTEM):
        return None
    path = PurePath(file.name)
    if _EXPORT.match(file.head):
        return _read_export(file)
    if path.suffix == ".jsonl":
        ours = path.name.startswith("session_") and file.head.startswith(b'{"kind":"session"')
        return _read_turns(file) if ours else None
    if path.suffix != ".md" or not file.head.startswith(b"---\n"):
        return None
    return _read_note(file)


def _read_note(file: TranscriptFile) -> list[Memo] | None:
    with file.open() as stream:
        text = stream.read().decode("utf-8", "replace")
    values = frontmatter.read(text, file.name).values
    if values.get("kind") not in _PAGES or not values.keys() & {"id", "generated", "started"}:
        return None
    # Pages repeat cards, so they are read and hold no memo: an empty list, not None.
    if values.get("kind") not in {"card", "event"}:
        return []
    return [_make_memo(codec.parse(text, file.name))]


def _make_memo(note: Note) -> Memo:
    if isinstance(note, Card):
        return Memo(
            system=SYSTEM,
            id=note.id,
            text="\n".join(filter(None, note.body_texts)),
            title=note.title,
            key=note.key,
            type=note.type,
            tags=note.tags,
            names=(note.id,),
            edges=tuple(replace(link, reason=_IMPORTED) for link in note.links),
            created=note.created,
            updated=note.verified or note.updated,
            expires=note.valid_to or note.expires,
            sources=tuple(map(str, note.sources)),
            quotes=note.quotes,
            lang=str(note.lang),
            project=note.project,
            scope=note.scope,
            live=note.status not in _PAST,
            stands=Head.of(note).stands,
        )
    assert isinstance(note, Event)  # other kinds are pages
    return Memo(
        system=SYSTEM,
        id=note.id,
        text="\n".join(filter(None, note.body_texts)) or note.title,
        title=note.title,
        created=note.at,
        sources=tuple(map(str, note.sources)),
        quotes=note.quotes,
        lang=str(note.lang),
        project=note.project,
        past=True,
    )


def _read_export(file: TranscriptFile) -> Iterator[Memo]:
    """Yield the cards of a JSON export.

    Raises:
        TranscriptError: it is cut off, or a card in it is none.
    """
    with file.open() as stream:
        content = stream.read()
    try:
        cards = json.loads(content)["cards"]
        yield from map(_make_memo, map(_parse_card, cards))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        why = f"it is no whole JSON export: {error}"
        raise TranscriptError(file.name, 1, why) from error


def _parse_card(members: Mapping[str, Any]) -> Card:
    """Return a card of the export; what a later version adds is left alone."""
    times: dict[str, Any] = {name: moment(members[name] or "") for name in _MOMENTS}
    created, updated = times.pop("created"), times.pop("updated")
    if created is None or updated is None:
        raise ValueError(f"{members['id']} has no time")
    texts: dict[str, Any] = {name: str(members.get(name) or "") for name in _TEXTS}
    return Card(
        id=str(members["id"]),
        created=created,
        updated=updated,
        tags=tuple(map(str, members["tags"])),
        status=Status(members["status"]),
        lang=Lang(members["lang"]),
        type=CardType(members["type"]),
        links=tuple(
            Link(str(one["to"]), LinkRel(one["rel"]), float(one["weight"]))
            for one in members["links"]
        ),
        **times,
        **texts,
    )


def _read_turns(file: TranscriptFile) -> Iterator[Memo]:
    session = PurePath(file.name).stem.removeprefix("session_")
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            try:
                record = unseal(line)
                turn = turn_of(record) if record.get("kind") == "turn" else None
            # A damaged line costs itself alone: an audit must not stop at what it is there to
            # find.
            except (ValueError, RecursionError):
                continue
            if turn is not None:
                yield Memo(
                    system=SYSTEM,
                    id=f"{session}#{turn.n}",
                    text=turn.text,
                    line=number,
                    created=turn.at,
                    past=True,
                )
