"""What a start block is made of, found by the index: of many files only those it shows are read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kimi_memory.domain.brief import MOST, Section
from kimi_memory.domain.note import Card, Lang
from kimi_memory.domain.pages import IDENTITY_PATH, Digest, Identity, Project
from kimi_memory.errors import NotFoundError, UnsafePathError
from kimi_memory.formats.card_form import Head
from kimi_memory.index.searcher import Bools, Ints, Searcher
from kimi_memory.store.files.disk import UNKNOWN
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.note_index import (
    Catalog,
    Entry,
    Survey,
    may_be_note,
    read_entry,
    read_head,
)
from kimi_memory.store.notes.notes import SESSIONS, Shelf, last_digests
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.store.notes.known import Whose

_ANY = "any"
"""The day of a digest whose name does not tell it; sorted after all others."""
_DAY = re.compile(r"^episodic/(\d{8})_")


class Front(NamedTuple):
    """What the index knows of all cards that somebody may see."""

    rows: list[int]
    """Those of each section that are ranked first."""
    beyond: int
    """So many more may be shown."""
    langs: dict[Lang, int]
    """How many of all cards are in each language."""

    @classmethod
    def from_index(cls, searcher: Searcher, whose: Whose) -> Front:
        """Return the first cards of each section, by what the index knows of all."""
        seen = _seen_cards(searcher, whose)
        langs = searcher.column("lang").tally(seen)
        held = seen & ~searcher.column("section").among({""})
        if whose.now is not None:
            ends = searcher.column("valid_to").numbers()
            held &= ~(ends <= whose.now.timestamp())  # NaN for what has no end
        rows = [row for section in Section for row in _first_rows(searcher, section, held)]
        known = {Lang(name): count for name, count in langs.items() if name in tuple(Lang)}
        return cls(rows, int(held.sum()) - len(rows), known)


def _seen_cards(searcher: Searcher, whose: Whose) -> Bools:
    seen = searcher.alive & searcher.column("kind").among({Card.kind})
    if whose.scopes is not None:
        seen &= searcher.column("scope").among(set(whose.scopes))
    if whose.project:
        seen &= searcher.column("project").among({"", whose.project})
    return seen if whose.ids is None else seen & searcher.column("id").among(set(whose.ids))


def _first_rows(searcher: Searcher, section: Section, held: Bools) -> list[int]:
    """Return the rows of a section that are ranked first, by `card_rank` and id."""
    rows: Ints = np.flatnonzero(held & searcher.column("section").among({str(section)}))
    if len(rows) <= MOST:
        return [int(row) for row in rows]
    orders, weights = (searcher.column(name).numbers()[rows] for name in ("order", "weight"))
    ages = -searcher.column("since").numbers()[rows]
    last = np.lexsort((ages, weights, orders))[MOST - 1]
    # All that tie with the last: of those the ids decide.
    keys = zip(orders.tolist(), weights.tolist(), ages.tolist(), rows.tolist(), strict=True)
    bound, ids = (orders[last], weights[last], ages[last]), searcher.column("id")
    near = (key for key in keys if key[:3] <= bound)
    first = nsmallest(MOST, near, key=lambda key: (key[:3], ids[key[3]]))
    return [key[3] for key in first]


class FrontShelf(Shelf):
    """The notes that a start block is made of, and no others.

    Args:
        store: where they lie.
        searcher: what the index knows of all of them.
        front: the cards that may have room.
    """

    def __init__(self, store: Store, searcher: Searcher, front: Front) -> None:
        super().__init__(store)
        self._searcher, self._front = searcher, front
        self._heads: dict[str, Head] = {}
        self.beyond, self.langs = front.beyond, front.langs

    @cached_property
    def survey(self) -> Survey:
        """Knows no file but those of sessions; what it is asked for is read."""
        looks = {place.path: UNKNOWN for place in sessions.places(self.store)}
        catalog = Catalog.from_store(self.store)
        return Survey(self.store, catalog, looks, self.store.journal.extent())

    def entries(self) -> dict[str, Entry]:
        """Return the first cards, projects, identities, the last digests, and what is over."""
        return self._front_entries

    @cached_property
    def _front_entries(self) -> dict[str, Entry]:
        shown = {*self._paths(self._front.rows)}
        kinds = self._searcher.column("kind").among({Project.kind, Identity.kind})
        pages = self._paths(np.flatnonzero(self._searcher.alive & kinds).tolist())
        paths = {*shown, *pages, IDENTITY_PATH}
        listed = [entry for path in paths if (entry := self._entry(path, shown))]
        self.__dict__["_front_entries"] = found = _by_id([*listed, *self._last_digests()])
        # The last digests say which sessions matter, and cards that are over only by these.
        recent = {digest.session for digest in last_digests(self, {})}
        over = self._searcher.column("over").where(lambda value: not recent.isdisjoint(value))
        gone = self._paths(np.flatnonzero(self._searcher.alive & over).tolist())
        entries = (self._entry(path) for path in gone)
        return _by_id([*found.values(), *(entry for entry in entries if entry)])

    def heads(self) -> list[Head]:
        """Return the heads of the cards that may have room, in order of path."""
        paths = (entry.path for entry in self.entries().values())
        return [self._heads[path] for path in paths if path in self._heads]

    def _paths(self, rows: Iterable[int]) -> list[str]:
        return sorted({self._searcher.path(row) for row in rows})

    def _entry(self, path: str, cards: Collection[str] = ()) -> Entry | None:
        """Return what the head of a file says; of these cards all of it is kept."""
        if not may_be_note(path):
            return None
        try:
            content = self.store.served(path).usable
        except (NotFoundError, UnsafePathError):
            # It went, or a link leads out of the memory: neither is shown.
            return None
        if path in cards and (head := read_head(path, content)):
            self._heads[path] = head
        return read_entry(path, content)

    def _last_digests(self) -> Iterator[Entry]:
        """Yield the digests of the last days, as many days as hold enough of them."""
        days = defaultdict[str, list[str]](list)
        for path in self._searcher.bare():
            named = _DAY.match(path)
            # Somebody gave it a name of their own: it may be of any day, hence comes first.
            days[named[1] if named else _ANY].append(path)
        count = 0
        for day in sorted(days, reverse=True):
            read = [entry for path in days[day] if (entry := self._entry(path))]
            found = [entry for entry in read if entry.kind == Digest.kind]
            yield from found
            count += len(found) if day != _ANY else 0
            if count >= SESSIONS:
                return


def _by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Return entries by id in order of path; where two share one, the first path has it."""
    found: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.path):
        found.setdefault(entry.id, entry)
    return found
