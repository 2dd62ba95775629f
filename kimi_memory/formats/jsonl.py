"""Records as lines of JSON: sessions, tombstones, and what a merge by lines left among them.

A session's file is a sequence of records: one ``session`` line, then ``turn`` lines, and
``state`` and ``end`` lines where they fall. Readers skip kinds and members they do not know,
so that a later version may add some.

The last member of a record is ``"sum"``, the first 12 hex digits of the SHA-256 of the bytes
before it. A line that was torn by a crash, or edited by hand, does not carry its own sum; the
file stays plain JSONL for every other program.

Where git merges by lines, it may leave its marks in a file, or two sessions in one. Of a file with
marks, the versions are shown that met there. Of two sessions the first keeps the id. Each further
one is called after it and after its own first line, so that every copy gives it the same name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from kimi_memory.domain.ids import moment, safe_session_id, zulu
from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.session import Json, Session, Transcript, Turn
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.errors import FormatError

_AFTER = re.compile(rb'"after":"([0-9a-f]{12})"')
_SESSION_TEXTS = (
    "agent",
    "user",
    "project",
    "channel",
    "host",
    "continues",
    "title",
    "area",
    "after",
)


_TAIL = b',"sum":"'
_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Record = Mapping[str, Json]


def drop_empty(record: Record) -> dict[str, Json]:
    """Return the members of a record that say something."""
    return {name: value for name, value in record.items() if value}


def get_text(record: Record, name: str) -> str:
    """Return a text of a record, empty where it has none; ValueError for anything else."""
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name!r} should be text")
    text = value or ""
    # Escapes in JSON can spell half a character, which no file can hold.
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def get_texts(record: Record, name: str) -> list[str]:
    """Return a list of texts of a record."""
    return [str(one) for one in _get_list(record, name)]


def _get_list(record: Record, name: str) -> list[Json]:
    found = record.get(name, [])
    if not isinstance(found, list):
        raise ValueError(f"{name!r} should be a list")
    return found


def get_required(record: Record, name: str) -> str:
    """Return a text that a record must have."""
    if not (text := get_text(record, name)):
        raise ValueError(f"{name!r} is missing")
    return text


def get_integer(record: Record, name: str, *, least: int = 0) -> int:
    """Return a whole number of a record, 0 where it has none."""
    value = record.get(name, 0)
    # To Python, True is a whole number.
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name!r} should be a whole number from {least} on")
    return value


def get_number(record: Record, name: str, default: float) -> float:
    """Return a number of a record."""
    value = record.get(name, default)
    # Written so that NaN fails, too.
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e9:
        raise ValueError(f"{name!r} should be a number")
    return float(value)


def get_table(record: Record, name: str, default: dict[str, Json]) -> dict[str, Json]:
    """Return an object of a record."""
    value = record.get(name, default)
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} should be an object")
    return value


def get_records(record: Record, name: str) -> list[dict[str, Json]]:
    """Return a list of objects of a record."""
    found = _get_list(record, name)
    records = [one for one in found if isinstance(one, dict)]
    if len(records) != len(found):
        raise ValueError(f"{name!r} should hold objects")
    return records


def _hash_body(body: bytes) -> str:
    # 48 bits: against torn lines and slips of the hand, not against an attacker.
    return hashlib.sha256(body).hexdigest()[:12]


def seal(record: Mapping[str, Json]) -> bytes:
    """Return the line of a record, newline included; the record has no ``sum`` member."""
    return seal_bytes(encode(record))


def encode(record: Mapping[str, Json]) -> bytes:
    """Return a record as the JSON that its line begins with."""
    # Lone surrogates cannot be UTF-8; they come only from broken input.
    return _encoded(record).encode("utf-8", "replace")


def seal_bytes(body: bytes) -> bytes:
    """Return the line of a record that was encoded."""
    open_body = body[:-1]
    return open_body + _TAIL + _hash_body(open_body).encode() + b'"}\n'


def is_whole(line: bytes) -> bool:
    """Whether the line ends in a newline and carries its own sum."""
    # From the right: a text may hold the same characters.
    body, tail, rest = line.rpartition(_TAIL)
    return bool(tail) and rest == _hash_body(body).encode() + b'"}\n'


def sum_of(line: bytes) -> str:
    """Return the sum a sealed line carries, or an empty string."""
    at = line.rfind(_TAIL)
    if at < 0:
        return ""
    start = at + len(_TAIL)
    return line[start : start + 12].decode("ascii", "replace")


def unseal(line: bytes) -> dict[str, Json]:
    """Return the record without its sum; ValueError when the line is not JSON.

    A wrong sum is not an error here: a person may have edited the line. Ask
    `is_whole` where it matters.
    """
    try:
        record = json.loads(line)
    # Python's parser gives up on brackets within brackets with this, which is no ValueError.
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(record, dict):
        raise ValueError("a record is a JSON object")
    record.pop("sum", None)
    return record


def archive_path(session: Session) -> str:
    """Return where an ended session is kept: by the month, in UTC, it began in."""
    # In UTC, or the same session would lie in two folders on machines of two zones.
    month = session.started.astimezone(UTC)
    return f"episodic/sessions/{month:%Y-%m}/session_{safe_session_id(session.id)}.jsonl"


def context_of(previous: str, line: bytes) -> str:
    """Return the context of the turn after a sealed line, whose own was `previous`."""
    # A chain: a turn that is changed or left out breaks all contexts behind it, and `verify` names
    # the first.
    return hashlib.sha256((previous + sum_of(line)).encode()).hexdigest()[:12]


def chain_start(line: bytes) -> str:
    """Return the context of the first turn after a header; empty unless a merge parted them."""
    found = _AFTER.search(line)
    return found[1].decode() if found else ""


def session_line(session: Session) -> bytes:
    """Return the first line of a session's file."""
    record: dict[str, Json] = {"kind": "session", "id": session.id}
    record["started"] = zulu(session.started)
    texts = {name: str(getattr(session, name)) for name in _SESSION_TEXTS}
    return seal({**record, **drop_empty(texts)})


