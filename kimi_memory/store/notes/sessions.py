"""Where sessions lie: open ones in short-term memory, ended ones in the archive."""

from __future__ import annotations

import re
import time
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from kimi_memory.domain.job import Actor, Change, Create, Delete, Update, digest
from kimi_memory.domain.note import Origin, least_trusted
from kimi_memory.domain.session import Session, Transcript
from kimi_memory.errors import NotFoundError, WaitingError
from kimi_memory.formats.jsonl import (
    Part,
    chain_start,
    context_of,
    has_marks,
    is_joined,
    is_whole,
    parts_of,
    read_transcript_lines,
    session_line,
    state_line,
    turn_line,
    turn_of,
    unseal,
)
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.paths import KEPT, is_conflict_copy, is_own
from kimi_memory.store.store import Store
from kimi_memory.store.wal.records import EXTERNAL, Provenance

SHORT = "short-term"
ARCHIVE = "episodic/sessions"
_NAME = re.compile(r"session_(?P<id>.+)\.jsonl")
_FIRST_LINE = 65536
"""A file of so many bytes has its first line."""
_MOMENT = 10.0
"""Seconds that a process on a busy machine needs at most between making a file and writing it."""
_TURN = re.compile(r"session:(?P<id>[^#]+)#(?P<n>\d{1,9})")
_PART = re.compile(r"(?P<root>.+)\.(?P<part>[2-9]|[1-9]\d+)")


@dataclass(frozen=True, slots=True)
class Place:
    """One session file."""

    id: str
    path: str

    @property
    def open(self) -> bool:
        """Whether the session still takes turns."""
        return self.path.startswith(f"{SHORT}/")

    @property
    def root(self) -> str:
        """The id without the number of the continuation."""
        return split_part(self.id)[0]


def kept_path(id: str) -> str:
    """Return where turns of a session are kept on this node until its change log answers."""
    return f"{SHORT}/session_{id}{KEPT}"


def find_kept(store: Store) -> list[tuple[str, str]]:
    """Return the id and the path of every session that is kept so."""
    found = sorted(store.root.glob(f"{SHORT}/session_*{KEPT}"))
    names = (path.name for path in found)
    return [(name.removeprefix("session_").removesuffix(KEPT), f"{SHORT}/{name}") for name in names]


def read_kept(store: Store, path: str) -> Transcript:
    """Read a session that was kept; turns that were not said to us are trusted as from elsewhere.

    Raises:
        FormatError: it cannot be parsed.
    """
    found = read(store, path)
    unseen = set(store.vetting.unseen_lines(path)) if store.vetting is not None else set()
    # One that no write of ours made was laid there by somebody.
    ours = store.journal.mark_of(path) is not None
    numbers = {turn.n for turn in found.turns if not ours or turn_line(turn) in unseen}
    return capped(found, Origin.REMOTE, numbers) if numbers else found


def render_kept(kept: Transcript) -> bytes:
    """Return the file of a session that was kept."""
    turns = [turn_line(turn) for turn in kept.turns]
    state = state_line(kept.task or None, kept.variables, kept.metadata or None)
    return b"".join([session_line(kept.session), *turns, state])


def let_go(store: Store, path: str, content: bytes, actor: Actor) -> None:
    """Remove a session that was kept, with its view, as the change log has it.

    Raises:
        ChangedOnDiskError: more was kept meanwhile; nothing was removed.
    """
    store.apply([Delete(path, digest(content))], actor)
    store.unview(path.removesuffix("l"))


def keep_again(store: Store, path: str, content: bytes, actor: Actor) -> None:
    """Keep in a folder what another folder of the same node kept."""
    store.append(path, content.splitlines(keepends=True), actor)


def split_part(id: str) -> tuple[str, int]:
    """Return the root id and the part: ``("a", 2)`` for ``a.2``, ``("a", 1)`` for ``a``."""
    found = _PART.fullmatch(id)
    return (found["root"], int(found["part"])) if found else (id, 1)


def places(store: Store) -> Iterator[Place]:
    """Yield every session file, archived ones first, in order of path."""
    # Looked for first: one that is archived meanwhile would be in neither of the two otherwise.
    opened = list(_places_in(store, SHORT))
    archived = set()
    for place in _places_in(store, ARCHIVE):
        archived.add(place.id)
        yield place
    yield from (place for place in opened if place.id not in archived)


