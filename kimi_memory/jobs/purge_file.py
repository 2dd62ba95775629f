"""Taking a text out of any file of a memory, so that the file stays what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from pathlib import PurePosixPath
from typing import NamedTuple

from kimi_memory.domain.job import (
    digest,
)
from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Digest, Event
from kimi_memory.domain.session import Json
from kimi_memory.domain.tombstone import PURGED, Keyed, keyed_digits
from kimi_memory.errors import FormatError, NotFoundError, UsageError
from kimi_memory.formats import codec
from kimi_memory.formats.jsonl import (
    chain_start,
    context_of,
    is_whole,
    read_transcript_lines,
    seal,
    unseal,
)
from kimi_memory.formats.page_lines import is_generated
from kimi_memory.jobs.purge_spellings import spellings
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import normalise

_SIGNED = re.compile(r"^generated: ([0-9a-f]{12})$", re.MULTILINE)
_BASE = re.compile(rb"^(generated: )([0-9a-f]{12})$", re.MULTILINE)
HASH = re.compile(rb"(?<![0-9a-f])[0-9a-f]{10,64}(?![0-9a-f])")
"""A hash in the bytes of a file, whole or in short."""
_MARK = PURGED.encode()
SESSION_FILE = re.compile(r"(?:.*/)?session_(?P<id>[^/]+)\.(?P<kind>jsonl|json|md)")


@dataclass(frozen=True, slots=True)
class Targets:
    """What must go."""

    texts: tuple[str, ...] = ()
    """Found however they are spelled."""
    literals: tuple[str, ...] = ()
    """Found as they stand, raw or in JSON; many are cheap."""
    sessions: frozenset[str] = frozenset()
    """Sessions of which every word goes."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """New ids of what has an id that holds a text, or is the hash of one."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Keyed hashes by the plain ones, from which a short text can be found by trying."""


