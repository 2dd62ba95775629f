"""Answers about a place in a file: what it is, where it leads, who names it, what may follow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Note
from kimi_memory.errors import KimiMemoryError, NotFoundError
from kimi_memory.jobs.trace import Tracer
from kimi_memory.lsp.hover_text import note_text, turn_text
from kimi_memory.lsp.spots import Spot, session_of, spot_at, spots_in, turn_of_line
from kimi_memory.lsp.vault import Page, Vault
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Filed, Shelf

MOST = 100
"""So many places are named, at most, of those that lead to one thing."""
# Editors show some ten, and ask again at each letter.
_COMPLETED = 50
_KEY_LINE = re.compile(r"^key:[ \t]*(?P<key>\S(?:.*\S)?)[ \t]*$")
_ID_LINE = re.compile(r"^id:[ \t]*(?P<id>\S+)[ \t]*$")
_LINK_BEGUN = re.compile(r"\[\[(?P<part>[^\[\]|#^\n]*)$")
_KEY_BEGUN = re.compile(r"^(?:key:[ \t]*|[ \t]*[-*+][ \t]+)(?P<part>[\w.+#@-]{2,})$")
_TURN = re.compile(r"session:(?P<id>.+)#(?P<n>\d+)")
_HEADING = re.compile(r"^(?P<marks>#{1,6})[ \t]++(?P<words>(?:.*\S)?)[ \t]*$")


class Place(NamedTuple):
    """A line of a file, and the columns on it, in characters."""

    path: str
    line: int
    """From 0."""
    first: int = 0
    last: int = 0


class Hover(NamedTuple):
    """What is shown of a thing, and where it stands on the line."""

    text: str
    spot: Spot


class Choice(NamedTuple):
    """One way to go on with what was begun."""

    words: str
    detail: str
    put: str
    first: int
    """The column from which on it replaces what stands there."""


class Symbol(NamedTuple):
    """A heading, or a line that shows a note."""

    words: str
    depth: int
    """Of a heading; 0 for a line."""
    line: int


class Reader:
    """Answers from an opened memory and from what its files name.

    Args:
        memory: opened for reading.
        vault: what the files name.
    """

    def __init__(self, memory: Memory, vault: Vault) -> None:
        self.memory, self.vault = memory, vault

    def spot(self, path: str, line: str, column: int) -> Spot | None:
        """Return what stands at a place, also the key and the id that a note says of itself."""
        found = spot_at(line, column)
        if found is None and (key := _KEY_LINE.match(line)):
            return Spot("key", key["key"].strip("\"'"), *key.span("key"))
        if found is None and (turn := turn_of_line(path, line)):
            return Spot("turn", turn, 0, len(line))
        return found

    def hover(self, path: str, line: str, column: int) -> Hover | None:
        """Return what is known of the thing at a place."""
        spot = self.spot(path, line, column)
        if spot is None:
            return None
        with suppress(KimiMemoryError):
            # A turn has no file of its own; every other thing is shown from its note.
            if spot.kind == "turn":
                return self._turn_hover(spot)
            filed = self._file(path if spot.kind == "key" else self._path_of(spot))
            return Hover(self.note_text(filed.note), spot) if filed else None
        return None

    def note_text(self, note: Note) -> str:
        """Return what is shown of a note."""
        tracer = Tracer(self.memory.store, self.memory.history)
        # The newer card says what it replaces; the older one does not name what came after it.
        after = [self.vault.page(path) for path in self.vault.naming(note.id)]
        newer = [
            page for page in after if page and page.kind == "card" and self._replaces(page, note)
        ]
        proofs = list(tracer.evidence(note))
        return note_text(note, proofs, self.memory.zone, replaced_by=newer)

    def _replaces(self, page: Page, note: Note) -> bool:
        filed = self._file(page.path)
        return filed is not None and note.id in getattr(filed.note, "supersedes", ())

    def _turn_hover(self, spot: Spot) -> Hover | None:
        found = _TURN.fullmatch(spot.name)
        if found is None:
            return None
        place = sessions.find(self.memory.store, found["id"])
        transcript = sessions.read(self.memory.store, place.path)
        turn = next((one for one in transcript.turns if one.n == int(found["n"])), None)
        if turn is None:
            return None
        pages = map(self.vault.page, self.vault.naming(spot.name))
        rests = [page for page in pages if page and page.kind in ("card", "event")]
        return Hover(turn_text(turn, transcript.session, self.memory.zone, rests), spot)

    def _path_of(self, spot: Spot) -> str:
        find = self.vault.path_of if spot.kind == "note" else self.vault.resolve
        return find(spot.name)

    def _file(self, path: str) -> Filed | None:
        try:
            return Shelf(self.memory.store).file(path) if path else None
        except KimiMemoryError:
            # A broken note gets its own message elsewhere; here only the help is missing.
            return None

    def definition(self, path: str, line: str, column: int) -> Place | None:
        """Return where the thing at a place is."""
        spot = self.spot(path, line, column)
        if spot is None:
            return None
        if spot.kind == "turn":
            return self.find_turn(spot.name)
        to = path if spot.kind == "key" else self._path_of(spot)
        return Place(to, 0) if to else None

    def find_turn(self, name: str) -> Place | None:
        """Return where people read a turn, or a session as a whole."""
        found = _TURN.fullmatch(name)
        id = found["id"] if found else name.removeprefix("session:")
        try:
            place = sessions.find(self.memory.store, id)
        except KimiMemoryError:
            # The editor then says that the name leads nowhere.
            return None
        page = place.path.removesuffix("jsonl") + "md"
        if self.memory.store.exists(page):
            # Where people read it; an open session has its records alone.
            heading = f"### #{found['n']} " if found else ""
            lines = self.memory.store.text(page).splitlines()
            at = (n for n, line in enumerate(lines) if heading and line.startswith(heading))
            return Place(page, next(at, 0))
        line = (
            sessions.find_turn_line(self.memory.store, place.path, int(found["n"])) if found else 1
        )
        return Place(place.path, max(0, line - 1))

    def references(self, path: str, line: str, column: int) -> list[Place]:
        """Return the places that name the thing at a place: who links it, who rests on it."""
        spot = self.spot(path, line, column)
        own = _ID_LINE.match(line)
        if spot is None and not own and column >= 0:
            return self._places_of(self.vault.names_of(path)) if line.startswith("# ") else []
        if spot is not None and spot.kind == "turn":
            return self._places_of({spot.name})
        to = path if spot is None or spot.kind == "key" else self._path_of(spot)
        if spot is not None and not to:
            return self._places_of({spot.name})
        return self._places_of(self.vault.names_of(to))

    def _places_of(self, names: set[str]) -> list[Place]:
        found: list[Place] = []
        for path in self.vault.naming(*names):
            # A file that went since the vault was read names nothing.
            with suppress(KimiMemoryError, NotFoundError):
                for number, line in enumerate(self.memory.store.text(path).splitlines()):
                    spots = (one for one in spots_in(line) if one.name in names)
                    found += [Place(path, number, one.first, one.last) for one in spots]
            if len(found) >= MOST:
                break
        return found[:MOST]

    def complete(self, line: str, column: int) -> list[Choice]:
        """Return what may stand where somebody is typing."""
        begun = line[:column]
        if link := _LINK_BEGUN.search(begun):
            pages, at = self.vault.search(link["part"], _COMPLETED), link.start("part")
            return [
                Choice(page.title or page.path, page.path, _target(self.vault, page), at)
                for page in pages
            ]
        if key := _KEY_BEGUN.search(begun):
            keys = self.vault.keys(key["part"], _COMPLETED)
            return [Choice(one, "", one, key.start("part")) for one in keys]
        return []


def _target(vault: Vault, page: Page) -> str:
    stem = page.path.rpartition("/")[2].removesuffix(".md")
    return stem if vault.resolve(stem) == page.path else page.path.removesuffix(".md")


def symbols(path: str, lines: Sequence[str]) -> Iterator[Symbol]:
    """Yield the headings of a file, and the lines that show a note."""
    # A text in the records of an open session may begin like a heading, and is none.
    if session_of(path) and path.endswith(".jsonl"):
        return
    for number, line in enumerate(lines):
        if heading := _HEADING.match(line):
            yield Symbol(heading["words"] or "#", len(heading["marks"]), number)
        elif line.lstrip().startswith(("- ", "* ", "+ ")):
            marks = [one for one in spots_in(line) if one.kind == "note" and line[one.first] == "^"]
            if marks:
                words = line[: marks[-1].first].strip(" -*+")
                yield Symbol(words[:120] or marks[-1].name, 0, number)
