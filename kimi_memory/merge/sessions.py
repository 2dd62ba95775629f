"""Three-way merge of session files: the longer of two, or a fork after what both share.

Lines are never rewritten but for headers: seals and the chain of turns stay as they were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from kimi_memory.domain.session import Session
from kimi_memory.formats.checksum import unseal
from kimi_memory.formats.joined_sessions import parts_of
from kimi_memory.formats.jsonl import chain_start, context_of, session_line, session_of, turn_of
from kimi_memory.merge.moved_turns import Moved
from kimi_memory.merge.three_way import pick

ARCHIVE = "episodic/sessions/"
# In the text of a turn the quotes would be escaped, so this does not hit what was said.
_TURN, _END = b'"kind":"turn"', b'"kind":"end"'


class SessionFile(NamedTuple):
    """The records of one session and where they lie."""

    path: str
    lines: tuple[bytes, ...]
    """With its header first."""

    @property
    def header(self) -> Session:
        """The session as its first line says."""
        return session_of(unseal(self.lines[0]))

    @property
    def archived(self) -> bool:
        """Whether it ended and was distilled."""
        return self.path.startswith(ARCHIVE)

    def at(self, session: Session, lines: Sequence[bytes]) -> SessionFile:
        """Return a session of another id in the same folder."""
        path = PurePosixPath(self.path).with_name(f"session_{session.id}.jsonl")
        return SessionFile(str(path), (session_line(session), *lines))


Sessions = Mapping[str, SessionFile]


@dataclass(slots=True)
class MergedSessions:
    """The sessions of both sides."""

    sessions: dict[str, SessionFile] = field(default_factory=dict)
    ours: dict[str, Moved] = field(default_factory=dict)
    """Turns of our side that stand in another session now, by the session they were in."""
    theirs: dict[str, Moved] = field(default_factory=dict)


def read_sessions(path: str, content: bytes) -> dict[str, SessionFile]:
    """Return the sessions in a file, by id; ValueError where its first line is no header."""
    parts = parts_of(content.splitlines(keepends=True))
    first = SessionFile(path, tuple(parts[0].lines))
    if not first.lines or unseal(first.lines[0]).get("kind") != "session":
        raise ValueError("the first record should be the session")
    id = PurePosixPath(path).name.removeprefix("session_").removesuffix(".jsonl")
    more = [part.session for part in parts[1:] if part.session is not None]
    others = (first.at(s, p.lines[1:]) for s, p in zip(more, parts[1:], strict=True))
    first.header  # noqa: B018  raises where the header is broken
    return {id: first, **{other.header.id: other for other in others}}


def merge_sessions(base: Sessions, ours: Sessions, theirs: Sessions) -> MergedSessions:
    """Return the sessions of both sides; each turn of either stands in one of them, once."""
    merged, known = MergedSessions(), {*base, *ours, *theirs}
    for id in sorted(known):
        old, one, other = base.get(id), ours.get(id), theirs.get(id)
        # A session sorts before its forks: one that was made of it may be there already, from a
        # merge that one side began, with fewer turns.
        forked = merged.sessions.pop(id, None)
        if one is None or other is None:
            left = one or other
            # One side removed it: it stays only if the other side went on with it.
            if left is not None and left != old:
                merged.sessions[id] = left
        elif one == other or old in (one, other):
            merged.sessions[id] = pick(old, one, other, max)
        else:
            _merge_pair(merged, _share_header(old, one, other), known)
        if forked is not None:
            _rejoin(merged, forked, id, known)
    return merged


def _rejoin(merged: MergedSessions, forked: SessionFile, id: str, known: set[str]) -> None:
    """Bring a fork together with what stands under its id."""
    there = merged.sessions.get(id, forked)
    merged.sessions[id] = forked
    if there != forked:
        _merge_pair(merged, (there, forked), known)


def _share_header(
    base: SessionFile | None, ours: SessionFile, theirs: SessionFile
) -> tuple[SessionFile, SessionFile]:
    """Return both sides with one header, where the session began before they parted."""
    if base is None:
        return ours, theirs
    header = pick(base.lines[0], ours.lines[0], theirs.lines[0], max)
    one, other = (side._replace(lines=(header, *side.lines[1:])) for side in (ours, theirs))
    return one, other


class _Rest(NamedTuple):
    """What one side has after the lines that both share."""

    file: SessionFile
    lines: tuple[bytes, ...]

    @property
    def turns(self) -> bool:
        return any(_TURN in line for line in self.lines)

    @property
    def ended(self) -> bool:
        return self.file.archived or any(_END in line for line in self.file.lines)

    def closed_before(self, other: _Rest) -> bool:
        """Whether this side ended, or was distilled, without what the other has."""
        distilled = self.file.archived and not other.file.archived
        return distilled or (self.ended and not other.ended)

    def order(self) -> tuple[str, bytes]:
        """Return what ranks two rests: the moment of the first line, then the line itself."""
        first = next(iter(self.lines), b"")
        return str(_record(first).get("at") or _record(first).get("started") or ""), first


def _record(line: bytes) -> Mapping[str, object]:
    try:
        return unseal(line)
    except ValueError:
        return {}


def _merge_pair(
    merged: MergedSessions, sides: tuple[SessionFile, SessionFile], known: set[str]
) -> None:
    """Merge two versions of one session, neither of which is the base."""
    ours, theirs = (side._replace(lines=_drop_torn(side.lines)) for side in sides)
    shared = _count_shared(ours.lines, theirs.lines)
    rests = [_Rest(side, side.lines[shared:]) for side in (ours, theirs)]
    id = _id_of(ours)
    if shared and not all(rest.turns for rest in rests):
        more, less = sorted(rests, key=lambda rest: (rest.turns, rest.lines), reverse=True)
        # What was said after an end needs a session of its own, as what came before is distilled.
        if not (more.turns and less.closed_before(more)):
            merged.sessions[id] = _extend(more, less)
            return
        stays, moves, new = less, more, _continuation(less.file, known)
    else:
        # The earlier one keeps the id, whichever copy merges.
        stays, moves = sorted(rests, key=_Rest.order)
        new = _fork(moves, id, shared)
    header = replace(new, after=_chain_end(moves.file.lines[:shared])) if shared else new
    lines = moves.lines[0 if shared else 1 :]
    merged.sessions[id] = stays.file
    merged.sessions[new.id] = moves.file.at(header, lines)
    first = next((turn_of(unseal(line)).n for line in lines if _TURN in line), 1)
    gone = merged.ours if moves.file is ours else merged.theirs
    gone[id] = Moved(first, new.id)


def _drop_torn(lines: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the lines without a last one that a crash cut."""
    if not lines[-1].endswith(b"\n"):
        # A last line that is whole lacks only its line break.
        return (*lines[:-1], lines[-1] + b"\n") if _record(lines[-1]) else lines[:-1]
    return lines


