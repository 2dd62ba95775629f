"""Traces: the hashes and ids that a text leaves, from which a short one is found by trying."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import TypeGuard

from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import Job
from kimi_memory.domain.job_registry import JOBS
from kimi_memory.domain.note import HAND, Card, CardType, Note
from kimi_memory.domain.pages import Event, Proposal
from kimi_memory.domain.tombstone import KEYED, Keyed, hash_of, hashes_in, keyed_digits, keyed_hash
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.job_file import FOLDER, job_of
from kimi_memory.formats.jsonl import read_transcript_lines, unseal
from kimi_memory.formats.transcripts import words_mark
from kimi_memory.jobs.purge_file import Scrub
from kimi_memory.jobs.undistilled import inputs_of
from kimi_memory.nlp.basic.patterns import bare, normalise

SESSION = re.compile(r"(?:.*/)?session_(?P<id>[^/]+)\.jsonl")
SHORT = 12
"""Hex digits of a hash where it stands in short: of quotes, and in the ids of jobs."""
_GIST = b"compaction"
"""The tag of summaries, whose ids are made of all they sum up."""
_MADE_OF_WORDS = (HAND, "import-", "proxy-", "chat-")
"""Ids of sessions that may end in a hash of words."""
_PERIODS = frozenset(job.name for job in JOBS if job.inputs == "ids")
_OVER_ALL = frozenset(job.name for job in JOBS if job.inputs == "all")
# Only the end of an id is compared, so any moment will do.
_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
_ENTROPY = 16
"""Characters of an id that are not its moment."""


class Traces:
    """Collects what files and history hold of a text besides its words.

    Args:
        keyed: the hash of this machine, which takes the place of a plain one.
    """

    def __init__(self, keyed: Keyed) -> None:
        self._keyed = keyed
        self._plain: set[str] = set()
        self._marks: dict[str, str] = {}
        self._jobs: list[Job] = []
        self._gists: list[Event] = []
        self._held: set[str] = set()
        self._by_hand: set[str] = set()
        self.ids: dict[str, str] = {}
        """Ids that were made of a text, each with another."""

    @property
    def digests(self) -> dict[str, str]:
        """Keyed hashes by plain ones, in full and in short."""
        full = {digest: keyed_hash(digest, self._keyed) for digest in self._plain}
        short = {old[:SHORT]: new.removeprefix(KEYED)[:SHORT] for old, new in full.items()}
        return self._marks | full | short

    def add(self, texts: Iterable[str]) -> None:
        """Note the hashes of texts, as tombstones, receipts and quotes have them."""
        for text in filter(str.strip, texts):
            # The three forms in which files hold hashes of words.
            self._plain |= {hash_of(normalise(text)), hash_of(bare(text)), hash_of(text)}

    def add_note(self, path: str, note: Card | Event | Proposal, words: Iterable[str]) -> None:
        """Note the hashes of a note's words, and its id where that was made of words."""
        self.add(words)
        self._held |= {path, note.id}
        if not is_bound(note):
            id = f"{note.kind}-purged-{self._keyed(note.id)[:SHORT]}"
            self.ids[note.id] = note.id if "-purged-" in note.id else id

    def add_session(self, path: str, content: bytes) -> None:
        """Note the digest by which a session's distillation is known, and hashes in its ids."""
        try:
            transcript = read_transcript_lines(content.splitlines(keepends=True), path)
        except FormatError:
            return
        self._held |= {path, transcript.session.id}
        self._plain.add(inputs_of(transcript))
        refs = [turn.ref for turn in transcript.turns]
        # The id of an open chat tells its program where to go on.
        if transcript.ended is not None and transcript.session.id.startswith(_MADE_OF_WORDS):
            refs.append(transcript.session.id.replace("-", " "))
        for digits in {digits for ref in refs for digits in hashes_in(ref)}:
            self._marks[digits] = keyed_digits(digits, self._keyed)
        id = transcript.session.id
        if transcript.turns and (mark := words_mark(transcript.turns[0])) in id:
            self.ids[id] = id.replace(mark, keyed_digits(mark, self._keyed))

    def look_at(self, path: str, content: bytes) -> None:
        """Take note of what may turn out to be made of the text, though it does not hold it."""
        session = SESSION.fullmatch(path)
        if session and session["id"].startswith(HAND):
            self._by_hand |= set(hashes_in(session["id"].replace("-", " ")))
        if path.startswith(f"{FOLDER}/"):
            with suppress(ValueError, FormatError):
                self._jobs.append(job_of(content))
        elif path.endswith(".md") and _GIST in content:
            with suppress(ValueError, FormatError):
                note = codec.parse(content.decode("utf-8"), path)
                self._gists += [note] if isinstance(note, Event) else []

    def follow(self) -> None:
        """Note the ids of summaries of what held the text, and what jobs over it are known by."""
        days: set[str] = set()
        if self._held:  # They were made of whole pages, on which the text may have stood.
            for digits in self._by_hand:
                self._marks[digits] = keyed_digits(digits, self._keyed)
        for event in self._gists:
            if self._held & {source.session for source in event.sources}:
                self.add_note(event.id, event, ())
                near = (event.at + timedelta(days=n) for n in (-1, 0, 1))
                days |= {name for day in near for name in (f"{day:%Y-%m-%d}", f"{day:%G-W%V}")}
        for job in self._jobs:
            if job.kind in _PERIODS:
                found = job.subject in days
            else:
                named = {job.subject, *(one.target for one in job.operations)}
                found = not self._held.isdisjoint({*named, *(one.path for one in job.effects)})
            if job.kind != "purge" and (found or (self._held and job.kind in _OVER_ALL)):
                self._plain.add(job.inputs)


def is_bound(note: Note) -> TypeGuard[Card | Event]:
    """Whether a note's id was made of the turn that it rests on, and of nothing it says."""
    if not isinstance(note, Card | Event):
        return False
    ends = [()] if isinstance(note, Card) else [(str(note.type),)]
    types = [note.type] if isinstance(note, Card) else list(CardType)
    turns = {(source.session, str(source.first), note.key) for source in note.sources}
    made = (
        derived_id(note.kind, _MOMENT, *turn, type, *end)
        for turn, type, end in product(turns, types, ends)
    )
    return any(id[-_ENTROPY:] == note.id[-_ENTROPY:] for id in made)


def turns_with(path: str, content: bytes, scrub: Scrub) -> Iterator[str]:
    """Yield the ids of the turns of a session that hold a target."""
    if not SESSION.fullmatch(path) or not scrub.count(content):
        return
    with suppress(FormatError):
        transcript = read_transcript_lines(content.splitlines(keepends=True), path)
        for turn in transcript.turns:
            if scrub.count(turn.text.encode("utf-8", "replace")):
                yield f"session:{scrub.name(transcript.session.id)}#{turn.n}"


def texts_with(content: bytes, scrub: Scrub) -> Iterator[str]:
    """Yield what the turns of a session say that hold a target."""
    for line in content.splitlines():
        if scrub.count(line):
            with suppress(ValueError):
                yield str(unseal(line).get("text", ""))
