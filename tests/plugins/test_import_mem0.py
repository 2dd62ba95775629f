"""mem0: lists of short memories, with lines, dates, sorts and broken files."""

from __future__ import annotations

import io
import json

import pytest
from kimi_memory.plugins import import_mem0

from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.note import CardType
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.errors import TranscriptError
from tests.plugins.conftest import Spoil

ROWS = [
    {
        "id": "a1",
        "memory": "Dev prefers morning meetings",
        "hash": "x",
        "metadata": {"type": "preference", "source": "standup"},
        "categories": ["work"],
        "created_at": "2025-01-02T03:04:05.000000-07:00",
        "updated_at": None,
    },
    {"id": "a2", "memory": "小李住在杭州", "metadata": None, "updated_at": "2025-06-01T00:00:00Z"},
]


def read(value: object, system: str = "", name: str = "memories.json") -> list[Memo] | None:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    content = text.encode()
    file = TranscriptFile(name, content[:65536], lambda: io.BytesIO(content))
    found = import_mem0.read_memories(file, system)
    return None if found is None else list(found)


@pytest.mark.parametrize("wrap", [None, "results", "memories", "data"])
def test_rows_are_found_in_every_wrapping(wrap: str | None) -> None:
    one, two = read({wrap: ROWS} if wrap else ROWS)
    assert (one.id, one.type, one.tags) == ("a1", CardType.PREFERENCE, ("work",))
    assert one.sources == ("standup",)
    assert one.created.isoformat() == "2025-01-02T10:04:05+00:00"
    assert (two.text, two.updated.year, two.type) == ("小李住在杭州", 2025, None)


def test_a_memo_knows_its_line() -> None:
    text = json.dumps({"results": ROWS}, ensure_ascii=False, indent=1)
    lines = text.splitlines()
    assert all(memo.id in lines[memo.line - 1] for memo in read(text))


@pytest.mark.parametrize("value", [{"results": []}, {"a": 1}, [1, 2], [{"memory": 3}], "{}"])
def test_other_json_is_passed_on(value: object) -> None:
    assert read(value, "mem0") is None


def test_other_files_and_systems_are_passed_on() -> None:
    assert read(ROWS, "memex") is None
    assert read(ROWS, name="a.md") is None
    assert read({"notes": []}) is None


def test_a_broken_export_is_named() -> None:
    with pytest.raises(TranscriptError, match="not JSON"):
        read('[{"memory": "x", ')


def test_no_member_can_break_the_reader(spoil: Spoil) -> None:
    for value in spoil({"results": ROWS}):
        for memo in read(json.dumps(value), "mem0") or ():
            assert isinstance(memo.text, str)
