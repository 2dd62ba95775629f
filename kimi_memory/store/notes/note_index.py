"""The register: which notes there are, carried on from one survey of a store to the next."""

from __future__ import annotations

import re
import threading
from functools import partial
from typing import Any, NamedTuple

from kimi_memory.domain.graph import SUGGESTED
from kimi_memory.domain.note import Card
from kimi_memory.domain.pages import IDENTITY_HEAD, IDENTITY_PATH, Identity
from kimi_memory.errors import NotFoundError
from kimi_memory.formats import codec
from kimi_memory.formats.card_form import Head
from kimi_memory.store.files.cache_files import uncollected
from kimi_memory.store.files.disk import UNKNOWN, Stat, Stats
from kimi_memory.store.files.paths import is_conflict_copy
from kimi_memory.store.notes.file_cache import Survey
from kimi_memory.store.reading import is_judged
from kimi_memory.store.store import Store
from kimi_memory.store.wal.reconcile import Progress

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
