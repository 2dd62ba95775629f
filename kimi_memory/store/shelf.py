"""The shelf: which note lies where, by id and by key, read from the heads of files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kimi_memory.errors import (
    AmbiguousIdError,
    ChangedOnDiskError,
    FormatError,
    NotFoundError,
    UnsafePathError,
)
from kimi_memory.model import form
from kimi_memory.model.card import Card
from kimi_memory.model.frontmatter import decode
from kimi_memory.model.head import Head
from kimi_memory.model.note import Note
from kimi_memory.model.source import Quote
from kimi_memory.store.catalog import Catalog, Survey
from kimi_memory.store.store import Store

_FIELD = re.compile(rb"^(id|kind|key|status|at): *[\"']?([^\"'\r\n]*)", re.MULTILINE)
_QUOTE = re.compile(rb"session:([^\s\"'#]+#\d+)(?:-\d+)? \w+ ([0-9a-f]{12})")
_HEAD = 8192


def mark(quote: Quote) -> str:
    """Return what makes a quote the same one: its turn and its words."""
    return f"{quote.session}#{quote.n} {quote.hash}"


class Entry(NamedTuple):
    """What the head of a note says."""

    # One is made for every note whenever one is looked for, hence no dataclass.
    path: str
    id: str
    kind: str
    key: str
    status: str
    at: str = ""
    """When an event was, as it is written there."""
    quotes: tuple[str, ...] = ()
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

    @cached_property
    def survey(self) -> Survey:
        """The files as they looked when the first of them was asked for."""
        return Catalog.of(self._store).survey()

    def entries(self) -> dict[str, Entry]:
        """Return every note with an id; where two files share one, the first path has it."""
        return self._entries

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for path in self.survey.paths:
            if path.endswith(".md") and not path.startswith("episodic/sessions/"):
                entry = self._peek(path)
                if entry is not None:
                    found.setdefault(entry.id, entry)
        return found

    @cached_property
    def _cards(self) -> dict[str, set[str]]:
        """The paths of cards by their keys, and by the marks of their quotes."""
        found: dict[str, set[str]] = defaultdict(set)
        for entry in self._entries.values():
            if entry.kind == Card.kind:
                for name in (f"key {entry.key}", *entry.quotes):
                    found[name].add(entry.path)
        return found

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

    def notes(
        self, kind: str, wanted: Callable[[Entry], bool] = lambda entry: True
    ) -> Iterator[Filed]:
        """Yield the wanted notes of a kind in order of path; broken files are left out."""
        for entry in sorted(self.entries().values(), key=lambda entry: entry.path):
            if entry.kind == kind and wanted(entry):
                try:
                    yield self.file(entry.path)
                except FormatError:
                    continue

    def cards(self, key: str | Collection[str], quotes: frozenset[str] = frozenset()) -> list[Card]:
        """Return the cards of a key or keys, or that rest on one of these quotes, by path."""
        keys = {key} if isinstance(key, str) else set(key)
        names = (*(f"key {one}" for one in keys), *quotes)
        found = {path for name in names for path in self._cards.get(name, ())}
        notes = [self.file(path).note for path in sorted(found)]
        return [note for note in notes if isinstance(note, Card)]

    def heads(self) -> list[Head]:
        """Return the heads of all cards in order of path; broken files are left out."""
        cards = sorted(e.path for e in self.entries().values() if e.kind == Card.kind)
        heads = (self.survey.fact(path, "head", _head_in(path), Head.read) for path in cards)
        return [head for head in heads if head is not None]

    def card(self, head: Head) -> Card:
        """Read the card of a head.

        Raises:
            ChangedOnDiskError: it is not there any more.
        """
        path = self.entries()[head.id].path
        try:
            note = self.file(path).note
        except (NotFoundError, FormatError, UnsafePathError) as error:
            raise ChangedOnDiskError(path) from error
        if not isinstance(note, Card) or note.id != head.id:
            raise ChangedOnDiskError(path)
        return note

    def keep(self) -> None:
        """Save what was read of the files, when it is much, for the next process.

        The heads of cards that nobody asked for yet are read with the rest, so that
        the first daily job after many cards came in need not wait for them.
        """
        if self.survey.due:
            self.heads()
            self.survey.keep()

    def _peek(self, path: str) -> Entry | None:
        return self.survey.fact(path, "entry", lambda content: _entry(path, content), _entry_of)


def _entry(path: str, content: bytes) -> Entry | None:
    head = content[:_HEAD]
    if not head.startswith((b"---", b"\xef\xbb\xbf---")):
        return None
    block = head.split(b"\n---", 1)[0]
    fields = {
        name: value.decode("utf-8", "replace").strip() for name, value in _FIELD.findall(block)
    }
    id = fields.get(b"id", "")
    if not id:
        return None
    quotes = (f"{turn.decode()} {hash.decode()}" for turn, hash in _QUOTE.findall(block))
    return Entry(
        path,
        id,
        fields.get(b"kind", ""),
        fields.get(b"key", ""),
        fields.get(b"status", "active"),
        fields.get(b"at", ""),
        tuple(dict.fromkeys(quotes)),
    )


def _entry_of(row: list[Any]) -> Entry:
    path, id, kind, key, status, at, quotes = row
    return Entry(path, id, kind, key, status, at, tuple(quotes))


def _head_in(path: str) -> Callable[[bytes], Head | None]:
    def read(content: bytes) -> Head | None:
        try:
            note = form.parse(decode(content, path), path)
        except FormatError:
            return None
        return Head.of(note) if isinstance(note, Card) else None

    return read
