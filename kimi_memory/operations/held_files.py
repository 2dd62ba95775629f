"""The files of a memory without what was not so at a moment: what is held now, of then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from kimi_memory.domain.note import Card, Note, Status
from kimi_memory.domain.pages import Event
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.formats.jsonl import session_of, unseal
from kimi_memory.operations.new_folders import File

_PAST = (Status.SUPERSEDED, Status.ARCHIVED)


def keep_held(files: Mapping[str, File], moment: datetime) -> dict[str, File]:
    """Return the files of what was so at a moment, with the cards that counted then as live.

    A card counts from the moment it became true until it ceased to be, all else from the moment
    it was made. What was archived without an end does not come back: it was put away for another
    reason.

    Args:
        files: of the memory, without what was forgotten.
        moment: the moment.
    """
    kept = dict(files)
    notes = {path: note for path, one in files.items() if (note := _read(path, one)) is not None}
    after = _find_ends(notes.values())
    for path, note in notes.items():
        if not _is_held(note, moment, after):
            del kept[path]
        elif note.status in _PAST:
            live = _revive(path, files[path].content, note)
            kept[path] = File(live, live)
    begun = {path for path, one in files.items() if _begins_later(path, one.content, moment)}
    return {path: one for path, one in kept.items() if path not in begun}


def _read(path: str, file: File) -> Note | None:
    """Return the note that counts; what waits for a person's word goes on waiting."""
    counts = file.counts == file.content and path.endswith(".md")
    return codec.read_note(file.content, path) if counts else None


def _find_ends(notes: Iterable[Note]) -> dict[str, datetime]:
    """Return by the id of a card when the first that took its place began to hold."""
    found = dict[str, datetime]()
    for card in notes:
        if isinstance(card, Card):
            since = card.valid_from or card.created
            for id in card.supersedes:
                found[id] = min(since, found.get(id, since))
    return found


def _is_held(note: Note, moment: datetime, after: Mapping[str, datetime]) -> bool:
    if not isinstance(note, Card):
        return (note.at if isinstance(note, Event) else note.created) <= moment
    ended = note.valid_to
    if ended is None and note.status == Status.SUPERSEDED:
        # Without a successor that names it, it ended when it was marked.
        ended = after.get(note.id, note.updated)
    if ended is None and note.status == Status.ARCHIVED:
        return False
    return (note.valid_from or note.created) <= moment and (ended is None or moment < ended)


def _revive(path: str, content: bytes, note: Note) -> bytes:
    live = replace(note, status=Status.ACTIVE)
    try:
        return codec.patch(decode(content, path), note, live, path).encode()
    except FormatError:  # Nobody edits this file: it is written anew and soon removed.
        return codec.render(live).encode()


def _begins_later(path: str, content: bytes, moment: datetime) -> bool:
    """Whether a file is a session that began after a moment."""
    if not path.endswith(".jsonl") or "session_" not in path:
        return False
    try:
        return session_of(unseal(content.splitlines(keepends=True)[0])).started > moment
    except (ValueError, KeyError, IndexError):
        # A file without a sound header tells no beginning, so it is not taken for a new one.
        return False
