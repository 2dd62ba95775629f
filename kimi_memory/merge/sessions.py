"""Three-way merge of session files: the longer of two, or a fork after what both share.

Lines are never rewritten but for headers: seals and the chain of turns stay as they were.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from kimi_memory.domain.session import Session
from kimi_memory.formats.jsonl import (
    chain_start,
    context_of,
    parts_of,
    session_line,
    session_of,
    turn_of,
    unseal,
)
from kimi_memory.merge.moved_turns import Moved, Moves
from kimi_memory.merge.three_way import pick

ARCHIVE = "episodic/sessions/"
# In the text of a turn the quotes would be escaped, so this does not hit what was said.
_PARTED = re.compile(r"(?:\.[0-9]{1,9}|-[0-9a-f]{8}){1,40}$")
"""What merges add to the id of a session."""
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


class MergedSessions(NamedTuple):
    """The sessions of both sides."""

    sessions: dict[str, SessionFile]
    ours: Moves
    """Turns of our side that stand in another session now, by the session they were in."""
    theirs: Moves


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
    merged = dict[str, SessionFile]()
    for id in sorted({*base, *ours, *theirs}):
        old, one, other = base.get(id), ours.get(id), theirs.get(id)
        if one is None or other is None:
            left = one or other
            # One side removed it: it stays only if the other side went on with it.
            if left is not None and left != old:
                _put(merged, left)
        elif one == other or old in (one, other):
            _put(merged, pick(old, one, other, max))
        else:
            _merge_pair(merged, *_share_header(old, one, other))
    moves = (_find_moves(side, merged) for side in (ours, theirs))
    return MergedSessions(merged, *moves)


def is_fork(id: str, session: str) -> bool:
    """Whether a merge made a session of later turns of another one."""
    return id.startswith(session) and _PARTED.fullmatch(id, len(session)) is not None


def _put(merged: dict[str, SessionFile], file: SessionFile) -> None:
    """Add a session, or bring it together with what stands under its id.

    A fork may be there already, of a merge that one side began, with other turns.
    """
    there = merged.pop(_id_of(file), file)
    if there == file:
        merged[_id_of(file)] = file
    else:
        _merge_pair(merged, there, file)


def _find_moves(side: Sessions, merged: Sessions) -> Moves:
    """Return where the turns of one side stand that are no longer in their session.

    Found by their lines: a fork may have forked again in the same merge.
    """
    changed = [id for id, file in side.items() if merged.get(id) != file]
    if not changed:
        return {}
    places = {
        line.rstrip(): id for id, file in merged.items() for line in file.lines if _TURN in line
    }
    moves = {id: tuple(_list_moves(id, side[id].lines, places)) for id in changed}
    return {id: moved for id, moved in moves.items() if moved}


def _list_moves(id: str, lines: Iterable[bytes], places: Mapping[bytes, str]) -> Iterator[Moved]:
    last = id
    for line in lines:
        to = places.get(line.rstrip(), last)
        if to != last and _TURN in line:
            last = to
            yield Moved(turn_of(unseal(line)).n, to)


def _share_header(
    base: SessionFile | None, ours: SessionFile, theirs: SessionFile
) -> tuple[SessionFile, SessionFile]:
    """Return both sides with one header, where the session began before they parted."""
    if base is not None:
        header = pick(base.lines[0], ours.lines[0], theirs.lines[0], max)
    elif _begins(ours) == _begins(theirs):
        header = max(ours.lines[0], theirs.lines[0])
    else:
        return ours, theirs
    one, other = (side._replace(lines=(header, *side.lines[1:])) for side in (ours, theirs))
    return one, other


def _begins(file: SessionFile) -> tuple[str, bytes]:
    """Return what tells where a session begins: the turn that it follows, or its own first."""
    after = chain_start(file.lines[0])
    return after, b"" if after else _Rest(file, file.lines).first


class _Rest(NamedTuple):
    """What one side has after the lines that both share."""

    file: SessionFile
    lines: tuple[bytes, ...]

    @property
    def turns(self) -> bool:
        return any(_TURN in line for line in self.lines)

    def closed_before(self, other: _Rest) -> bool:
        """Whether this side ended, or was distilled, without what the other has."""
        distilled = self.file.archived and not other.file.archived
        return distilled or any(_END in line for line in self.lines)

    @property
    def first(self) -> bytes:
        """The line of the first turn, or the first of all."""
        return next((line for line in self.lines if _TURN in line), self.lines[0])

    def order(self) -> tuple[str, bytes]:
        """Return what ranks two rests: the moment of the first turn, then its line."""
        first = self.first
        return str(_record(first).get("at") or _record(first).get("started") or ""), first


def _record(line: bytes) -> Mapping[str, object]:
    try:
        return unseal(line)
    except ValueError:
        return {}


def _merge_pair(merged: dict[str, SessionFile], ours: SessionFile, theirs: SessionFile) -> None:
    """Merge two versions of one session, neither of which is the base."""
    sides = [side._replace(lines=_drop_torn(side.lines)) for side in (ours, theirs)]
    sides = [*_share_header(None, *sides)]
    shared = _count_shared(*(side.lines for side in sides))
    rests = [_Rest(side, side.lines[shared:]) for side in sides]
    if shared and not all(rest.turns for rest in rests):
        more, less = sorted(rests, key=lambda rest: (rest.turns, rest.lines), reverse=True)
        # What was said after an end needs a session of its own, as what came before is distilled.
        if not (more.turns and less.closed_before(more)):
            _put(merged, _extend(more, less))
            return
        stays, moves, new = less, more, replace(_fork(more), continues=less.file.header.id)
    else:
        # The earlier one keeps the id, whichever copy merges.
        stays, moves = sorted(rests, key=_Rest.order)
        new = _fork(moves)
    header = replace(new, after=_chain_end(moves.file.lines[:shared])) if shared else new
    _put(merged, stays.file)
    _put(merged, moves.file.at(header, moves.lines[0 if shared else 1 :]))


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


def _fork(moves: _Rest) -> Session:
    """Return the header of the side whose turns move; its name is the same in every copy.

    It is named by the session that all forks come from: which of them forked again depends on
    the order of merges.
    """
    id, mark = _root_of(moves.file), _mark(moves.first)
    if f"{id}-{mark}" == _id_of(moves.file):
        # The other version has its first turn washed.
        id = _id_of(moves.file)
    return replace(moves.file.header, id=f"{id}-{mark}")


def _root_of(file: SessionFile) -> str:
    """Return the session that merges parted this one from, or its own id."""
    id, first = _id_of(file), _Rest(file, file.lines).first
    parted = chain_start(file.lines[0]) or file.header.continues or id.endswith(f"-{_mark(first)}")
    return _PARTED.sub("", id) if parted else id


def _mark(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:8]


def _chain_end(lines: Sequence[bytes]) -> str:
    """Return the context of the turn that would follow the lines of a session."""
    context = chain_start(lines[0])
    for line in lines[1:]:
        context = context_of(context, line) if _TURN in line else context
    return context