def turn_line(turn: Turn) -> bytes:
    """Return the line of a turn."""
    record: dict[str, Json] = {
        "kind": "turn",
        "n": turn.n,
        "at": zulu(turn.at),
        "role": str(turn.role),
        **drop_empty({"speaker": turn.speaker}),
        "text": turn.text,
        # Written even where it is the default: trust is never a matter of omission.
        "origin": str(turn.origin),
        "importance": float(turn.importance),
    }
    further: dict[str, Json] = {
        "tags": list(turn.tags),
        "context": turn.context,
        "ref": turn.ref,
        "masked": turn.masked,
        "stripped": turn.stripped,
        "tool_calls": list(turn.tool_calls),
    }
    return seal({**record, **drop_empty(further)})


def state_line(
    task: Record | None = None, variables: Record | None = None, metadata: Record | None = None
) -> bytes:
    """Return a line that sets the current task, the temporary variables or the metadata.

    What is None stays as the lines before left it.
    """
    record: dict[str, Json] = {"kind": "state"}
    record.update({} if task is None else {"task": dict(task)})
    record.update({} if variables is None else {"variables": dict(variables)})
    record.update({} if metadata is None else {"metadata": dict(metadata)})
    return seal(record)


def end_line(at: datetime) -> bytes:
    """Return the line that ends a session."""
    return seal({"kind": "end", "at": zulu(at)})


def session_of(record: Record) -> Session:
    """Return the session of its record; ValueError says what is wrong."""
    texts = {name: get_text(record, name) for name in _SESSION_TEXTS}
    return Session(
        id=get_required(record, "id"), started=moment(get_required(record, "started")), **texts
    )


def turn_of(record: Record) -> Turn:
    """Return the turn of its record; ValueError says what is wrong."""
    tags = get_texts(record, "tags")
    calls = _get_list(record, "tool_calls")
    return Turn(
        n=get_integer(record, "n", least=1),
        at=moment(get_required(record, "at")),
        role=Role(get_required(record, "role")),
        text=get_text(record, "text"),
        speaker=get_text(record, "speaker"),
        origin=Origin(get_text(record, "origin") or Origin.HUMAN),
        importance=get_number(record, "importance", 0.5),
        tags=tuple(tags),
        context=get_text(record, "context"),
        ref=get_text(record, "ref"),
        masked=get_integer(record, "masked"),
        stripped=get_integer(record, "stripped"),
        tool_calls=tuple(calls),
    )


def tombstone_line(stone: Tombstone) -> bytes:
    """Return the line of a tombstone."""
    record: dict[str, Json] = {"kind": "tombstone", "scope": stone.scope, "key": stone.key}
    record |= {"value": stone.value, "at": zulu(stone.at), "by": stone.by}
    record |= drop_empty({"why": stone.why, "hashed": stone.hashed, "about": list(stone.about)})
    return seal(record)


def tombstone_of(record: Record) -> Tombstone:
    """Return the tombstone of its record; ValueError says what is wrong."""
    return Tombstone(
        scope=get_required(record, "scope"),
        key=get_text(record, "key"),
        value=get_text(record, "value"),
        at=moment(get_required(record, "at")),
        by=get_text(record, "by"),
        why=get_text(record, "why"),
        hashed=record.get("hashed") is True,
        about=tuple(get_texts(record, "about")),
    )


