"""Evidence that follows its turns to the session they were moved to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.note import Card, Note, Quote, Source
from kimi_memory.domain.pages import Day, Digest, DigestLine, Event
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats.body_layout import TURN, turn_link

# A line of a day's page: `09:00 Li: tea [[session_s1#^t2|#2]]`.
_SAID = re.compile(rf"{TURN}(?:-(?P<last>[0-9]{{1,9}}))?(?(m)\]\])")
_TURN = re.compile(r"session:(?P<id>.+)#(?P<n>[0-9]{1,9})")


class Moved(NamedTuple):
    """Turns of a session that stand in another one now."""

    first: int
    """Number of the first; later ones moved as well, up to where the next move begins."""
    to: str


Moves = Mapping[str, tuple[Moved, ...]]
"""By the session that the turns were in; a fork that forked again has several."""


class _Part(NamedTuple):
    """Turns of one session in a row."""

    session: str
    first: int
    last: int


def _parts(session: str, first: int, last: int, moves: Moves) -> list[_Part]:
    """Return where turns in a row stand now, in their order."""
    parts = [_Part(session, first, last)]
    for moved in moves.get(session, ()):
        if moved.first <= first:
            parts = [_Part(moved.to, first, last)]
        elif moved.first <= last:
            parts[-1] = parts[-1]._replace(last=moved.first - 1)
            parts.append(_Part(moved.to, moved.first, last))
    return parts


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
        if stone.scope.startswith("session:"):
            for moved in moves.get(stone.scope.removeprefix("session:"), ()):
                yield replace(stone, scope=f"session:{moved.to}")


def _repoint_sources(
    sources: Iterable[Source], heard: Mapping[tuple[str, str], int], moves: Moves
) -> Iterator[Source]:
    for source in sources:
        parts = _parts(source.session, source.first, source.last, moves)
        # The quote goes with the part that holds its turn.
        turn = heard.get((source.session, source.quote), source.first)
        holds = max((part for part in parts if part.first <= turn), default=parts[0])
        for part in parts:
            quote = source.quote if part == holds else ""
            yield replace(source, **part._asdict(), quote=quote)


def _repoint_quote(quote: Quote, moves: Moves) -> Quote:
    return replace(quote, session=_parts(quote.session, quote.n, quote.n, moves)[0].session)


def _repoint_line(line: str, moves: Moves) -> str:
    def place(found: re.Match[str]) -> str:
        first = int(found["n"] or found["m"])
        part = _parts(found["session"], first, first, moves)[0]
        if part.session == found["session"]:
            return found[0]
        return turn_link(part.session, first, int(found["last"] or first))

    return _SAID.sub(place, line)


def _new_place(id: str, moves: Moves) -> str:
    found = _TURN.fullmatch(id)
    if found is None:
        return ""
    n = int(found["n"])
    [part] = _parts(found["id"], n, n, moves)
    return "" if part.session == found["id"] else f"session:{part.session}#{n}"


def _split_digest(digest: Digest, moves: Moves) -> list[Note]:
    lines: dict[str, list[DigestLine]] = {digest.session: []}
    for line in digest.lines:
        [part] = _parts(digest.session, line.first, line.first, moves)
        lines.setdefault(part.session, []).append(line)
    left, *moved = (replace(digest, session=to, lines=tuple(own)) for to, own in lines.items())
    return [left, *(replace(one, id=_parted_id(one)) for one in moved)]


def _parted_id(digest: Digest) -> str:
    return derived_id(Digest.kind, digest.created, digest.session)