def _places_in(store: Store, under: str) -> Iterator[Place]:
    for path in store.files(under):
        found = _NAME.fullmatch(PurePosixPath(path).name)
        ours = found is None or is_own(path) or is_conflict_copy(path)
        if found is not None and not ours and not is_begun(store, path):
            yield Place(found["id"], path)


def is_begun(store: Store, path: str) -> bool:
    """Whether another process is about to write the first line of an open session.

    Such a file is as good as not there yet, and so is an empty one that a process left which
    was killed before its first line. One that had its line, or stays cut in it, is damaged:
    `read` says so.
    """
    if not path.startswith(f"{SHORT}/"):
        return False
    try:
        look = (store.root / path).lstat()
        fresh = look.st_size < _FIRST_LINE and 0 <= time.time() - look.st_mtime < _MOMENT
        # The first line is one write, so without a newline it is not written yet.
        unlined = (fresh or not look.st_size) and b"\n" not in store.read(path)
        # What the journal knows had its line: then it is damaged, and must be named.
        return unlined and not store.journal.known().get(path)
    except (FileNotFoundError, NotFoundError):
        return False


def parts(store: Store, root: str) -> list[Place]:
    """Return the files of one conversation, its continuations in order."""
    found = [place for place in places(store) if place.root == root]
    return sorted(found, key=_part_number)


def next_part(store: Store, session: Session) -> Session:
    """Return the header under which more turns of a session are to be written.

    That is the open part of the session; a new continuation when all have ended;
    the session itself when there is none.
    """
    here = [place for place in _places_in(store, SHORT) if place.root == session.id]
    # By the number and not by the name: "a.10" is sorted before "a.2".
    last = max(here, key=_part_number, default=None)
    if last is not None and not _has_ended(store, last):
        return replace(session, id=last.id)
    # Another thread or process may have begun one meanwhile, which is found now.
    last = max(parts(store, session.id), key=_part_number, default=None)
    if last is None:
        return session
    if last.open and not _has_ended(store, last):
        return replace(session, id=last.id)
    # An ended session is never opened again: it is archived, distilled, and quoted by line.
    id = f"{session.id}.{_part_number(last) + 1}"
    before = read(store, find(store, last.id).path).session
    return _inherit_owner(replace(session, id=id, continues=last.id), before)


def _inherit_owner(session: Session, before: Session) -> Session:
    """Return a continuation: the continuation of a private session is private too."""
    if session.area or not before.area:
        return session
    return replace(session, area=before.area, agent=before.agent, user=before.user)


def _has_ended(store: Store, place: Place) -> bool:
    """Whether a session in short-term memory takes no more turns."""
    try:
        content = store.read(place.path)
    except NotFoundError:
        return True  # It was archived meanwhile.
    lines = content.splitlines()
    # Nothing is added to a file that a merge has torn: what is said goes on in another one.
    ended = bool(lines) and lines[-1].startswith(b'{"kind":"end"')
    return ended or has_marks(place.path, content)


def _part_number(place: Place) -> int:
    return split_part(place.id)[1]


def find(store: Store, id: str) -> Place:
    """Return the file of a session, also by a unique prefix of its id.

    Raises:
        NotFoundError: there is none.
    """
    direct = f"{SHORT}/session_{id}.jsonl"
    if store.exists(direct) and not is_begun(store, direct):
        return Place(id, direct)
    if store.exists(kept_path(id)):
        return Place(id, kept_path(id))
    near = [place for place in places(store) if place.id.startswith(id)]
    exact = [place for place in near if place.id == id]
    # The whole id wins: "a" is a prefix of "a.2", its own continuation.
    if exact or len(near) == 1:
        return (exact or near)[0]
    raise NotFoundError("session", id)


def cite_turn(store: Store, what: str) -> str:
    """Return path and line of a turn such as ``session:s1#2``; what names no turn, as it is.

    Raises:
        NotFoundError: there is no such turn.
    """
    named = _TURN.fullmatch(what)
    if named is None:
        return what
    # Not by the beginning of an id: who may see one session must not learn of others.
    place = next((one for one in places(store) if one.id == named["id"]), None)
    line = find_turn_line(store, place.path, int(named["n"])) if place else 0
    if place is None or not line:
        raise NotFoundError("note or file", what)
    return f"{place.path}#L{line}"


