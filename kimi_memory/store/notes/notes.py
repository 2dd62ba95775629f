"""The shelf: which note lies where, by id and by key, read from the heads of files.

Also the people whose words notes rest on, by the names that their sessions give them, and which
cards a brief may show, in which section, and which of them comes first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import TypeVar

from kimi_memory.domain.brief import NAME, Section, rank_of, section_of
from kimi_memory.domain.note import Card, CardType, Note, Origin, Quote, Status
from kimi_memory.domain.pages import Digest
from kimi_memory.domain.session import SHARED
from kimi_memory.domain.tombstone import KEYED, Keyed, Tombstones, keyed_hash
from kimi_memory.errors import (
    AmbiguousIdError,
    ChangedOnDiskError,
    FormatError,
    KimiMemoryError,
    NotFoundError,
    UnsafePathError,
    WaitingError,
)
from kimi_memory.formats import codec
from kimi_memory.formats.card_form import Head
from kimi_memory.formats.frontmatter import decode
from kimi_memory.formats.jsonl import parse_tombstones, tombstone_line, tombstone_of, unseal
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import one_line
from kimi_memory.nlp.rules.constraints import forbids
from kimi_memory.nlp.rules.lasting import worth_of
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.note_index import (
    Catalog,
    Entry,
    Listing,
    Register,
    Survey,
    may_be_note,
    read_entry,
)
from kimi_memory.store.reading import Reading
from kimi_memory.store.store import Store
from kimi_memory.store.wal.reconcile import Progress

SESSIONS = 12
"""So many of the last sessions are looked at."""
OVER = frozenset({Status.SUPERSEDED, Status.ARCHIVED})
"""The states of what does not hold any more."""


def mark(quote: Quote) -> str:
    """Return what makes a quote the same one: its turn and its words."""
    return f"{quote.session}#{quote.n} {quote.hash}"


def has_quotes(card: Card, quotes: Sequence[Quote]) -> bool:
    """Whether a card rests on all of some quotes."""
    turns = {(quote.session, quote.n) for quote in card.quotes}
    # Hundreds of cards may say things of one kind: to hash all of their quotes takes seconds.
    there = all((quote.session, quote.n) in turns for quote in quotes)
    return there and set(map(mark, quotes)) <= set(map(mark, card.quotes))


@dataclass(frozen=True, slots=True)
class Filed:
    """A note read whole: where it lies and its text."""

    path: str
    text: str
    note: Note


class Shelf:
    """The notes of a store as they are at one moment.

    Args:
        store: where they are read.
        progress: called with how many of how many new files were read.
    """

    def __init__(self, store: Store, progress: Progress | None = None) -> None:
        self.store, self._progress = store, progress

    @cached_property
    def survey(self) -> Survey:
        """The files as they looked when the first of them was asked for."""
        return Catalog.from_store(self.store).survey()

    def entries(self) -> dict[str, Entry]:
        """Return every note with an id; where two files share one, the first path has it."""
        return self._note_listing.entries

    def doubles(self) -> tuple[tuple[str, str], ...]:
        """Return the paths whose id another note has, each with the path of that one."""
        return self._note_listing.doubles

    @cached_property
    def _note_listing(self) -> Listing:
        return Register.from_store(self.store).read(self.survey, self._progress)

    def find(self, id: str, paths: Iterable[str] = ()) -> Entry:
        """Return a note by its id or a unique prefix of it.

        Args:
            id: the id, or the beginning of one.
            paths: where it may lie; all files are looked at only when it does not lie there.

        Raises:
            NotFoundError: there is none.
            AmbiguousIdError: the prefix fits several.
        """
        # The index of recall guesses where it lies, which spares a look at every file.
        for path in paths:
            entry = self._entry_at(path)
            if entry is not None and entry.id == id:
                return entry
        entries = self.entries()
        if id in entries:
            return entries[id]
        # Every id begins with an empty one.
        near = [entry for known, entry in entries.items() if id and known.startswith(id)]
        # To act on the first of several would forget or undo what nobody named.
        if len(near) > 1:
            raise AmbiguousIdError(id, [entry.id for entry in near])
        if not near:
            raise NotFoundError("note", id)
        return near[0]

    def _entry_at(self, path: str) -> Entry | None:
        """Return the note that a path holds now, None where it holds none."""
        try:
            served = self.store.served(path) if may_be_note(path) else None
            return read_entry(path, served.usable) if served is not None else None
        except (NotFoundError, UnsafePathError):
            # It went, or a link leads out of the memory.
            return None

    def file(self, path: str) -> Filed:
        """Read a note, in the last version that somebody vouches for.

        Raises:
            FormatError: it cannot be parsed, or waits for a person's word.
        """
        served = self.store.served(path)
        if not served.usable and served.why:
            raise WaitingError(path, served.why)
        text = decode(served.usable, path)
        return Filed(path, text, codec.parse(text, path))

    def notes(
        self, kind: str = "", wanted: Callable[[Entry], bool] = lambda entry: True
    ) -> Iterator[Filed]:
        """Yield the wanted notes of a kind, or all, in order of path; broken files are left out."""
        found = (entry for entry in self.entries().values() if kind in ("", entry.kind))
        for entry in sorted(filter(wanted, found), key=lambda entry: entry.path):
            try:
                yield self.file(entry.path)
            except FormatError:
                # `doctor` names them; one broken file must not stop a job over all others.
                continue

    def cards(self, key: str | Collection[str], quotes: frozenset[str] = frozenset()) -> list[Card]:
        """Return the cards of a key or keys, or that rest on one of these quotes, by path."""
        keys = {key} if isinstance(key, str) else set(key)
        names = (*(f"key {one}" for one in keys), *quotes)
        listed = self._note_listing.cards
        found = {path for name in names for path in listed.get(name, ())}
        notes = [self.file(path).note for path in sorted(found)]
        return [note for note in notes if isinstance(note, Card)]

    def heads(self) -> list[Head]:
        """Return the heads of all cards in order of path; broken files are left out."""
        return self._card_heads

    @cached_property
    def _card_heads(self) -> list[Head]:
        return Register.from_store(self.store).heads(self.survey)

    def waiting(self) -> dict[str, str]:
        """Return the files that agents and jobs do not get as they stand, and why, by path."""
        return Register.from_store(self.store).waiting(self.survey)

    def card(self, head: Head) -> Card:
        """Read the card of a head.

        Raises:
            ChangedOnDiskError: it is not there any more.
        """
        path = self.entries()[head.id].path
        try:
            note = self.file(path).note
        # The head was of a moment ago; the job tries again with the files as they are.
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
        # Writing it each time would cost a one-line job more than the job.
        if self.survey.due:
            with suppress(NotFoundError):  # A job has just taken a file away.
                self.heads()
            self.survey.keep()


def read_tombstones(store: Store) -> Tombstones:
    """Return all tombstones of a memory.

    Raises:
        FormatError: see `kimi_memory.formats.jsonl.parse_tombstones`.
    """
    return Tombstones(parse_tombstones(tombstone_lines(store), TOMBSTONES), store.journal.keyed)


def tombstone_lines(store: Reading) -> bytes:
    """Return the tombstones that bar, also those whose removal waits for a person's word."""
    try:
        return store.served(TOMBSTONES).content
    except NotFoundError:
        # Nothing was ever forgotten here.
        return b""


