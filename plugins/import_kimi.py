"""Cards, events and turns of a memory folder of ours, wherever it came from.

Why it exists: a memory is audited without being opened, because opening one may repair
it; and the cards of another memory can be imported like those of any other system.
Pages that repeat cards hold nothing of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from kimi_memory import hookimpl
from kimi_memory.model import form, frontmatter
from kimi_memory.model.card import Card
from kimi_memory.model.event import Event
from kimi_memory.model.memo import Memo
from kimi_memory.model.note import Note
from kimi_memory.model.record import unseal
from kimi_memory.model.records import turn_of
from kimi_memory.model.screen import TranscriptFile
from kimi_memory.model.status import Status

SYSTEM = "kimi"
_PAGES = {"overview", "session", *form.KINDS}
_PAST = {Status.SUPERSEDED, Status.ARCHIVED}


@hookimpl
def read_memories(file: TranscriptFile, system: str) -> Iterable[Memo] | None:
    """Read one note or one session file; None for any other file."""
    if system not in ("", SYSTEM):
        return None
    path = PurePath(file.name)
    if path.suffix == ".jsonl":
        ours = path.name.startswith("session_") and file.head.startswith(b'{"kind":"session"')
        return _turns(file) if ours else None
    if path.suffix != ".md" or not file.head.startswith(b"---\n"):
        return None
    return _note(file)


def _note(file: TranscriptFile) -> list[Memo] | None:
    with file.open() as stream:
        text = stream.read().decode("utf-8", "replace")
    values = frontmatter.read(text, file.name).values
    if values.get("kind") not in _PAGES or not values.keys() & {"id", "generated", "started"}:
        return None
    if values.get("kind") not in {"card", "event"}:
        return []
    return [_memo(form.parse(text, file.name))]


def _memo(note: Note) -> Memo:
    if isinstance(note, Card):
        parts = (note.value, note.applies, note.usage, note.caveats)
        return Memo(
            system=SYSTEM,
            id=note.id,
            text="\n".join(filter(None, parts)),
            title=note.title,
            key=note.key,
            type=note.type,
            tags=note.tags,
            names=(note.id,),
            links=tuple(link.to for link in note.links),
            created=note.created,
            updated=note.verified or note.updated,
            expires=note.valid_to or note.expires,
            sources=tuple(map(str, note.sources)),
            quotes=note.quotes,
            lang=str(note.lang),
            project=note.project,
            live=note.status not in _PAST,
        )
    assert isinstance(note, Event)  # other kinds are pages
    return Memo(
        system=SYSTEM,
        id=note.id,
        text="\n".join(filter(None, (note.content, note.outcome, note.lesson))) or note.title,
        title=note.title,
        created=note.at,
        sources=tuple(map(str, note.sources)),
        quotes=note.quotes,
        lang=str(note.lang),
        project=note.project,
        past=True,
    )


def _turns(file: TranscriptFile) -> Iterator[Memo]:
    session = PurePath(file.name).stem.removeprefix("session_")
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            try:
                record = unseal(line)
                turn = turn_of(record) if record.get("kind") == "turn" else None
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
