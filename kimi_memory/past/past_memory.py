"""A memory as it was known at one point: read-only, and silent about what was forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.config import RecallTable
from kimi_memory.domain.note import Card, Note, Origin, Status
from kimi_memory.domain.past import Since
from kimi_memory.domain.search_types import Answer, Context, Query
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.formats.frontmatter import decode
from kimi_memory.formats.jsonl import unseal
from kimi_memory.hooks.host import Host
from kimi_memory.index.files import is_searchable
from kimi_memory.index.index import Index
from kimi_memory.index.units import Words
from kimi_memory.nlp.basic.quotes import split_citation
from kimi_memory.past.labels import label_block, name_point
from kimi_memory.past.note_states import is_barred, read_note
from kimi_memory.past.points import Point
from kimi_memory.past.reader import PastReader
from kimi_memory.past.unmet import Unmet, find_waiting, merge_unmet
from kimi_memory.recall.engine import Recall
from kimi_memory.recall.filters import forgotten_ids, restrict_to_caller
from kimi_memory.recall.query_parser import parse
from kimi_memory.recall.request import Request
from kimi_memory.store.files.disk import uncollected
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.git.earlier import read_earlier
from kimi_memory.store.notes.note_index import may_be_note, read_entry
from kimi_memory.store.reading import Served

if TYPE_CHECKING:
    from pathlib import Path

    from kimi_memory.domain.tombstone import Tombstones
    from kimi_memory.index.searcher import Searcher
    from kimi_memory.store.store import Store
    from kimi_memory.store.wal.journal import Journal

_REPLACES = b"\nsupersedes:"
"""What stands in the file of a card that came in the place of others."""


class PastText(NamedTuple):
    """A file as it was."""

    path: str
    text: str


class PastFiles:
    """The files of a point: those that were otherwise, and the others as they are.

    Args:
        store: the files now.
        earlier: the files that were otherwise; None for those that were not there.
    """

    def __init__(self, store: Store, earlier: Mapping[str, Served | None]) -> None:
        self._store, self.earlier = store, earlier

    @property
    def root(self) -> Path:
        """The memory folder."""
        return self._store.root

    @property
    def journal(self) -> Journal:
        """What has the machine's key."""
        return self._store.journal

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; what was forgotten is read as it is now."""
        return self.served(path).content

    def served(self, path: str) -> Served:
        """Return a file as agents get it."""
        if path not in self.earlier or path == TOMBSTONES:
            return self._store.served(path)
        one = self.earlier[path]
        if one is None:
            raise NotFoundError("file in that version", path)
        return one


class PastIndex:
    """The index of a point, as recall asks for it."""

    def __init__(self, index: Index, view: Callable[[], Searcher]) -> None:
        self._index, self._view = index, view

    @property
    def words(self) -> Words:
        """Splits texts into the words they are found by."""
        return self._index.words

    @property
    def guard(self) -> AbstractContextManager[object]:
        """Held while the engines are read."""
        return self._index.guard

    def searcher(self) -> Searcher:
        """Return a view of the files of the point."""
        return self._view()


class PastMemory:
    """One memory as it was known at a point.

    It writes nothing: a question about the past leaves no receipt and warms nothing.
    """

    def __init__(
        self, reader: PastReader, point: Point, index: Index, host: Host, settings: RecallTable
    ) -> None:
        self.point, self._reader, self._index = point, reader, index
        self._settings, self._host = settings, host
        self._made: tuple[object, Searcher] | None = None
        self.engine = Recall(PastIndex(index, self.searcher), host, settings, self.now)

    def now(self) -> datetime:
        """Return the moment that is asked about: relative dates count from it."""
        return self.point.moment

    def recall(self, query: Query | str, *, limit: int = 0) -> Answer:
        """Find the lines that answered a question then.

        Raises:
            UsageError: the line cannot be understood; the place is named.
        """
        if isinstance(query, str):
            query = parse(query, self.now(), limit=limit or self._settings.limit)
        with self._index.hold():
            answer = self._engine_for(query).search(query)
            return name_point(answer, self.point, self._unmet)

    def context(self, request: Request) -> Context:
        """Return the block of memory that a task or a turn was given then.

        Raises:
            UsageError: it is for the start of a session, which is made of the files now.
        """
        if request.purpose == "start":
            raise UsageError("The block of a start is made of the files now. Ask for a task.")
        from kimi_memory.recall.context import build  # a question needs no block

        with self._index.hold():
            caller = request.narrowed(Query(text="", within=request.within))
            built = build(self._engine_for(caller), request)
        return label_block(built, self.point)

    def get(self, what: str) -> PastText:
        """Return a file by its path or citation, or a note by its id, as it was.

        Raises:
            NotFoundError: it was not there, or it was forgotten since.
        """
        vars(self).pop("_forgotten", None)
        path = split_citation(what)[0]
        content = self._read(path)
        if content is None:
            heads = (self.point.commit, *self.point.unmet)
            places = (self._reader.path_at(what, commit) for commit in heads)
            path = next(filter(None, places), "")
            content = self._read(path) if path else None
        if content is None or not self._may_be_shown(path, content):
            raise NotFoundError("note or file in that version", what)
        return PastText(path, "".join(self._shown_lines(path, decode(content, path))))

    def find_replacement(self, note: Note) -> Since | None:
        """Return when a card that held then was replaced, and by what; None where it was not.

        Args:
            note: the card as it is now.
        """
        if not isinstance(note, Card) or note.status != Status.SUPERSEDED:
            return None
        after = self._replacements.get(note.id)
        told = (after.value, after.id) if after is not None else ("", "")
        return Since(str(note.status), note.valid_to or note.updated, *told)

    @cached_property
    def _replacements(self) -> Mapping[str, Card]:
        """The cards that came since in the place of others, by the ids of those."""
        files, store = self.searcher().files, self._reader.store
        found, stones = dict[str, Card](), self._reader.stones
        # They were not there then, or were otherwise: the files that differ are known.
        for path in sorted(files.earlier if isinstance(files, PastFiles) else ()):
            if path.endswith(".md") and store.exists(path) and _REPLACES in store.read(path):
                one = store.served(path)
                new = read_note(path, one.content) if one.cap is None else None
                if isinstance(new, Card) and not is_barred(stones, new):
                    found |= dict.fromkeys(new.supersedes, new)
        return found

    @cached_property
    def _unmet(self) -> Unmet:
        return merge_unmet(self._reader.history, self.point)

    def _read(self, path: str) -> bytes | None:
        """Return a file of the point; None where it was not there, or is made and would wait."""
        if path in self._unmet.files:
            waits = path in find_waiting(self._reader.store, self._unmet)
            return None if waits else self._unmet.files[path]
        return self._reader.content(self.point.commit, path)

    def searcher(self) -> Searcher:
        """Return a view of the files of the point."""
        present = self._index.searcher()
        if self._made is None or self._made[0] is not present:
            self._made = present, self._look_back(present, frozenset())
        return self._made[1]

    def _look_back(self, present: Searcher, hidden: frozenset[str]) -> Searcher:
        vars(self).pop("_forgotten", None)
        with self._index.guard, uncollected():
            earlier = dict(self._earlier_files())
            hidden |= frozenset(forgotten_ids(present)) | self._forgotten[1]
            return self._index.at(PastFiles(self._reader.store, earlier), earlier, hidden)

    def _engine_for(self, query: Query) -> Recall:
        """Return the engine for a caller, which finds no note that they may not see now."""
        if query.within is None:
            return self.engine
        present = self._index.searcher()
        was, known = _list_ids(self.searcher(), query), _list_ids(present, Query(text=""))
        hidden = was & (known - _list_ids(present, query))
        if not hidden:
            return self.engine
        view = self._look_back(present, hidden)
        return Recall(PastIndex(self._index, lambda: view), self._host, self._settings, self.now)

    @cached_property
    def _forgotten(self) -> tuple[Tombstones, frozenset[str]]:
        # Asked once for thousands of notes: it reads a file, and looks where the branch is.
        stones = self._reader.stones
        return stones, self._reader.table().forgotten() if stones else frozenset()

    def _earlier_files(self) -> Iterator[tuple[str, Served | None]]:
        """Yield the searchable files that had another content."""
        if self._reader.points.is_present(self.point):
            return
        git, looks = self._reader.history.repository(), self._index.looks
        earlier = read_earlier(git, self.point.commit, looks, is_searchable)
        earlier |= {path: one for path, one in self._unmet.files.items() if is_searchable(path)}
        there = [(path, content) for path, content in earlier.items() if content is not None]
        waits = {path for path, _ in self._reader.find_unconfirmed(there, gone=True)}
        waits |= find_waiting(self._reader.store, self._unmet)
        for path, content in earlier.items():
            if content is None or not self._may_be_shown(path, content, waiting=True):
                yield path, None
            else:
                cap = Origin.REMOTE if path in waits else None
                yield path, Served(content, cap, unseen=self._reader.find_unseen(path, content))

    def _may_be_shown(self, path: str, content: bytes, *, waiting: bool = False) -> bool:
        """Whether a file holds no note that was forgotten, nor one that nobody confirmed."""
        if not waiting and self._reader.is_unconfirmed(path, content):
            return False
        stones, gone = self._forgotten
        # The usual case, in which a file need not be parsed for it.
        entry = read_entry(path, content) if (stones or gone) and may_be_note(path) else None
        if entry is None:
            return True
        note: Note | None = read_note(path, content)
        barred = note is not None and is_barred(stones, note)
        return not barred and entry.id not in gone

    def _shown_lines(self, path: str, text: str) -> Iterator[str]:
        """Yield the lines of a file that say nothing that was forgotten."""
        session = path.rpartition("session_")[2].removesuffix(".jsonl")
        scopes = {"memory", f"session:{session}"}
        for line in text.splitlines(keepends=True):
            said = _said_in(line) if path.endswith(".jsonl") else line
            if not self._reader.hides(said, scopes):
                yield line


def _said_in(line: str) -> str:
    """Return what a line of a session says."""
    try:
        return str(unseal(line.encode()).get("text", ""))
    except ValueError:
        return line


def _list_ids(searcher: Searcher, query: Query) -> frozenset[str]:
    """Return the ids of what a caller may see."""
    seen, ids = restrict_to_caller(searcher, query), searcher.column("id")
    return frozenset(ids[row] for row in seen.living())
