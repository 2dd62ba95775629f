"""Evidence that follows its turns to the session they were moved to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.note import Card, Note, Quote, Source
from kimi_memory.domain.pages import Day, Digest, Event
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats.wikilinks import TURN, turn_link

# A line of a day's page: `09:00 Li: tea [[session_s1#^t2|#2]]`.
_SAID = re.compile(rf"{TURN}(?:-(?P<last>[0-9]{{1,9}}))?(?(m)\]\])")
_TURN = re.compile(r"session:(?P<id>.+)#(?P<n>[0-9]{1,9})")


class Moved(NamedTuple):
    """Turns of a session that stand in another one now."""

    first: int
    """Number of the first; all later ones moved as well."""
    to: str


Moves = Mapping[str, Moved]
"""By the session that the turns were in."""


def repoint_note(note: Note, moves: Moves) -> list[Note]:
    """Return a note whose evidence names the turns where they are.

    A digest is about one session: lines about moved turns become a digest of their own.
    """
    if not moves:
        return [note]
    quotes = note.quotes if isinstance(note, Card | Event) else ()
    heard = {(quote.session, quote.hash): quote.n for quote in quotes}
    new = replace(note, sources=tuple(_repoint_sources(note.sources, heard, moves)))
    if isinstance(new, Card | Event):
        return [replace(new, quotes=tuple(_repoint_quote(quote, moves) for quote in quotes))]
    if isinstance(new, Day):
        return [replace(new, sessions=tuple(_repoint_line(line, moves) for line in new.sessions))]
    return _split_digest(new, moves) if isinstance(new, Digest) else [new]


def repoint_tombstones(stones: Iterable[Tombstone], moves: Moves) -> Iterator[Tombstone]:
    """Yield tombstones that bar moved turns as well, wherever they are now."""
    for stone in stones:
        also = tuple(new for id in stone.about if (new := _new_place(id, moves)))
        yield replace(stone, about=(*stone.about, *also)) if also else stone


def bar_sessions(stones: Iterable[Tombstone], moves: Moves) -> Iterator[Tombstone]:
    """Yield tombstones, and for those of a session another for the one its turns moved to."""
    for stone in stones:
        yield stone
        moved = moves.get(stone.scope.removeprefix("session:"))
        if moved is not None and stone.scope.startswith("session:"):
            yield replace(stone, scope=f"session:{moved.to}")


def _repoint_sources(
    sources: Iterable[Source], heard: Mapping[tuple[str, str], int], moves: Moves
) -> Iterator[Source]:
    for source in sources:
        moved = moves.get(source.session)
        if moved is None or source.last < moved.first:
            yield source
        elif source.first >= moved.first:
            yield replace(source, session=moved.to)
        else:  # The quote goes with the part that holds its turn.
            later = heard.get((source.session, source.quote), source.first) >= moved.first
            yield replace(source, last=moved.first - 1, quote="" if later else source.quote)
            quote = source.quote if later else ""
            yield replace(source, session=moved.to, first=moved.first, quote=quote)


def _repoint_quote(quote: Quote, moves: Moves) -> Quote:
    moved = moves.get(quote.session)
    return replace(quote, session=moved.to) if moved and quote.n >= moved.first else quote


def _repoint_line(line: str, moves: Moves) -> str:
    def place(found: re.Match[str]) -> str:
        moved, first = moves.get(found["session"]), int(found["n"] or found["m"])
        if moved is None or first < moved.first:
            return found[0]
        return turn_link(moved.to, first, int(found["last"] or first))

    return _SAID.sub(place, line)


def _new_place(id: str, moves: Moves) -> str:
    found = _TURN.fullmatch(id)
    moved = moves.get(found["id"]) if found else None
    moves_too = found and moved and int(found["n"]) >= moved.first
    return f"session:{moved.to}#{found['n']}" if found and moved and moves_too else ""


def _split_digest(digest: Digest, moves: Moves) -> list[Note]:
    moved = moves.get(digest.session)
    late = tuple(line for line in digest.lines if moved and line.first >= moved.first)
    if moved is None or not late:
        return [digest]
    left = tuple(line for line in digest.lines if line not in late)
    id = derived_id(Digest.kind, digest.created, moved.to)
    return [replace(digest, lines=left), replace(digest, id=id, session=moved.to, lines=late)]
