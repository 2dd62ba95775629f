"""Observations of claude-mem: its SQLite database, or a JSON export of it.

Why it exists: such a store holds what a model made of tool calls, with the session it
came from. The database is read from a copy in memory, so that nothing beside it is
touched; what still waits in its write-ahead log is not seen. Columns that a version does
not have are simply empty.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.note import CardType
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.errors import TranscriptError
from kimi_memory.nlp.dates.timestamps import moment

SYSTEM = "claude-mem"
_SQLITE = b"SQLite format 3\0"
_TABLES = {"observations": "observations", "session_summaries": "summaries"}
"""Tables of the database, and the lists of an export that hold their rows."""
_TYPES = {
    "decision": CardType.DECISION,
    "bugfix": CardType.GOTCHA,
    "discovery": CardType.FACT,
    "feature": CardType.FACT,
    "refactor": CardType.FACT,
    "change": CardType.FACT,
}
_PARTS = ("subtitle", "narrative", "text", "request", "learned", "completed", "next_steps")
_SESSIONS = ("memory_session_id", "sdk_session_id", "claude_session_id", "session_id")


@hookimpl
def read_memories(file: TranscriptFile, system: str) -> Iterable[Memo] | None:
    """Read a database or an export; None for any other file."""
    if system not in ("", SYSTEM):
        return None
    if file.head.startswith(_SQLITE):
        return _read_database(file)
    if PurePath(file.name).suffix.lower() != ".json" or b'"observations"' not in file.head:
        return None
    with file.open() as stream:
        text = stream.read().decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TranscriptError(file.name, 1, f"not JSON: {error}") from error
    return _read_export(value, text) if isinstance(value, dict) else None


def _read_database(file: TranscriptFile) -> list[Memo] | None:
    with file.open() as stream:
        content = bytearray(stream.read())
    # A copy in memory has no write-ahead log; these two bytes say so.
    content[18:20] = b"\x01\x01"
    with closing(sqlite3.connect(":memory:")) as database:
        database.row_factory = sqlite3.Row
        try:
            database.deserialize(bytes(content))
            listed = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = [row["name"] for row in listed]
            if "observations" not in tables:
                return None
            return [
                memo
                for table in _TABLES
                if table in tables
                for memo in _yield_row_memos(table, database.execute(f"SELECT * FROM {table}"))  # noqa: S608  a name of ours
            ]
        except sqlite3.Error as error:
            raise TranscriptError(file.name, 1, f"a damaged database: {error}") from error


def _yield_row_memos(table: str, rows: Iterable[sqlite3.Row]) -> Iterator[Memo]:
    for number, row in enumerate(rows, 1):
        values = dict(row)
        id = values.get("id", number)
        yield _make_memo(table, values, id if isinstance(id, int) else number)


def _read_export(value: Mapping[str, Any], text: str) -> Iterator[Memo]:
    for table, name in _TABLES.items():
        at = max(text.find(json.dumps(name)), 0)
        line = text.count("\n", 0, at) + 1
        rows = value.get(name)
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict):
                found = text.find(f'"id": {row.get("id")}', at)
                if found > 0:
                    line, at = line + text.count("\n", at, found), found
                yield _make_memo(table, row, line)


def _make_memo(table: str, row: Mapping[str, Any], line: int) -> Memo:
    facts = _parse_list(row.get("facts"))
    parts = [str(row[name]) for name in _PARTS if isinstance(row.get(name), str) and row[name]]
    title = row.get("title") or row.get("request") or ""
    session = next((row[name] for name in _SESSIONS if row.get(name)), "")
    id = row.get("id", line)
    return Memo(
        system=SYSTEM,
        id=f"{table}-{id}",
        text="\n".join([*parts, *facts]) or str(title),
        line=line,
        title=str(title)[:120],
        type=_TYPES.get(str(row.get("type")), CardType.FACT),
        tags=tuple(_parse_list(row.get("concepts"))),
        created=_creation_time(row),
        sources=(f"claude-mem session {session}",) if session else (),
        project=str(row.get("project") or ""),
    )


def _parse_list(value: object) -> list[str]:
    """Return a list that the database keeps as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            # An older version wrote plain text there.
            return []
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _creation_time(row: Mapping[str, Any]) -> datetime | None:
    epoch = row.get("created_at_epoch")
    if isinstance(epoch, int) and 0 < epoch < 2**43:
        # Versions differ in whether this counts seconds or milliseconds.
        return datetime.fromtimestamp(epoch / 1000 if epoch > 2**33 else epoch, UTC)
    return moment(row.get("created_at"))