def parse_tombstones(content: bytes, path: str = "") -> Iterator[Tombstone]:
    """Yield the tombstones of a file, in the order they were set.

    Args:
        content: the bytes of the file.
        path: the file's, where a line that is none is an error; else it is passed over.

    Raises:
        FormatError: a line is none; nothing is written while one cannot be read,
            because it might bar what is about to be written.
    """
    for number, line in enumerate(content.splitlines(), 1):
        try:
            yield tombstone_of(unseal(line))
        except ValueError as error:
            if path:
                raise FormatError(
                    path, number, f"not a tombstone: {error}", "Restore the line from git"
                ) from error


@dataclass(slots=True)
class _Reading:
    """A transcript while its lines are being read."""

    session: Session | None = None
    turns: list[Turn] = field(default_factory=list)
    task: dict[str, Json] = field(default_factory=dict)
    variables: dict[str, Json] = field(default_factory=dict)
    ended: datetime | None = None
    metadata: dict[str, Json] = field(default_factory=dict)

    def add_record(self, record: Record) -> None:
        """Add what a record says; ValueError says what is wrong with it."""
        kind = record.get("kind")
        if kind == "session":
            self.session = session_of(record)
        elif self.session is None:
            raise ValueError("the first record should be the session")
        elif kind == "turn":
            self.turns.append(turn_of(record))
        elif kind == "state":
            self.task = get_table(record, "task", self.task)
            self.variables = get_table(record, "variables", self.variables)
            self.metadata = get_table(record, "metadata", self.metadata)
        elif kind == "end":
            self.ended = moment(get_required(record, "at"))


def read_transcript_lines(lines: Iterable[bytes], path: str) -> Transcript:
    """Return the session in the lines of its file, read one by one.

    A last line that was torn is ignored, as are blank ones and records of an unknown
    kind. Where a second session begins, this one ends.

    Raises:
        FormatError: A line before the last is broken, or the file has no session.
    """
    reading = _Reading()
    torn: FormatError | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        # Only the last line can be torn by a crash; before others, a broken line was edited or
        # lost.
        if torn:
            raise torn
        try:
            record = unseal(line)
        except ValueError:
            torn = _broken_line_error(path, number, "not a line of JSON")
            continue
        # Git merged two sessions of one name by joining their lines; each is read by itself.
        if reading.session is not None and record.get("kind") == "session":
            break
        try:
            reading.add_record(record)
        except ValueError as error:
            raise _broken_line_error(path, number, str(error)) from None
    if reading.session is None:
        raise torn or _broken_line_error(path, 1, "no session in this file")
    return Transcript(
        reading.session,
        tuple(reading.turns),
        reading.task,
        reading.variables,
        reading.ended,
        reading.metadata,
    )


def _broken_line_error(path: str, line: int, why: str) -> FormatError:
    remedy = "Restore the line from history ('git log -p' on the file)"
    return FormatError(path, line, why, remedy)


_OURS = b"<<<<<<< "
_BASE = b"|||||||"
_MIDDLE = b"======="
_THEIRS = b">>>>>>> "
# A fence of a code block as CommonMark has it: indented by three spaces at most.
_FENCE = re.compile(rb" {0,3}(```+|~~~+)")
# As a sealed line spells it; the JSON is read only where these bytes are met.
_HEADER = b'"kind":"session"'


def has_marks(path: str, content: bytes) -> bool:
    """Whether a merge left its marks in a file: all of them, in order, outside of a code block.

    A line of equals signs alone is a heading, and what shows the marks in a block of code
    is about git. Records hold neither.
    """
    return line_of_marks(path, content) > 0


def line_of_marks(path: str, content: bytes) -> int:
    """Return the line where the marks of a merge begin, 0 where there are none."""
    # The last of the marks, and the rarest: nearly every file is done here.
    if b"\n" + _THEIRS not in content:
        return 0
    first = next(_find_conflicts(path, content.splitlines()), None)
    return 0 if first is None else first.start + 1


class MarkedSides(NamedTuple):
    """The three versions that a file with marks shows."""

    base: bytes
    """Without the lines in dispute, where git did not show what both sides began with."""
    ours: bytes
    theirs: bytes


def split_marks(path: str, content: bytes) -> MarkedSides:
    """Return the versions that a file with marks shows."""
    lines, at = content.splitlines(keepends=True), 0
    sides: tuple[list[bytes], ...] = ([], [], [])
    for conflict in _find_conflicts(path, content.splitlines()):
        for side, shown in zip(sides, _split_conflict(lines[slice(*conflict)]), strict=True):
            side += [*lines[at : conflict.start], *shown]
        at = conflict.end
    base, ours, theirs = (b"".join([*side, *lines[at:]]) for side in sides)
    return MarkedSides(base, ours, theirs)