class Scrub:
    """Finds and removes the targets in bytes, whatever file they are of."""

    def __init__(self, targets: Targets, keyed: Keyed) -> None:
        self._sessions, self._keyed = targets.sessions, keyed
        self._hashes = {old.encode(): new.encode() for old, new in targets.digests.items()}
        self._pattern = spellings(targets.texts)
        self._literals = [
            spelled.encode("utf-8", "replace")
            for text in targets.literals
            # Raw, with the escapes of JSON, and behind the marks of quoted lines.
            for spelled in dict.fromkeys(
                (text, json.dumps(text, ensure_ascii=False)[1:-1], text.replace("\n", "\n> "))
            )
        ]
        self._ids = {old.encode(): new.encode() for old, new in targets.ids.items()}
        self._digests: dict[str, str] = {}

    def learn(self, before: bytes, after: bytes) -> None:
        """Note what becomes of a file's bytes, so that jobs that name their hash go on to fit."""
        if before != after:
            self._digests[digest(before)] = digest(after)

    def count(self, content: bytes) -> int:
        """Return how often a target stands in some bytes."""
        found = sum(1 for _ in self._pattern.finditer(content))
        found += sum(content.count(literal) for literal in self._literals)
        if not self._hashes:
            return found
        return found + sum(one in self._hashes for one in HASH.findall(content))

    def words(self, content: bytes) -> bytes:
        """Return the bytes of a free text without the words that are purged."""
        for old, new in self._ids.items():
            content = content.replace(old, new)
        for literal in self._literals:
            content = content.replace(literal, _MARK)
        content = self._replace_hashes(content)
        return self._pattern.sub(_MARK, content)

    def _replace_hashes(self, content: bytes) -> bytes:
        if not self._hashes:
            return content
        return HASH.sub(lambda found: self._hashes.get(found[0], found[0]), content)

    def name(self, path: str) -> str:
        """Return a path without the targets: a hash stands in their place."""
        return "/".join(map(self._scrub_path_part, path.split("/")))

    def content(self, path: str, content: bytes) -> bytes:
        """Return the bytes of a file without the targets; it stays a file of its kind."""
        found = SESSION_FILE.fullmatch(path)
        blank = bool(found and found["id"] in self._sessions)
        # As JSON and not as text: an escaped letter is found, and the line is sealed anew.
        if path.endswith(".jsonl"):
            return self._scrub_lines(content, blank=blank)
        if path.endswith(".json"):
            return self._scrub_document(content, blank=blank)
        if blank:
            content = _blank_page(content)
        elif path.endswith(".md") and self._rests_on_blank(content):
            return b""
        return self._scrub_page(content)

    def _scrub_path_part(self, name: str) -> str:
        raw = name.encode("utf-8", "surrogateescape")
        for old, new in self._ids.items():
            raw = raw.replace(old, new)
        raw = self._replace_hashes(raw)
        mark = f"purged-{self._keyed(raw.decode('utf-8', 'surrogateescape'))[:12]}".encode()
        for literal in self._literals:
            raw = raw.replace(literal, mark)
        return self._pattern.sub(mark, raw).decode("utf-8", "surrogateescape")

    def _rests_on_blank(self, content: bytes) -> bool:
        """Whether a note names nothing but purged sessions as its sources."""
        head = content.split(b"\n---", 1)[0]
        named = set(re.findall(rb"session:([A-Za-z0-9][A-Za-z0-9._-]*)#", head))
        return bool(named) and named <= {id.encode() for id in self._sessions}

    def _scrub_page(self, content: bytes) -> bytes:
        clean = self.words(content)
        if clean == content:
            return clean
        if not is_generated(content.decode("utf-8", "replace")):
            return _BASE.sub(lambda found: found[1] + self._keyed_sign(found[2]), clean, count=1)
        # Still as the generator wrote it, so it may go on rewriting the page.
        text = _SIGNED.sub(f"generated: {'0' * 12}", clean.decode("utf-8", "replace"), count=1)
        sign = digest(text.encode())[:12]
        return text.replace(f"generated: {'0' * 12}", f"generated: {sign}", 1).encode()

    def _keyed_sign(self, sign: bytes) -> bytes:
        """Return what names the page that was edited, without being the hash of its words."""
        return keyed_digits(sign.decode(), self._keyed).encode()

    def _scrub_document(self, content: bytes, *, blank: bool) -> bytes:
        try:
            document = json.loads(content)
        except ValueError:
            return self.words(content)
        clean = self._scrub_value(_blank_view(document) if blank else document)
        if clean == document:
            return content
        return f"{json.dumps(clean, ensure_ascii=False, indent=2)}\n".encode("utf-8", "replace")

    def _scrub_lines(self, content: bytes, *, blank: bool) -> bytes:
        lines: list[bytes] = []
        context, moved = "", False
        for line in content.splitlines(keepends=True):
            new = self._scrub_line(line, blank=blank)
            context = chain_start(line) if b'"kind":"session"' in line else context
            if b'"kind":"turn"' in line:
                # From the first turn that changed, each one names another before it.
                if (moved or new != line) and is_whole(new):
                    new = _in_chain(new, context)
                context, moved = context_of(context, new), moved or new != line
            lines.append(new)
        return b"".join(lines)

    def _scrub_line(self, line: bytes, *, blank: bool) -> bytes:
        try:
            record = unseal(line)
        except ValueError:
            return self.words(line)
        clean = self._scrub_value(_blank_record(record) if blank else record)
        if clean == record or not isinstance(clean, dict):
            return line
        # A line somebody edited keeps its wrong sum: purging must not vouch for it.
        return seal(clean) if is_whole(line) else self.words(line)

    def _scrub_value(self, value: Json) -> Json:
        match value:
            case str() if value in self._digests:
                return self._digests[value]
            case str():
                return self.words(value.encode("utf-8", "replace")).decode("utf-8", "replace")
            case list():
                return [self._scrub_value(one) for one in value]
            case dict():
                return {
                    str(self._scrub_value(name)): self._scrub_value(one)
                    for name, one in value.items()
                }
            case _:
                return value


def literals_of(texts: Sequence[str], shortest_bytes: int) -> tuple[str, ...]:
    """Return the texts that are long enough to be distinguished from small talk, each once."""
    # Tombstones hold words in their normal form.
    forms = (form for text in texts for form in (text.strip(), normalise(text)))
    stripped = dict.fromkeys(forms)
    return tuple(text for text in stripped if len(text.encode()) >= shortest_bytes)


def _in_chain(line: bytes, context: str) -> bytes:
    """Return a turn's line with the context that follows from the turns before it."""
    record = unseal(line)
    if str(record.get("context", "")) == context:
        return line
    if context:
        record["context"] = context
    else:
        record.pop("context", None)
    return seal(record)