def keyed_line(line: bytes, keyed: Keyed) -> bytes:
    """Return a tombstone's line with the keyed hash in place of a plain one."""
    stone = tombstone_of(unseal(line))
    # A plain hash of a few words can be found by trying words; one with a key cannot.
    if not stone.hashed or not stone.value or stone.value.startswith(KEYED):
        return line
    return tombstone_line(replace(stone, value=keyed_hash(stone.value, keyed)))


def last_digests(shelf: Shelf, new: Mapping[str, Note]) -> list[Digest]:
    """Return the digests of the last sessions, newest first; of the others no file is read."""
    entries = [e for e in shelf.entries().values() if e.kind == Digest.kind and e.id not in new]
    newest = sorted(entries, key=lambda entry: (entry.at, entry.path), reverse=True)
    read = (read_note(shelf, entry.path) for entry in islice(newest, SESSIONS))
    found = [note for note in (*new.values(), *read) if isinstance(note, Digest)]
    live = (digest for digest in found if digest.status not in OVER)
    return sorted(live, key=lambda digest: (digest.at, digest.id), reverse=True)[:SESSIONS]


def read_note(shelf: Shelf, path: str) -> Note | None:
    """Return the note of a file; a broken one says nothing."""
    try:
        text = shelf.survey.fact(path, "text", lambda content: decode(content, path), served=True)
        return codec.parse(text, path)
    except (FormatError, NotFoundError):
        return None


DATES = "user.dates."
"""Keys of plans and events whose day was named begin so."""
AFTER_CARDS = 3.0
"""The rank of what comes after the cards of its section."""
_HELD = frozenset({Status.ACTIVE, Status.CONFLICTED})
_BEFORE_ALL = 10.0
"""The name of a person stands before all that is told of them."""
_FIRM = 0.5
"""What must never be done comes before other orders: missing it does harm."""


def is_shown(head: Head) -> bool:
    """Whether a card is held to be so, or is a person's own that waits for a word."""
    mine = head.status is Status.CANDIDATE and head.trust is Origin.HUMAN and not head.sourced
    return head.status in _HELD or mine or (head.status is Status.STALE and head.stands)


def card_section(head: Head) -> Section:
    """Return the section of a card."""
    unsure = head.status is Status.CANDIDATE
    return Section.UNSURE if unsure else section_of(head.type, head.key)


