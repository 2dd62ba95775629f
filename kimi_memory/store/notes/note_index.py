"""The register of the notes there are, and the catalog of what was read of each file.

The register is carried on from one survey of a store to the next. What was read of a file is known
for as long as the file stays as it is.
"""

from __future__ import annotations

import hmac
import json
import re
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, TypeVar

from kimi_memory.domain.graph import SUGGESTED
from kimi_memory.domain.note import Card
from kimi_memory.domain.pages import IDENTITY_HEAD, IDENTITY_PATH, Identity
from kimi_memory.errors import KimiMemoryError, NotFoundError
from kimi_memory.formats import codec
from kimi_memory.formats.card_form import Head
from kimi_memory.store.files.disk import UNKNOWN, Stat, Stats, uncollected, worth_writing
from kimi_memory.store.files.paths import PRIVATE, is_conflict_copy
from kimi_memory.store.reading import is_judged
from kimi_memory.store.store import Store
from kimi_memory.store.wal.journal import Extent
from kimi_memory.store.wal.reconcile import Progress

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


# Only the keys a note is found by: a whole YAML parser for ten thousand files takes seconds.
_FIELD = re.compile(rb"^(id|kind|key|status|trust|at): *[\"']?([^\"'\r\n]*)", re.MULTILINE)
_QUOTE = re.compile(rb"session:([^\s\"'#]+#\d+)(?:-\d+)? \w+ ([0-9a-f]{12})")
# The head of a note is far shorter; a long page is not read to its end to learn that it is none.
_HEAD = 8192
_SUGGESTED = SUGGESTED.encode()


class Entry(NamedTuple):
    """What the head of a note says."""

    # One is made for every note whenever one is looked for, hence no dataclass.
    path: str
    id: str
    kind: str
    key: str
    status: str
    at: str = ""
    """When an event was, as it is written there."""
    quotes: tuple[str, ...] = ()
    """Marks of the quotes it rests on, see `kimi_memory.store.notes.notes.mark`."""
    suggests: bool = False
    """Whether it may hold a suggested link; to be sure, read the note."""
    trust: str = ""


class Listing(NamedTuple):
    """The notes of one survey; it stays as it is when the register goes on."""

    entries: dict[str, Entry]
    """By id; where two files share one, the first path has it."""
    cards: dict[str, frozenset[str]]
    """The paths of cards by ``key <key>`` and by the marks of their quotes."""
    doubles: tuple[tuple[str, str], ...] = ()
    """The paths that have the id of another, each with that other."""


