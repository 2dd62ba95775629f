"""The catalog: what was read of each file, known for as long as the file stays as it is."""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from kimi_memory.errors import KimiMemoryError
from kimi_memory.store.files.cache_files import worth_writing
from kimi_memory.store.files.disk import UNKNOWN, Stat, Stats
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.store import Store
from kimi_memory.store.wal.journal import Extent

FILE = f"{PRIVATE}/cache/catalog"
"""Derived: it spares reading files that did not change, and may vanish at any moment."""
_FORM = 9
"""To be raised whenever something else is read from the same file."""

T = TypeVar("T")
Facts = dict[str, Any]
_NOTHING: Mapping[str, Callable[[str, bytes], object]] = {}
"""What is known of a file, by name; a list is what JSON made of a tuple."""


class Catalog:
    """Facts about the files of one store, shared by all that look at it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: dict[str, tuple[Stat, Facts]] | None = None
        self._guard = threading.Lock()
        self.news = 0
        """So many facts are not in the file."""

    @classmethod
    def from_store(cls, store: Store) -> Catalog:
        """Return the catalog of a store; all that ask get the same."""
        return store.companions.find(cls, lambda: cls(store))

    def survey(self) -> Survey:
        """Look at every file."""
        seen = self._store.folder_scan.look()
        return Survey(self._store, self, seen.files, seen.extent)

    def facts(self, path: str, look: Stat) -> Facts:
        """Return the facts of a file in this state; the caller may add some."""
        # Asked for every file at every start; a row that is there is never changed.
        known = self._rows.get(path) if self._rows is not None else None
        if known is not None and known[0] == look:
            return known[1]
        with self._guard:
            if self._rows is None:
                self._rows = self._load_rows()
            known = self._rows.get(path)
            # By size, time and inode: to hash every file at each start would be to read all of
            # them.
            if known is None or known[0] != look:
                # A file that looks otherwise may say anything: all that was known of it goes.
                known = self._rows[path] = look, {}
            return known[1]

    @property
    def due(self) -> bool:
        """Whether enough is new to be worth a file."""
        return worth_writing(self.news, len(self._rows or ())) and not self._store.read_only

    def keep(self, looks: Stats) -> None:
        """Save what is known of these files."""
        with self._guard:
            rows = self._rows or {}
            # Files that are gone leave the cache here, so it never outgrows the memory.
            self._rows = {path: row for path, row in rows.items() if path in looks}
            body = _encode_rows(self._rows)
            self.news = 0
        try:
            self._store.view(FILE, self._sign_body(body) + b"\n" + body)
        except KimiMemoryError:
            return  # Without it, files are read again.

    def _load_rows(self) -> dict[str, tuple[Stat, Facts]]:
        try:
            mark, _, body = self._store.read(FILE).partition(b"\n")
        except KimiMemoryError:
            return {}
        # Signed, as it decides what counts: a folder from elsewhere could bring a list of its own.
        if not hmac.compare_digest(mark, self._sign_body(body)):
            return {}
        form, rows = json.loads(body)
        return {path: (tuple(look), facts) for path, look, facts in rows} if form == _FORM else {}

    def _sign_body(self, body: bytes) -> bytes:
        return self._store.journal.sign(body)


class Survey:
    """The files of a store as they looked at one moment.

    Args:
        store: where they are read.
        catalog: knows what was read before.
        looks: size, time and inode of each file, `UNKNOWN` for what may still be written.
        extent: of the journal, before that moment.
    """

    def __init__(self, store: Store, catalog: Catalog, looks: Stats, extent: Extent) -> None:
        self._store, self._catalog, self.looks = store, catalog, looks
        self._extent = extent
        self._passing: dict[str, Facts] = {}

    def fact(
        self,
        path: str,
        name: str,
        make: Callable[[bytes], T],
        again: Callable[[list[Any]], T] | None = None,
        *,
        served: bool = False,
        beside: Mapping[str, Callable[[str, bytes], object]] = _NOTHING,
    ) -> T:
        """Return what `make` finds in a file; it is asked once for each content.

        Args:
            path: the file.
            name: of the fact.
            make: finds it in the bytes of the file.
            again: makes it of its JSON form, where that is another.
            served: whether the file is taken as agents get it, not as it stands.
            beside: other facts by name, to be found in the same bytes when the file is read.
        """
        facts = self._facts_of_file(path)
        if name not in facts:
            version = self._store.served(path) if served else None
            if version is not None and version.passing:  # It may be otherwise in a moment.
                facts = self._passing.setdefault(path, {})
            content = version.usable if version else self._store.read(path)
            facts |= {other: find(path, content) for other, find in beside.items()}
            facts[name] = make(content)
            if version is not None:
                facts["waits"] = version.why  # Else it would be judged once more to tell that.
            self._catalog.news += 1
        elif again is not None and type(facts[name]) is list:
            facts[name] = again(facts[name])
        found: T = facts[name]
        return found

    def waits(self, path: str) -> str:
        """Return why a file is not used as it stands; empty for one that is."""
        facts = self._facts_of_file(path)
        if "waits" not in facts:
            version = self._store.served(path)
            if version.passing:
                facts = self._passing.setdefault(path, {})
            facts["waits"] = version.why
            self._catalog.news += 1
        return str(facts["waits"])

    def is_passing(self, path: str) -> bool:
        """Whether what is known of a file may be otherwise though the file stays as it is."""
        return path in self._passing

    def known(self, path: str, name: str) -> object:
        """Return a noted fact, None where there is none."""
        return self._facts_of_file(path).get(name)

    def note(self, path: str, name: str, fact: str) -> None:
        """Note a fact about a file as it is."""
        self._facts_of_file(path)[name] = fact
        self._catalog.news += 1

    def still(self) -> Stats | None:
        """Return how the files looked; None when the store has written since."""
        return self.looks if self._store.journal.extent() == self._extent else None

    @property
    def due(self) -> bool:
        """Whether so much was read that it should be kept."""
        return self._catalog.due

    def keep(self) -> None:
        """Save what is known, for the next process."""
        self._catalog.keep(self.looks)

    def _facts_of_file(self, path: str) -> Facts:
        look = self.looks.get(path, UNKNOWN)
        if look == UNKNOWN:
            return self._passing.setdefault(path, {})
        return self._catalog.facts(path, look)


def _encode_rows(rows: dict[str, tuple[Stat, Facts]]) -> bytes:
    listed = [(path, look, facts) for path, (look, facts) in rows.items()]
    # As it is written, so that a text that must go can be found in it.
    text = json.dumps(
        [_FORM, listed], ensure_ascii=False, separators=(",", ":"), default=_format_moment
    )
    return text.encode("utf-8", "backslashreplace")


def _format_moment(value: datetime) -> str:
    return value.isoformat()
