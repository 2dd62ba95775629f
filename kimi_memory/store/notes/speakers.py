"""The people whose words cards and digests rest on, by the names that their sessions give them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import TypeVar

from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.session import SHARED
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats.scalar import one_line
from kimi_memory.store.notes.notes import Shelf

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