class _Conflict(NamedTuple):
    """The lines of a conflict, those with the marks among them."""

    start: int
    end: int


def _find_conflicts(path: str, lines: Sequence[bytes]) -> Iterator[_Conflict]:
    fence, begun, middle = b"", -1, False
    for number, line in enumerate(lines):
        block = _FENCE.match(line) if path.endswith(".md") and begun < 0 else None
        if block is not None:
            fence = _update_fence(fence, block[1])
        elif fence:
            continue
        elif line.startswith(_OURS):
            begun, middle = number, False
        elif begun >= 0 and line == _MIDDLE:
            middle = True
        elif begun >= 0 and middle and line.startswith(_THEIRS):
            yield _Conflict(begun, number + 1)
            begun = -1


def _update_fence(fence: bytes, mark: bytes) -> bytes:
    """Return the mark of the block of code that is open after a line that is one."""
    if not fence:
        return mark
    return b"" if mark[:1] == fence[:1] and len(mark) >= len(fence) else fence


def _split_conflict(lines: Sequence[bytes]) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Return the lines of the base and of both sides in a conflict."""
    base, ours, theirs = list[bytes](), list[bytes](), list[bytes]()
    side = ours
    for line in lines[1:-1]:
        plain = line.rstrip(b"\r\n")
        if side is ours and (plain == _BASE or plain.startswith(_BASE + b" ")):
            side = base
        elif side is not theirs and plain == _MIDDLE:
            side = theirs
        else:
            side.append(line)
    return base, ours, theirs


class Part(NamedTuple):
    """The lines of one session in a file that may hold more."""

    first: int
    """The line of the file it begins in, from 1."""
    lines: list[bytes]
    """Its own lines, with its own id in the header."""
    session: Session | None = None
    """Its header; None for the first session, which nobody had to read."""


def parts_of(lines: Sequence[bytes]) -> list[Part]:
    """Return the sessions in the lines of a file, in order; nearly always one."""
    found = [(at, made) for at, made in enumerate(map(_parse_header, lines)) if made is not None]
    if len(found) < 2:
        return [Part(1, list(lines))]
    first, *more = found
    starts = [0, *(at for at, _ in more), len(lines)]
    parts = [Part(1, list(lines[: starts[1]]))]
    for (at, session), end in zip(more, starts[2:], strict=True):
        # Of its first line, which is the same in every copy of the memory.
        mark = hashlib.sha256(lines[at]).hexdigest()[:8]
        own = replace(session, id=f"{first[1].id}-{mark}")
        parts.append(Part(at + 1, [session_line(own), *lines[at + 1 : end]], own))
    return parts


def is_joined(content: bytes) -> bool:
    """Whether a session file holds more than one session."""
    return content.count(_HEADER) > 1 and len(parts_of(content.splitlines(keepends=True))) > 1


def _parse_header(line: bytes) -> Session | None:
    if _HEADER not in line:
        return None
    try:
        record = unseal(line)
        return session_of(record) if record.get("kind") == "session" else None
    except ValueError:
        # A turn may hold these bytes as its text, or the line was torn.
        return None


VIEW_TURNS = 10
"""How many of the last turns the view of an open session shows."""


def view_json(transcript: Transcript) -> bytes:
    """Return the JSON view of a session: its last turns, its task and variables."""
    # By hand: the turns that were rendered before are put in as they are.
    context = ",\n    ".join(map(_render_turn, transcript.turns[-VIEW_TURNS:]))
    members = {
        "session_id": _to_json(transcript.session.id),
        "timestamp": _to_json(zulu(transcript.latest)),
        "context": f"[\n    {context}\n  ]" if context else "[]",
        "current_task": _to_json(dict(transcript.task)),
        "temp_vars": _to_json(dict(transcript.variables)),
    }
    lines = ",\n".join(f'  "{name}": {value}' for name, value in members.items())
    return f"{{\n{lines}\n}}\n".encode("utf-8", "replace")


# The view is written anew with every turn, and all turns in it but one are old.
@lru_cache(maxsize=4 * VIEW_TURNS)
def _render_turn(turn: Turn) -> str:
    shown: dict[str, Json] = {"n": turn.n, "at": zulu(turn.at), "role": str(turn.role)}
    if turn.speaker:
        shown["speaker"] = turn.speaker
    return _to_json({**shown, "text": turn.text})


def _to_json(value: Json) -> str:
    """Return JSON on one line; with an indent, Python's slow encoder would write it."""
    return json.dumps(value, ensure_ascii=False)