class Register:
    """The notes of one store; only files that look otherwise than last time are asked."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._looks: dict[str, Stat] = {}
        self._entries: dict[str, Entry] = {}
        self._cards: dict[str, frozenset[str]] = {}
        self._heads: dict[str, Head | None] = {}
        self._last: Listing | None = None
        self._card_heads: tuple[Listing, list[Head]] | None = None
        """What was returned for a listing, which is another one after each change of a card."""
        self._settled: dict[str, Stat] = {}
        """The files that are used as they stand, and how each looked."""
        self._open: list[str] = []
        self._judged_of: Stats | None = None
        self._read_of: Stats | None = None
        """The looks that all this is of."""
        self._unsure: list[str] = []
        """The paths among them of which it is not known whether they still look so."""

    @classmethod
    def from_store(cls, store: Store) -> Register:
        """Return the register of a store; all that ask get the same."""
        return store.companions.find(cls, cls)

    def read(self, survey: Survey, progress: Progress | None = None) -> Listing:
        """Return the notes there are according to a survey.

        Args:
            survey: of the files.
            progress: called with how many of how many new files were read.
        """
        with self._guard, uncollected():
            return self._update_listing(survey, progress)

    def heads(self, survey: Survey) -> list[Head]:
        """Return the heads of all cards in order of path; broken files are left out."""
        with self._guard, uncollected():
            listing = self._update_listing(survey)
            if self._card_heads is not None and self._card_heads[0] is listing:
                return self._card_heads[1]
            entries = listing.entries.values()
            paths = sorted(entry.path for entry in entries if entry.kind == Card.kind)
            for path in (path for path in paths if path not in self._heads):
                make = partial(read_head, path)
                self._heads[path] = survey.fact(path, "head", make, Head.read, served=True)
            found = map(self._heads.__getitem__, paths)
            heads = [head for head in found if head is not None]
            self._card_heads = listing, heads
            return heads

    def waiting(self, survey: Survey) -> dict[str, str]:
        """Return the files that are not used as they stand, by path, and why; in order of path.

        A file that was judged is judged again when it looks otherwise.
        """
        with self._guard:
            looks, settled = survey.looks, self._settled
            if looks is not self._judged_of:
                news = (path for path, look in looks.items() if settled.get(path) != look)
                self._open, self._judged_of = sorted(filter(is_judged, news)), looks
            found, open = dict[str, str](), []
            for path in self._open:
                try:
                    why = survey.waits(path)
                except NotFoundError:
                    continue  # It went while we looked.
                if why:
                    found[path] = why
                if why or survey.is_passing(path):
                    open.append(path)
                else:
                    settled[path] = looks[path]
            self._open = open
            return found

    def _update_listing(self, survey: Survey, progress: Progress | None = None) -> Listing:
        changed = self._changed_paths(survey.looks)
        for number, path in enumerate(changed, 1):
            self._update_path(path, survey.looks[path], survey)
            if progress is not None:
                progress(number, len(changed))
        if self._last is None:
            self._last = self._build_listing()
        return self._last

    def _changed_paths(self, looks: Stats) -> list[str]:
        """Forget what is gone; return the paths that may say something else now."""
        if looks is not self._read_of:
            for path in self._looks.keys() - looks.keys():
                self._drop_path(path)
            self._unsure = [path for path, look in looks.items() if look == UNKNOWN]
            self._read_of, known = looks, self._looks.get
            found = [path for path, look in looks.items() if known(path) != look]
            # Unsure ones each time: a file that changed within one tick of the clock looks as it
            # did before.
            return list(dict.fromkeys([*found, *self._unsure]))
        return self._unsure

    def _drop_path(self, path: str) -> None:
        """Forget a path."""
        del self._looks[path]
        self._heads.pop(path, None)
        entry = self._entries.pop(path, None)
        if entry is not None:
            self._last = None
        for name in _lookup_names(entry):
            rest = self._cards[name] - {path}
            if rest:
                self._cards[name] = rest
            else:
                del self._cards[name]

    def _update_path(self, path: str, look: Stat, survey: Survey) -> None:
        """Take over what a file says now."""
        entry = None
        if may_be_note(path):
            make = partial(read_entry, path)
            # Both from one reading: who asks for all entries of a large memory soon asks for heads.
            entry = survey.fact(path, "entry", make, _entry_of, served=True, beside=_BESIDE)
        if path in self._looks:
            self._drop_path(path)
        self._looks[path] = look
        if entry is None:
            return
        self._entries[path], self._last, cards = entry, None, self._cards
        for name in _lookup_names(entry):
            others = cards.get(name)
            cards[name] = frozenset((path,)) if others is None else others | {path}

    def _build_listing(self) -> Listing:
        entries = [self._entries[path] for path in sorted(self._entries)]
        found = dict(zip([entry.id for entry in entries], entries, strict=True))
        # Nearly always: no two notes share an id.
        if len(found) == len(entries):
            return Listing(found, dict(self._cards))
        # Two files with one id, such as a copied page: the first path keeps it, and `doctor` names
        # the other.
        found = {}
        for entry in entries:
            found.setdefault(entry.id, entry)
        doubles = ((e.path, found[e.id].path) for e in entries if found[e.id] is not e)
        return Listing(found, dict(self._cards), tuple(doubles))


def _lookup_names(entry: Entry | None) -> set[str]:
    """Return the names under which a card is found."""
    if entry is None or entry.kind != Card.kind:
        return set()
    return {f"key {entry.key}", *entry.quotes}


def may_be_note(path: str) -> bool:
    """Whether a note of a path counts: no page of a session, no copy a sync tool left."""
    return (
        path.endswith(".md")
        and not path.startswith("episodic/sessions/")
        and not is_conflict_copy(path)
    )


def read_entry(path: str, content: bytes) -> Entry | None:
    """Return what the head of a file says, None where it is no note with an id."""
    head = content[:_HEAD]
    # Only the front matter: a body may show the fields of another note.
    block = head.split(b"\n---", 1)[0] if head.startswith((b"---", b"\xef\xbb\xbf---")) else b""
    fields = {
        name: value.decode("utf-8", "replace").strip() for name, value in _FIELD.findall(block)
    }
    id = fields.get(b"id", "")
    if not id:
        # A person's own page of the identity needs no head.
        own = path == IDENTITY_PATH and content.strip()
        return Entry(path, str(IDENTITY_HEAD["id"]), Identity.kind, "", "active") if own else None
    quotes = (f"{turn.decode()} {hash.decode()}" for turn, hash in _QUOTE.findall(block))
    return Entry(
        path,
        id,
        fields.get(b"kind", ""),
        fields.get(b"key", ""),
        fields.get(b"status", "active"),
        fields.get(b"at", ""),
        tuple(dict.fromkeys(quotes)),
        # A head that is longer than what we look at may hold anything further down.
        _SUGGESTED in block or (len(block) == _HEAD < len(content)),
        fields.get(b"trust", ""),
    )


def _entry_of(row: list[Any]) -> Entry:
    path, id, kind, key, status, at, quotes, suggests, trust = row
    return Entry(path, id, kind, key, status, at, tuple(quotes), suggests, trust)


def read_head(path: str, content: bytes) -> Head | None:
    """Return the head of a card, None where the file holds something else."""
    entry = read_entry(path, content)
    if entry is None or entry.kind != Card.kind:
        return None
    note = codec.read_note(content, path)
    return Head.of(note) if isinstance(note, Card) else None


_BESIDE = {"head": read_head}
