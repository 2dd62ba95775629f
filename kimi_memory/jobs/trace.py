"""Tracing a note back: its evidence, the turns, the session file, the commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kimi_memory.domain.note import Card, Note, Quote, Source
from kimi_memory.domain.pages import Event
from kimi_memory.domain.session import Transcript, Turn
from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.sessions import is_fork
from kimi_memory.store.git.history import Commit, History
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store


@dataclass(frozen=True, slots=True)
class Evidence:
    """One source of a note, looked up."""

    source: Source
    quote: str
    """The quoted words, empty where the note quotes none."""
    verified: bool
    """Whether the quote stands in the stored turn now."""
    path: str
    """The session file; empty when it is gone."""
    line: int
    """Line of the first turn in that file."""
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything known about where a note comes from."""

    note: Note
    path: str
    evidence: tuple[Evidence, ...]
    commits: tuple[Commit, ...] = ()


class Tracer:
    """Looks up evidence in the sessions of a store."""

    def __init__(self, store: Store, history: History) -> None:
        self._store, self._history = store, history
        self._read: dict[str, tuple[str, Transcript] | None] = {}

    def trace(self, id: str, paths: Iterable[str] = ()) -> Trace:
        """Trace a note.

        Args:
            id: its id, or a unique prefix of it.
            paths: where it may lie, see `Shelf.find`.

        Raises:
            NotFoundError: there is no such note.
        """
        shelf = Shelf(self._store)
        entry = shelf.find(id, paths)
        note = shelf.file(entry.path).note
        commits = self._history.log(limit=20, path=entry.path) if self._history.ready() else []
        return Trace(note, entry.path, tuple(self.evidence(note)), tuple(commits))

    def evidence(self, note: Note) -> Iterator[Evidence]:
        """Yield each source of a note, looked up."""
        quotes = note.quotes if isinstance(note, Card | Event) else ()
        for source in note.sources:
            quote = next((q for q in quotes if _is_quote_of(q, source)), None)
            found = self._look_up(source, quote)
            if quote is not None and not found.verified:
                # A note that a merge changed may still count as it was before; then its turn
                # stands in the fork that the merge made.
                forks = (
                    self._look_up(replace(source, session=id), quote) for id in self._forks(source)
                )
                found = next((one for one in forks if one.verified), found)
            yield found

    def _look_up(self, source: Source, quote: Quote | None) -> Evidence:
        found, words = self._read_session(source.session), quote.text if quote else ""
        if found is None:
            return Evidence(source, words, False, "", 0)
        path, transcript = found
        turns = tuple(t for t in transcript.turns if source.first <= t.n <= source.last)
        # Checked now, not when the card was made: a session may have been edited since.
        verified = quote is not None and any(quote.stands_in(turn.text) for turn in turns)
        line = sessions.find_turn_line(self._store, path, source.first)
        return Evidence(source, words, verified, path, line, turns)

    def _forks(self, source: Source) -> list[str]:
        """Return the sessions that merges made of later turns of a session."""
        ids = (place.id for place in sessions.places(self._store))
        return sorted(id for id in ids if is_fork(id, source.session))

    def _read_session(self, id: str) -> tuple[str, Transcript] | None:
        if id not in self._read:
            try:
                path = sessions.find(self._store, id).path
                self._read[id] = (path, sessions.read(self._store, path))
            except (NotFoundError, FormatError):
                self._read[id] = None
        return self._read[id]


def _is_quote_of(quote: Quote, source: Source) -> bool:
    same = quote.session == source.session and source.first <= quote.n <= source.last
    return same and source.quote in ("", quote.hash)
