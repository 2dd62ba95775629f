"""claude-mem: observations and summaries, from the database and from an export."""

from __future__ import annotations

import io
import json
import sqlite3
from pathlib import Path

import pytest
from kimi_memory.plugins import import_claude_mem

from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.note import CardType
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.errors import TranscriptError
from tests.plugins.conftest import Spoil

OBSERVATION = {
    "id": 7,
    "sdk_session_id": "s-1",
    "project": "shop",
    "type": "decision",
    "title": "Chose PostgreSQL",
    "narrative": "The team chose PostgreSQL.",
    "facts": '["JSON 支持好"]',
    "concepts": '["db"]',
    "created_at_epoch": 1735789445000,
}
SUMMARY = {"id": 1, "sdk_session_id": "s-1", "request": "选数据库", "learned": "JSONB is fast"}


def read(name: str, content: bytes, system: str = "") -> list[Memo] | None:
    file = TranscriptFile(name, content[:65536], lambda: io.BytesIO(content))
    found = import_claude_mem.read_memories(file, system)
    return None if found is None else list(found)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database as such a program leaves it, in write-ahead mode."""
    path = tmp_path / "claude-mem.db"
    with sqlite3.connect(path) as made:
        made.execute("PRAGMA journal_mode = WAL")
        for table, row in (("observations", OBSERVATION), ("session_summaries", SUMMARY)):
            made.execute(f"CREATE TABLE {table} ({', '.join(row)})")
            marks = ", ".join("?" * len(row))
            made.execute(f"INSERT INTO {table} VALUES ({marks})", list(row.values()))
    made.close()
    return path


def test_a_database_is_read_and_not_touched(database: Path) -> None:
    before = {p.name: p.read_bytes() for p in database.parent.iterdir()}
    one, two = read(database.name, database.read_bytes())
    assert {p.name: p.read_bytes() for p in database.parent.iterdir()} == before
    assert one.text == "The team chose PostgreSQL.\nJSON 支持好"
    assert (one.type, one.project, one.tags) == (CardType.DECISION, "shop", ("db",))
    assert one.sources == ("claude-mem session s-1",)
    assert one.created.year == 2025
    assert two.title == "选数据库"
    assert "JSONB is fast" in two.text


def test_an_export_says_the_same(database: Path) -> None:
    export = {"observations": [OBSERVATION], "summaries": [SUMMARY], "prompts": []}
    text = json.dumps(export, ensure_ascii=False, indent=2)
    found = read("export.json", text.encode())
    stored = read(database.name, database.read_bytes())
    assert [m.text for m in found] == [m.text for m in stored]
    assert '"id": 7' in text.splitlines()[found[0].line - 1]


def test_seconds_and_dates_are_read_too() -> None:
    rows = [
        {"id": 1, "title": "t", "created_at_epoch": 1735789445},
        {"id": 2, "created_at": "2025-01-02"},
    ]
    one, two = read("e.json", json.dumps({"observations": rows}).encode())
    assert (one.created.year, two.created.year) == (2025, 2025)
    assert (one.text, one.sources) == ("t", ())


def test_what_is_none_is_passed_on(tmp_path: Path) -> None:
    assert read("a.json", b"[]") is None
    assert read("a.json", b'["observations"]') is None
    assert read("a.json", b'{"observations": []}', "mem0") is None
    other = tmp_path / "o.db"
    with sqlite3.connect(other) as made:
        made.execute("CREATE TABLE notes (id)")
    made.close()
    assert read("o.db", other.read_bytes()) is None


def test_damage_is_named() -> None:
    with pytest.raises(TranscriptError, match="damaged"):
        read("a.db", b"SQLite format 3\0" + b"x" * 2000)
    with pytest.raises(TranscriptError, match="not JSON"):
        read("a.json", b'{"observations": [')


def test_no_member_can_break_the_reader(spoil: Spoil) -> None:
    for value in spoil({"observations": [OBSERVATION], "summaries": [SUMMARY]}):
        content = json.dumps(value).encode("utf-8", "surrogatepass")
        for memo in read("e.json", content) or ():
            assert isinstance(memo.text, str)
