"""The shelf: which note lies where, by id and by key, read from the heads of files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kimi_memory.errors import AmbiguousIdError, FormatError, NotFoundError
from kimi_memory.model import form
from kimi_memory.model.card import Card
from kimi_memory.model.frontmatter import decode
from kimi_memory.model.note import Note
from kimi_memory.model.source import Quote
from kimi_memory.store.store import Store

_FIELD = re.compile(rb"^(id|kind|key|status): *[\"']?([^\"'\r\n]*)", re.MULTILINE)
_QUOTE = re.compile(rb"session:([^\s\"'#]+#\d+)(?:-\d+)? \w+ ([0-9a-f]{12})")
_HEAD = 8192


def mark(quote: Quote) -> str:
    """Return what makes a quote the same one: its turn and its words."""
    return f"{quote.session}#{quote.n} {quote.hash}"


@dataclass(frozen=True, slots=True)
class Entry:
    """What the head of a note says."""

    path: str
    id: str
    kind: str
    key: str
    status: str
    quotes: frozenset[str] = frozenset()
    """Marks of the quotes it rests on, see `mark`."""


@dataclass(frozen=True, slots=True)
class Filed:
    """A note read whole: where it lies and its text."""

    path: str
    text: str
    note: Note


class Shelf:
    """The notes of a store as they are at one moment."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._entries: dict[str, Entry] | None = None

    def entries(self) -> dict[str, Entry]:
        """Return every note with an id; where two files share one, the first path has it."""
        if self._entries is None:
            self._entries = {}
            for path in self._paths():
                entry = self._peek(path)
                if entry is not None:
                    self._entries.setdefault(entry.id, entry)
        return self._entries

    def find(self, id: str) -> Entry:
        """Return a note by its id or a unique prefix of it.

        Raises:
            NotFoundError: there is none.
            AmbiguousIdError: the prefix fits several.
        """
        entries = self.entries()
        if id in entries:
            return entries[id]
        near = [entry for known, entry in entries.items() if id and known.startswith(id)]
        if len(near) > 1:
            raise AmbiguousIdError(id, [entry.id for entry in near])
        if not near:
            raise NotFoundError("note", id)
        return near[0]

    def file(self, path: str) -> Filed:
        """Read a note.

        Raises:
            FormatError: it cannot be parsed.
        """
        text = decode(self._store.read(path), path)
        return Filed(path, text, form.parse(text, path))

    def notes(self, kind: str) -> Iterator[Filed]:
        """Yield the notes of a kind in order of path; broken files are left out."""
        for entry in sorted(self.entries().values(), key=lambda entry: entry.path):
            if entry.kind == kind:
                try:
                    yield self.file(entry.path)
                except FormatError:
                    continue

    def cards(self, key: str, quotes: frozenset[str] = frozenset()) -> list[Card]:
        """Return the cards of a key, or that rest on one of these quotes (marks), by path."""
        found = [
            entry.path
            for entry in self.entries().values()
            if entry.kind == "card" and (entry.key == key or entry.quotes & quotes)
        ]
        notes = [self.file(path).note for path in sorted(found)]
        return [note for note in notes if isinstance(note, Card)]

    def _paths(self) -> Iterator[str]:
        for path in self._store.files():
            if path.endswith(".md") and not path.startswith("episodic/sessions/"):
                yield path

    def _peek(self, path: str) -> Entry | None:
        head = self._store.read(path)[:_HEAD]
        if not head.startswith((b"---", b"\xef\xbb\xbf---")):
            return None
        block = head.split(b"\n---", 1)[0]
        fields = {
            name: value.decode("utf-8", "replace").strip() for name, value in _FIELD.findall(block)
        }
        id = fields.get(b"id", "")
        if not id:
            return None
        return Entry(
            path,
            id,
            fields.get(b"kind", ""),
            fields.get(b"key", ""),
            fields.get(b"status", "active"),
            frozenset(f"{turn.decode()} {hash.decode()}" for turn, hash in _QUOTE.findall(block)),
        )