def card_rank(head: Head) -> tuple[float, ...]:
    """Return order, weight below zero, and age below zero; the least comes first."""
    rank = rank_of(head.type, head.confidence, head.importance, head.since.timestamp())
    if head.type is CardType.RULE and forbids(head.text):
        rank = (rank[0] - _FIRM, *rank[1:])
    if head.key.startswith(DATES):  # beside what sessions tell of the same people
        rank = (AFTER_CARDS, -worth_of(head.text), -head.since.timestamp())
    return (rank[0] - _BEFORE_ALL, *rank[1:]) if head.key == NAME else rank


T = TypeVar("T")

_SESSION = re.compile(r"session_(?P<id>.+)\.jsonl")
# Quotation marks inside of a text are escaped, so these stand only where a record has them. To
# parse whole sessions for a name or two would take fifty times as long.
_USER = re.compile(rb'^\{"kind":"session".*?"user":("(?:[^"\\]|\\.)*")')
_AREA = re.compile(rb'^\{"kind":"session"[^\n]*?"area":"[^"]')
_SPEAKER = re.compile(rb'"role":"user","speaker":("(?:[^"\\]|\\.)*")')
_BRACKETS = re.compile(r"[][()（）,，|]+")
_LONGEST = 30
"""No name has more characters …"""
_MOST = 2
"""… and no line has more names: they must not look like what it says."""


class Speakers:
    """Who said what notes rest on.

    Args:
        shelf: the notes and sessions as they are.
        new: notes that are going to be, by id.
    """

    def __init__(self, shelf: Shelf, new: Mapping[str, Note] | None = None) -> None:
        self._shelf, self._new = shelf, new or {}
        # Hundreds of cards rest on a session: to ask for each what its file says takes a tenth of
        # the time in which a statement is kept.
        self._names: dict[str, str] = {}
        self._private: dict[str, bool] = {}
        self._joined: dict[tuple[str, ...], str] = {}

    def of_card(self, id: str, scope: str = SHARED) -> str:
        """Return the names of those who said what a card rests on; empty where none is known.

        Args:
            id: of the card.
            scope: of the card; a shared one names nobody of a private session.
        """
        card = self._new.get(id)
        if isinstance(card, Card):
            sessions = dict.fromkeys(quote.session for quote in card.quotes)
        else:
            entry = self._shelf.entries().get(id)
            quotes = entry.quotes if entry else ()
            sessions = dict.fromkeys(quote.partition("#")[0] for quote in quotes)
        # Most cards rest on the one session of their day.
        shared = scope == SHARED
        asked = ("shared" if shared else "", *sessions)
        if asked not in self._joined:
            self._joined[asked] = self._join_names(sessions, shared=shared)
        return self._joined[asked]

    def _join_names(self, sessions: Iterable[str], *, shared: bool) -> str:
        open_to_all = (id for id in sessions if not (shared and self._is_private(id)))
        names = dict.fromkeys(filter(None, map(self.of_session, open_to_all)))
        return " & ".join(islice(names, _MOST))

    def of_session(self, id: str) -> str:
        """Return the one person who speaks in a session.

        It is empty where nobody has a name, and where several speak: there each line names its own.
        """
        if id not in self._names:
            names = self._read(id, "people", _read_names) or []
            self._names[id] = names[0] if len(names) == 1 else ""
        return self._names[id]

    def _is_private(self, id: str) -> bool:
        if id not in self._private:
            has_area = self._read(id, "area", lambda content: bool(_AREA.search(content)))
            self._private[id] = bool(has_area)
        return self._private[id]

    def _read(self, id: str, name: str, read: Callable[[bytes], T]) -> T | None:
        """Return what the file of a session says; None where there is none that can be read."""
        path = self._paths.get(id)
        if path is None:
            return None
        try:
            return self._shelf.survey.fact(path, name, read, served=True)
        except KimiMemoryError:
            # A session that is broken or gone tells no names.
            return None

    @cached_property
    def _paths(self) -> dict[str, str]:
        """The files of sessions by their ids."""
        found = {}
        for path in self._shelf.survey.looks:
            if path.endswith(".jsonl") and (name := _SESSION.fullmatch(PurePosixPath(path).name)):
                found[name["id"]] = path
        return found


def several(names: Iterable[str]) -> bool:
    """Whether some names are those of more than one person."""
    return len({name.casefold() for name in names if name}) > 1


def _read_names(content: bytes) -> list[str]:
    """Return the names of the people who speak in a session."""
    said = _SPEAKER.findall(content) or _USER.findall(content.split(b"\n", 1)[0])
    return list(dict.fromkeys(filter(None, map(_clean_name, dict.fromkeys(said)))))


def _clean_name(quoted: bytes) -> str:
    """Return a name as it may stand among the labels of a line; empty where it is not a name."""
    try:
        name = json.loads(quoted)
    except ValueError:
        # Found by a pattern in raw bytes, so it may be anything.
        return ""
    plain = " ".join(_BRACKETS.sub(" ", one_line(name)).split())
    return plain if len(plain) <= _LONGEST else ""
