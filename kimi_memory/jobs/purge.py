"""Purging: a text destroyed in every file of a memory, and what must be written for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from itertools import chain
from pathlib import PurePosixPath

from kimi_memory.config import Settings
from kimi_memory.domain.ids import safe_session_id
from kimi_memory.domain.job import (
    Change,
    Create,
    Delete,
    Effect,
    Job,
    Op,
    Operation,
    Update,
    digest,
    digest_of,
)
from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Event, Proposal
from kimi_memory.domain.session import Json
from kimi_memory.domain.tombstone import Tombstone, hash_of, keyed_hash
from kimi_memory.errors import UsageError
from kimi_memory.formats import codec
from kimi_memory.formats.body_layout import without_targets
from kimi_memory.formats.job_file import FOLDER, job_json, job_path
from kimi_memory.formats.jsonl import (
    seal,
    tombstone_line,
    tombstone_of,
    unseal,
)
from kimi_memory.formats.page_lines import is_generated
from kimi_memory.jobs.forget import without_evidence
from kimi_memory.jobs.pages import Pages, is_page
from kimi_memory.jobs.purge_file import (
    DoomedLine,
    Scrub,
    Targets,
    check_readable,
    find_doomed_lines,
    find_gone_notes,
    literals_of,
    needs_removal,
    note_texts,
    parse_note,
    yield_texts_from,
)
from kimi_memory.jobs.traces import SESSION, Traces, is_bound, texts_with, turns_with
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.store.copy import list_ids
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf, tombstone_lines
from kimi_memory.store.store import Store

SHORTEST = 4
"""Fewer letters stand everywhere by chance; a Chinese character counts as two."""
_LITERAL_BYTES = 24
"""Turns of a purged session that are shorter are small talk, not traces."""

_TAKEN_OUT = "purged words taken out"


@dataclass(frozen=True, slots=True)
class Doomed:
    """What a person wants destroyed."""

    texts: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    """Sessions of which every turn is to go; ids or unique prefixes."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Ids and hashes made of the texts, with what another copy put in their place."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What purging does to the files of truth."""

    changes: tuple[Change, ...]
    operations: tuple[Operation, ...]
    lines: tuple[DoomedLine, ...]
    """Those that hold a target now."""
    found: bool
    """Whether any file besides the tombstones changes."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are changed or deleted."""
        return tuple(dict.fromkeys(change.path for change in self.changes))


