"""Repair of session files that hold two sessions: each gets its own, and evidence its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kimi_memory.api.memory import Memory
from kimi_memory.domain.change import Actor
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import Card, Quote, Source
from kimi_memory.domain.pages import Event
from kimi_memory.domain.session import Transcript
from kimi_memory.formats.joined_sessions import is_joined, parts_of
from kimi_memory.formats.jsonl import read_transcript_lines
from kimi_memory.jobs.render import Render
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.notes.sessions import split_changes
from kimi_memory.store.store import Store

_WHY = "its words stand in a session of their own again"

Moved = Mapping[str, tuple[Transcript, ...]]
"""Of each id the sessions that stood in its file: its own, then the others."""


def split_sessions(memory: Memory) -> list[str]:
    """Give every session its own file, and point cards and events to it; return their paths."""
    # A job that reads a file while it is split would quote turns of the other session.
    with memory.store.lock("job"):
        joined = dict(_find_joined_files(memory.store))
        if not joined:
            return []
        shelf, moved = Shelf(memory.store), dict(map(_split_transcripts, joined, joined.values()))
        changes = [c for path in joined for c in split_changes(memory.store, path, joined[path])]
        changes += Render(memory.store, shelf).changes(_repoint_notes(shelf, moved))
        actor = Actor("doctor", memory.actor.origin)
        memory.store.apply(changes, actor, subject="split sessions")
    memory.written()
    return list(joined)


def _find_joined_files(store: Store) -> Iterator[tuple[str, bytes]]:
    for place in sessions.places(store):
        content = store.read(place.path)
        if is_joined(content):
            yield place.path, content


def _split_transcripts(path: str, content: bytes) -> tuple[str, tuple[Transcript, ...]]:
    """Return the id of a file's own session, and all sessions in it."""
    parts = parts_of(content.splitlines(keepends=True))
    found = tuple(read_transcript_lines(part.lines, path) for part in parts)
    return found[0].session.id, found


def _repoint_notes(shelf: Shelf, moved: Moved) -> Iterator[Step]:
    """Yield the notes whose quotes stand in another of the sessions that shared a file."""
    for kind in (Card.kind, Event.kind):
        for filed in shelf.notes(kind):
            note = filed.note
            if not isinstance(note, Card | Event):
                continue
            homes = {quote: _find_quote_session(quote, moved) for quote in note.quotes}
            if any(quote.session != id for quote, id in homes.items()):
                places = {(q.session, q.n, q.hash): id for q, id in homes.items()}
                quotes = tuple(replace(quote, session=id) for quote, id in homes.items())
                sources = tuple(_repoint_source(source, places) for source in note.sources)
                yield Step(Op.REFINE, replace(note, quotes=quotes, sources=sources), _WHY)


def _find_quote_session(quote: Quote, moved: Moved) -> str:
    """Return the session in which a quote stands: its own, where it stands there or nowhere."""
    for transcript in moved.get(quote.session, ()):
        turn = transcript.turn(quote.n)
        if turn is not None and quote.stands_in(turn.text):
            return transcript.session.id
    return quote.session


def _repoint_source(source: Source, places: Mapping[tuple[str, int, str], str]) -> Source:
    known = places.get((source.session, source.first, source.quote))
    return replace(source, session=known) if known else source