def _count_shared(ours: Sequence[bytes], theirs: Sequence[bytes]) -> int:
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(ours), len(theirs)))


def _id_of(file: SessionFile) -> str:
    return PurePosixPath(file.path).name.removeprefix("session_").removesuffix(".jsonl")


def _extend(more: _Rest, less: _Rest) -> SessionFile:
    """Return the longer version with the states of the other; of two ends the earlier."""
    ends = sorted(line for line in {*more.lines, *less.lines} if _END in line)
    lines = list(dict.fromkeys(line for line in more.lines if _END not in line))
    lines += [line for line in less.lines if _END not in line and line not in lines]
    start = more.file.lines[: len(more.file.lines) - len(more.lines)]
    path = next((s.file.path for s in (more, less) if s.file.archived), more.file.path)
    return SessionFile(path, (*start, *lines, *ends[:1]))


def _continuation(ended: SessionFile, known: set[str]) -> Session:
    """Return the header of what was said after the end that the other side set."""
    id = _id_of(ended)
    root, _, number = id.rpartition(".")
    name = f"{root}.{int(number) + 1}" if root and number.isdigit() else f"{id}.2"
    if name in known:
        # The number is taken. This name is the same in every copy that merges the two.
        name = f"{id}-{hashlib.sha256(ended.lines[-1]).hexdigest()[:8]}"
    return replace(ended.header, id=name, continues=ended.header.id)


def _fork(moves: _Rest, id: str, shared: int) -> Session:
    """Return the header of the side whose turns move; its name is the same in every copy."""
    mark = hashlib.sha256(moves.lines[0]).hexdigest()[:8]
    return replace(moves.file.header, id=f"{id}-{mark}")


def _chain_end(lines: Sequence[bytes]) -> str:
    """Return the context of the turn that would follow the lines of a session."""
    context = chain_start(lines[0])
    for line in lines[1:]:
        context = context_of(context, line) if _TURN in line else context
    return context