def check_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts, stripped; UsageError where one would hit what nobody means."""
    found = tuple(text.strip() for text in texts)
    for text in found:
        words = normalise(text)
        # "王芳" is a whole name; two letters are none.
        weight = sum(2 if "\u3400" <= ch <= "\u9fff" else 1 for ch in words if ch.isalnum())
        if weight < SHORTEST:
            raise UsageError(
                f"A text of length {len(words)} is too short to purge. "
                f"Give at least {SHORTEST} letters or {SHORTEST // 2} Chinese characters."
            )
    return found


class Purge:
    """Decides what purging does to the files of truth; others carry it out.

    Args:
        store: the files of the memory.
        settings: of the memory.
        by: who asks for it.
        now: when.
        follower: the copy that carries out a purge of another one; empty for a purge of its own.
    """

    def __init__(
        self, store: Store, settings: Settings, by: str, now: datetime, follower: str = ""
    ) -> None:
        self._store, self._settings, self._by, self._now = store, settings, by, now
        self._follower = [follower] if follower else []
        self._keyed = store.journal.keyed

    def targets(self, doomed: Doomed, past: Iterable[tuple[str, bytes]] = ()) -> Targets:
        """Return everything that must be found for what is doomed.

        Raises:
            NotFoundError: there is no such session.
        """
        texts = check_texts(doomed.texts)
        ids = frozenset(sessions.find(self._store, id).id for id in doomed.sessions)
        spoken = [text for id in sorted(ids) for text in self._spoken_texts(id)]
        scrub, traces = Scrub(Targets(texts), self._keyed), Traces(self._keyed)
        traces.add((*texts, *spoken))
        files = ((path, self._store.read(path)) for path in self._store.files())
        derived = list(self._find_derived_words(chain(files, past), ids, scrub, traces))
        named = (place.id for place in sessions.places(self._store))
        # A session's id may hold the purged words: it is part of file names, and of every citation.
        renamed = {id: safe_session_id(scrub.name(id)) for id in named if scrub.count(id.encode())}
        literals = literals_of([*spoken, *derived], _LITERAL_BYTES)
        new, hashes = traces.ids | renamed, traces.digests
        return Targets(texts, literals, ids, {**new, **doomed.names}, {**hashes, **doomed.names})

    def removal(self, scrub: Scrub, doomed: Targets) -> Removal:
        """Return the changes that take the targets out of every file of truth."""
        changes: list[Change] = []
        kept: list[Card] = []
        touched: list[Note] = []
        lines: list[DoomedLine] = []
        words = Scrub(Targets(doomed.texts, doomed.literals), self._keyed)
        files = self._order_files(but=(TOMBSTONES, job_path(self.id_of(doomed))))
        # A note that holds the text goes whole: what is left of a sentence could be guessed.
        gone = find_gone_notes(files, self._store.read, scrub, doomed.sessions)
        for path in files:
            before = self._store.read(path)
            lines += find_doomed_lines(scrub, words, path, before)
            if path in gone:
                changes.append(Delete(path, digest(before)))
                continue
            note = parse_note(path, before)
            # Cards come before the pages that show them, see `_order_files`.
            kept += [note] if isinstance(note, Card) else []
            linked = without_targets(before, gone) if path.endswith(".md") else before
            after = self._purged_content(scrub, path, linked, note, doomed.sessions)
            # Lines of removed cards go, too; an edited page is only cleaned of the words.
            if gone and is_page(path) and is_generated(before.decode("utf-8", "replace")):
                after = scrub.content(path, self._render_page(path, kept))
                if not after:
                    changes.append(Delete(path, digest(before)))
                    continue
            # Records of jobs name files by hash and come last: they must fit what is washed.
            if scrub.count(before) or not is_page(path):
                scrub.learn(before, after)
            # Before anything is written: a purge is not undone.
            check_readable(path, before, after)
            new = _replace_file(path, scrub.name(path), before, after)
            touched += [note] if new and note is not None else []
            changes += new
        stones = self._tombstone_changes(scrub, doomed, list(gone.values()))
        operations = [
            *(Operation(Op.FORGET, scrub.name(note.id), "", "purged") for note in gone.values()),
            *(Operation(Op.REFINE, scrub.name(note.id), "", _TAKEN_OUT) for note in touched),
        ]
        return Removal((*changes, *stones), tuple(operations), tuple(lines), bool(changes))

    def _order_files(self, but: tuple[str, ...]) -> list[str]:
        """Return all files but some; those that repeat or name others come last."""
        record = f"{FOLDER}/"
        files = sorted(self._store.files(), key=lambda at: (at.startswith(record), is_page(at)))
        return [path for path in files if path not in but]

    def _render_page(self, path: str, cards: list[Card]) -> bytes:
        """Return a page that shows cards, empty when it has none to show any more."""
        pages = Pages(self._store, Shelf(self._store), self._settings)
        return pages.texts(cards, {}).get(path, "").encode()

    def receipt(
        self,
        doomed: Targets,
        removal: Removal,
        counts: Mapping[str, int],
        head: str,
        follows: Sequence[str] = (),
    ) -> tuple[str, list[Change]]:
        """Return the id of a purge and the change that files its record, without content.

        `follows` are the purges of other copies that it carries out here.
        """
        id, hashes = self.id_of(doomed), self._hashes_of(doomed)
        scrub = Scrub(doomed, self._keyed)
        effects = [_describe_effect(change, scrub) for change in removal.changes]
        # No undo can restore this: the old head is no more.
        effects.append(Effect(".git", head or "none", ""))
        job = Job(
            id=id,
            kind="purge",
            at=self._now,
            inputs=digest_of(["purge", *hashes]),
            subject=subject_of(doomed),
            operations=removal.operations,
            effects=tuple(effects),
        )
        # A purge gives the copy another id: these are the ones it had.
        more: dict[str, Json] = {"copies": [*list_ids(self._store)]}
        more |= {"follows": [*follows]} if follows else {}
        content = job_json(job, hashes=[*hashes], counts=dict(counts), **more)
        path = job_path(id)
        if not self._store.exists(path):
            return id, [Create(path, content)]
        return id, [Update(path, digest(self._store.read(path)), content)]

    def _spoken_texts(self, id: str) -> Iterator[str]:
        transcript = sessions.read(self._store, sessions.find(self._store, id).path)
        for turn in transcript.turns:
            yield turn.text
            # Notes quote single sentences as well.
            yield from (turn.text[first:last] for first, last in sentences(turn.text))

    def _find_derived_words(
        self,
        files: Iterable[tuple[str, bytes]],
        ids: frozenset[str],
        scrub: Scrub,
        traces: Traces,
    ) -> Iterator[str]:
        """Yield the words, keys and file names of notes that these sessions alone gave."""
        for path, content in files:
            held = scrub.count(content) > 0
            traces.look_at(path, content)
            if not held and not ids:
                continue
            if session := SESSION.fullmatch(path):
                if held or session["id"] in ids:
                    traces.add_session(path, content)
                    traces.add(texts_with(content, scrub))
                continue
            note = parse_note(path, content)
            if held and isinstance(note, Proposal):
                traces.add_note(path, note, (note.text, note.title))
            if not isinstance(note, Card | Event):
                continue
            words = list(yield_texts_from(note, ids))
            if words or needs_removal(note, scrub, ids):
                traces.add_note(path, note, note_texts(note))
            # The name of a file is made of the key or the title, and says what the note said.
            yield from ([*words, PurePosixPath(path).stem] if words else ())
        # At the end, as a note may rest on one that was looked at after it.
        traces.follow()

    def _purged_content(
        self, scrub: Scrub, path: str, before: bytes, note: Note | None, ids: frozenset[str]
    ) -> bytes:
        content = before
        if note is not None and isinstance(note, Card | Event):
            rest = note
            for id in sorted(ids & {source.session for source in note.sources}):
                rest = without_evidence(rest, id, self._now)
            if rest != note:
                content = codec.patch(before.decode("utf-8"), note, rest, path).encode()
        return scrub.content(path, content)

    def _tombstone_changes(
        self, scrub: Scrub, doomed: Targets, gone: Sequence[Note]
    ) -> list[Change]:
        old = self._store.read(TOMBSTONES) if self._store.exists(TOMBSTONES) else b""
        barring = tombstone_lines(self._store).splitlines(keepends=True)
        lines = [self._hash_tombstone_line(line, scrub) for line in barring]
        held = [tombstone_of(unseal(line)) for line in lines]
        known = {(stone.scope, stone.value) for stone in held}
        values = dict.fromkeys(self._barred_values(doomed, gone))
        fresh = [self._build_tombstone(*one) for one in values if one not in known]
        named = {id for stone in held for id in stone.about}
        # A copy of the memory knows the turns by their ids and needs no words to purge them there.
        about = tuple(id for id in self._purged_ids(scrub, doomed, gone) if id not in named)
        if about:
            first = fresh[0] if fresh else self._build_tombstone(*next(iter(values)))
            fresh[:1] = [replace(first, about=about)]
        new = b"".join([*lines, *map(tombstone_line, fresh)])
        if new == old:
            return []
        return [Update(TOMBSTONES, digest(old), new) if old else Create(TOMBSTONES, new)]

    def _barred_values(self, doomed: Targets, gone: Iterable[Note]) -> Iterator[tuple[str, str]]:
        """Yield scope and hash of what must not come back; a purged session bars whole."""
        yield from (("memory", self._hash_text(text)) for text in doomed.texts)
        yield from ((f"session:{id}", "") for id in sorted(doomed.sessions))
        for note in gone:
            if isinstance(note, Card | Event):
                said = note.value if isinstance(note, Card) else note.content
                for text in (said, *(quote.text for quote in note.quotes)):
                    if text.strip():
                        yield "memory", self._hash_text(text)

    def _purged_ids(self, scrub: Scrub, doomed: Targets, gone: Sequence[Note]) -> Iterator[str]:
        """Yield the ids of turns and cards by which other copies know what was purged."""
        for place in sessions.places(self._store) if doomed.texts else ():
            yield from turns_with(place.path, self._store.read(place.path), scrub)
        for note in gone:
            if is_bound(note) and not scrub.count(f"{note.id} {note.key}".encode()):
                yield note.id

    def _build_tombstone(self, scope: str, value: str) -> Tombstone:
        return Tombstone(scope, "", value, self._now, self._by, "purged", bool(value))

    def _hash_text(self, text: str) -> str:
        return keyed_hash(hash_of(normalise(text)), self._keyed)

    def _hash_tombstone_line(self, line: bytes, scrub: Scrub) -> bytes:
        """Return a tombstone's line that holds only keyed hashes where it held a target."""
        if not scrub.count(line):
            return line
        stone = tombstone_of(unseal(line))
        if not stone.hashed and scrub.count(stone.value.encode()):
            stone = replace(stone, value=keyed_hash(hash_of(stone.value), self._keyed), hashed=True)
        return seal(unseal(scrub.content(TOMBSTONES, tombstone_line(stone))))

    def _hashes_of(self, doomed: Targets) -> list[str]:
        """Return what names the targets without saying them."""
        named = (f"session:{id}" for id in sorted(doomed.sessions))
        return [*map(self._hash_text, doomed.texts), *named]

    def id_of(self, doomed: Targets) -> str:
        """Return the id of the purge of these targets; run again, it has the same."""
        # Copies on one machine have one key: of two records with one id a merge keeps one.
        inputs = ["purge", *self._follower, *self._hashes_of(doomed)]
        return f"purge-{digest_of(inputs)[:12]}"


def subject_of(doomed: Targets) -> str:
    """Return what a purge was about, without saying it."""
    counts = {"text": len(doomed.texts), "session": len(doomed.sessions)}
    return ", ".join(f"{n} {what}" + "s" * (n > 1) for what, n in counts.items() if n) or "ids"


def _replace_file(path: str, to: str, before: bytes, after: bytes) -> list[Change]:
    if to != path:
        return [Delete(path, digest(before)), Create(to, after)]
    return [] if after == before else [Update(path, digest(before), after)]


def _describe_effect(change: Change, scrub: Scrub) -> Effect:
    """Return what became of a file; what it was hashed to would give the text away."""
    after = digest(change.content) if isinstance(change, Create | Update) else ""
    # Without the hash of before: from it, short words can be found by trying.
    return Effect(scrub.name(change.path), "", after)