def _blank_record(record: Mapping[str, Json]) -> Json:
    clean = dict(record)
    for name in ("text", "title"):
        if clean.get(name):
            clean[name] = PURGED
    for name in ("task", "variables", "metadata"):
        if name in clean:
            clean[name] = {}
    clean.pop("tool_calls", None)
    return clean


def _blank_view(view: Json) -> Json:
    if not isinstance(view, dict):
        return PURGED
    turns = view.get("context")
    shown = turns if isinstance(turns, list) else []
    blank = [_blank_record(turn) if isinstance(turn, dict) else PURGED for turn in shown]
    return {**view, "context": blank, "current_task": {}, "temp_vars": {}}


def _blank_page(content: bytes) -> bytes:
    text = re.sub(r"(?m)^>.*(?:\n>.*)*", f"> {PURGED}", content.decode("utf-8", "replace"))
    return re.sub(r"(?m)^(# [^:：\n]+[:：]).*$", rf"\1 {PURGED}", text, count=1).encode()


def parse_note(path: str, content: bytes) -> Note | None:
    """Return the note in a file, None where it holds none."""
    if not path.endswith(".md") or path.startswith("episodic/sessions/"):
        return None
    try:
        return codec.parse(content.decode("utf-8"), path)
    except (FormatError, UnicodeDecodeError):
        return None


def find_gone_notes(
    paths: Iterable[str], read: Callable[[str], bytes], scrub: Scrub, ids: Set[str]
) -> dict[str, Note]:
    """Return the notes that go whole, by the path of their file."""
    notes = ((path, parse_note(path, read(path))) for path in paths)
    return {p: note for p, note in notes if note is not None and needs_removal(note, scrub, ids)}


def needs_removal(note: Note, scrub: Scrub, ids: Set[str]) -> bool:
    """Whether a note is removed whole, because what is left of a sentence could be guessed."""
    if isinstance(note, Digest):
        return note.session in ids
    # Also a proposal: what it would have written is from there.
    if ids and note.sources and {source.session for source in note.sources} <= ids:
        return True
    if not isinstance(note, Card | Event):
        return False
    return any(scrub.count(text.encode("utf-8", "replace")) for text in note_texts(note))


def yield_texts_from(note: Card | Event, ids: Set[str]) -> Iterator[str]:
    """Yield what a note says, where it rests on these sessions alone."""
    if note.sources and {source.session for source in note.sources} <= ids:
        yield from (note.key, *note_texts(note))


def note_texts(note: Card | Event) -> Iterator[str]:
    """Yield all that a note says."""
    yield from (note.title, note.key, *(quote.text for quote in note.quotes), *note.body_texts)


class DoomedLine(NamedTuple):
    """A line that holds a target, as it stands in its file; `said` where it is in words."""

    path: str
    number: int
    text: str
    said: bool


def find_doomed_lines(
    scrub: Scrub, words: Scrub, path: str, content: bytes
) -> Iterator[DoomedLine]:
    """Yield the lines of a file that a scrub changes; `words` finds what is said, no ids."""
    for number, line in enumerate(content.splitlines(), 1):
        if scrub.count(line) > 0:
            text = line.decode("utf-8", "replace")
            yield DoomedLine(path, number, text, words.count(line) > 0)


def check_readable(path: str, before: bytes, after: bytes) -> None:
    """Refuse to break a file that could be read.

    Raises:
        UsageError: the text stands in dates, ids or other marks of the file.
    """
    reads = _choose_reader(path)
    if before == after or reads is None or not _is_read(reads, before, path):
        return
    if not _is_read(reads, after, path):
        raise UsageError(
            f"The text stands in dates or ids of {PurePosixPath(path).parent}, so purging it "
            "would break files. Give more of it."
        )


def _choose_reader(path: str) -> Callable[[bytes, str], object] | None:
    if path.endswith(".jsonl") and PurePosixPath(path).name.startswith("session_"):
        return lambda content, where: read_transcript_lines(content.splitlines(True), where)
    if path.endswith(".md") and not path.startswith("episodic/sessions/"):
        return lambda content, where: codec.parse(content.decode("utf-8"), where)
    return None


def _is_read(reads: Callable[[bytes, str], object], content: bytes, path: str) -> bool:
    try:
        reads(content, path)
    except (FormatError, ValueError, NotFoundError):
        return False
    return True