def find_turn_line(store: Store, path: str, n: int) -> int:
    """Return the line of a session's file in which a turn stands; 0 if it is in none."""
    mark = f'"kind":"turn","n":{n},'.encode()
    lines = store.read(path).splitlines()
    # Near the beginning of the line: the text of a turn may hold the same characters.
    return next((i for i, line in enumerate(lines, 1) if mark in line[:80]), 0)


def read(store: Store, path: str) -> Transcript:
    """Read a session file whole; a session under review counts as words of the one who brought it.

    Raises:
        FormatError: it cannot be parsed.
    """
    served = store.served(path)
    if not served.usable and served.why and served.cap is None:
        raise WaitingError(path, served.why)
    found = parse(served.content, path)
    return found if served.cap is None else capped(found, served.cap)


# To end a session, its file is read to mark it as ended, to distil and to archive it.
@lru_cache(maxsize=1)
def parse(content: bytes, path: str) -> Transcript:
    """Return what a session file holds.

    Raises:
        FormatError: it cannot be parsed.
    """
    return read_transcript_lines(content.splitlines(keepends=True), path)


def capped(
    transcript: Transcript, cap: Origin, numbers: Container[int] | None = None
) -> Transcript:
    """Return a session whose turns, or those of some numbers, are trusted no more than that."""
    turns = (
        replace(turn, origin=least_trusted([turn.origin, cap]))
        if numbers is None or turn.n in numbers
        else turn
        for turn in transcript.turns
    )
    return replace(transcript, turns=tuple(turns))


def chain_problems(store: Store, path: str) -> list[str]:
    """Return what shows that a session file is no longer what was written.

    That is a file without its header, a line without its own sum, or a turn that does not
    follow from the others.

    Raises:
        ValueError: a line is no record.
    """
    lines = store.read(path).splitlines(keepends=True)
    if not lines or b'"kind":"session"' not in lines[0]:
        return ["it does not begin with its session, so something was cut off"]
    problems, context, last = [], chain_start(lines[0]), 0
    for number, line in enumerate(lines, 1):
        if not is_whole(line):
            problems.append(f"line {number} was changed after it was written")
        if b'"kind":"turn"' not in line:
            continue
        turn = turn_of(unseal(line))
        # The first turn may have any number, as a continuation counts on.
        if turn.context != context or (last and turn.n != last + 1):
            problems.append(f"turn {turn.n} (line {number}) does not follow from those before it")
        context, last = context_of(context, line), turn.n
    return problems


def split_session(store: Store, path: str, actor: Actor) -> None:
    """Split one file if it holds several sessions."""
    content = store.read(path)
    if is_joined(content):
        changes, waiting = split_changes(store, path, content)
        store.apply(changes, actor, subject="split sessions", waiting=waiting)


def split_changes(
    store: Store, path: str, content: bytes
) -> tuple[list[Change], dict[str, Provenance]]:
    """Return the changes that give each session in a file its own; the first keeps the path.

    With them come the files that wait for a person's word, as what they hold did before.
    """
    first, *more = parts_of(content.splitlines(keepends=True))
    parts = {path: first}
    for part in more:
        assert part.session is not None, "only the first part has no header of its own"
        own = str(PurePosixPath(path).with_name(f"session_{part.session.id}.jsonl"))
        # Another copy has made the same file where the same merge was repaired there.
        if not store.exists(own):
            parts[own] = part
    changes: list[Change] = [
        Create(own, b"".join(part.lines))
        if own != path
        else Update(path, digest(content), b"".join(part.lines))
        for own, part in parts.items()
    ]
    return changes, _find_waiting_parts(store, path, parts)


def _find_waiting_parts(
    store: Store, path: str, parts: Mapping[str, Part]
) -> dict[str, Provenance]:
    if store.vetting is None:
        return {}
    standing = store.vetting.standing(path, store.read(path))
    unseen = set(store.vetting.unseen_lines(path))
    cap, why = standing.cap, standing.why
    if cap is None and unseen:
        cap, why = Origin.REMOTE, "turns in it were not said here"
        parts = {own: part for own, part in parts.items() if not unseen.isdisjoint(part.lines)}
    return {own: Provenance(f"{EXTERNAL}:{cap}", why) for own in parts} if cap else {}
