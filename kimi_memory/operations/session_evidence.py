"""Evidence of what was done to sessions: turns that are gone or nobody captured.

A file that holds two sessions is repaired: each gets its own, and evidence its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from kimi_memory.api.memory import Memory
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import Card, Quote, Source
from kimi_memory.domain.pages import Event
from kimi_memory.domain.session import Json, Transcript
from kimi_memory.formats.jsonl import is_joined, parts_of, read_transcript_lines
from kimi_memory.jobs.render import Render
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.store.copy import copy_id, copy_of
from kimi_memory.store.git.merge_commit import RULES
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.notes.sessions import split_changes
from kimi_memory.store.trust.session_growth import Records, find_journaled_lines, turn_lines

_TURN = b'"kind":"turn"'
_WHY = "its words stand in a session of their own again"

Moved = Mapping[str, tuple[Transcript, ...]]
"""Of each id the sessions that stood in its file: its own, then the others."""


@dataclass(frozen=True, slots=True)
class _Version:
    """A session file as one commit has it."""

    commit: str
    path: str
    content: bytes
    foreign: bool
    """Whether another copy made the commit, whose own journal vouches for it."""
    merged: bool
    """Whether two copies were merged by it, which name no copy: lines are only joined by that."""


def check_evidence(memory: Memory) -> Iterator[Finding]:
    """Yield what sessions lost since they were committed, and what was written into them unseen."""
    if not memory.store.read_only:
        memory.store.reconcile()  # What nobody has looked at since counts as well.
    records, past = _read_journal_records(memory), _read_versions(memory)
    now = {p.path: memory.store.read(p.path) for p in sessions.places(memory.store)}
    held = {line for content in now.values() for line in turn_lines(content)}
    for path, content in now.items():
        name = PurePosixPath(path).name
        yield from _find_lost_turns(past[name], records[name], held, path)
        yield from _find_unseen_turns(past[name], records[name], content, path)


def _find_lost_turns(
    past: Sequence[_Version], records: Records, held: set[bytes], path: str
) -> Iterator[Finding]:
    for version in past:
        lines = turn_lines(version.content)
        gone = [line for line in lines if line not in held]
        # A turn of ours counts as lost only if the journal knows that we wrote it.
        if not version.foreign and records:
            gone = [line for line in gone if line in find_journaled_lines(version.content, records)]
        if gone:
            commit = version.commit[:10]
            message = f"{len(gone)} of its turns stand in commit {commit} and are gone"
            remedy = f"Look at 'git show {commit}:{version.path}', and restore the file."
            yield Finding("sessions", Severity.ERROR, message, remedy, path)
            return


def _find_unseen_turns(
    past: Sequence[_Version], records: Records, content: bytes, path: str
) -> Iterator[Finding]:
    """Yield the turns that no write of ours, and no other copy, brought into a file."""
    if not records:
        return
    known = find_journaled_lines(content, records)
    # Turns of another copy come by a merge, and its own journal knows them.
    vouched = (one for one in past if one.foreign or one.merged)
    known |= {line for one in vouched for line in turn_lines(one.content)}
    rows = enumerate(content.splitlines(True), 1)
    strange = [n for n, line in rows if _TURN in line and line not in known]
    if strange:
        lines = ", ".join(map(str, strange[:5]))
        message = f"{counted(len(strange), 'turns were')} written past kimi_memory (line {lines})"
        remedy = "If nobody you trust wrote them, restore the file from git."
        yield Finding("sessions", Severity.WARNING, message, remedy, path)


def _read_journal_records(memory: Memory) -> Mapping[str, Records]:
    """Return the journal's records of each session, by the name of its file."""
    found: dict[str, list[Mapping[str, Json]]] = defaultdict(list)
    for record in memory.store.journal.records():
        name = PurePosixPath(str(record.get("path", ""))).name
        if name.startswith("session_") and name.endswith(".jsonl"):
            found[name].append(record)
    return found


def _read_versions(memory: Memory) -> Mapping[str, Sequence[_Version]]:
    """Return what the history has of each session, oldest first, by the name of its file."""
    found: dict[str, list[_Version]] = defaultdict(list)
    if not memory.history.ready():
        return found
    own, commits = copy_id(memory.store), memory.history.log(limit=-1)
    makers = {commit.hash: copy_of(commit) for commit in commits}
    merges = {commit.hash for commit in commits if RULES in commit.trailers}
    listed = memory.history.versions(sessions.SHORT, sessions.ARCHIVE)
    wanted = [one for one in listed if one.path.endswith(".jsonl")]
    contents = memory.history.blobs({one.blob for one in wanted})
    for commit, path, blob in reversed(wanted):
        # A commit that names no copy was made by hand, or by an earlier version.
        foreign = makers.get(commit) not in {own, None}
        version = _Version(commit, path, contents[blob], foreign, commit in merges)
        found[PurePosixPath(path).name].append(version)
    return found


def split_sessions(memory: Memory) -> list[str]:
    """Give every session its own file, and point cards and events to it; return their paths."""
    # A job that reads a file while it is split would quote turns of the other session.
    with memory.store.lock("job"):
        paths = (place.path for place in sessions.places(memory.store))
        contents = ((path, memory.store.read(path)) for path in paths)
        joined = {path: content for path, content in contents if is_joined(content)}
        if not joined:
            return []
        shelf, moved = Shelf(memory.store), dict(map(_split_transcripts, joined, joined.values()))
        split = [split_changes(memory.store, path, joined[path]) for path in joined]
        changes = [change for made, _ in split for change in made]
        waiting = {path: one for _, found in split for path, one in found.items()}
        changes += Render(memory.store, shelf).changes(_repoint_notes(shelf, moved))
        actor = memory.actor._replace(name="doctor")
        memory.store.apply(changes, actor, subject="split sessions", waiting=waiting)
    memory.written()
    return list(joined)


def _split_transcripts(path: str, content: bytes) -> tuple[str, tuple[Transcript, ...]]:
    """Return the id of a file's own session, and all sessions in it."""
    parts = parts_of(content.splitlines(keepends=True))
    found = tuple(read_transcript_lines(part.lines, path) for part in parts)
    return found[0].session.id, found


def _repoint_notes(shelf: Shelf, moved: Moved) -> Iterator[Step]:
    """Yield the notes whose quotes stand in another of the sessions that shared a file."""
    for kind in (Card.kind, Event.kind):
        for filed in shelf.notes(kind):
            note = filed.note
            if not isinstance(note, Card | Event):
                continue
            homes = {quote: _find_quote_session(quote, moved) for quote in note.quotes}
            if any(quote.session != id for quote, id in homes.items()):
                places = {(q.session, q.n, q.hash): id for q, id in homes.items()}
                quotes = tuple(replace(quote, session=id) for quote, id in homes.items())
                sources = tuple(_repoint_source(source, places) for source in note.sources)
                yield Step(Op.REFINE, replace(note, quotes=quotes, sources=sources), _WHY)


def _find_quote_session(quote: Quote, moved: Moved) -> str:
    """Return the session in which a quote stands: its own, where it stands there or nowhere."""
    for transcript in moved.get(quote.session, ()):
        turn = transcript.turn(quote.n)
        if turn is not None and quote.stands_in(turn.text):
            return transcript.session.id
    return quote.session


def _repoint_source(source: Source, places: Mapping[tuple[str, int, str], str]) -> Source:
    known = places.get((source.session, source.first, source.quote))
    return replace(source, session=known) if known else source
