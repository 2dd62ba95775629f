"""Our own notes and sessions, read as any other store is."""

from __future__ import annotations

import io

from kimi_memory.plugins import import_kimi

from kimi_memory import Memory
from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.screen import TranscriptFile
from tests.jobs.test_runner import talk


def read(memory: Memory, path: str, system: str = "") -> list[Memo] | None:
    content = memory.store.read(path)
    file = TranscriptFile(path, content[:65536], lambda: io.BytesIO(content))
    found = import_kimi.read_memories(file, system)
    return None if found is None else list(found)


def test_cards_events_and_turns_are_read_and_pages_are_not(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    found = {path: read(memory, path) for path in memory.store.files()}
    cards = [m for p, ms in found.items() if p.startswith("semantic/") for m in ms or ()]
    assert len(cards) == 3
    assert all(m.live and not m.past and m.key and m.sources and m.quotes for m in cards)
    turns = [m for p, ms in found.items() if p.endswith(".jsonl") for m in ms or ()]
    assert [m.id for m in turns if m.id.startswith("s#")] == ["s#1", "s#2", "s#3", "s#4"]
    events = [m for p, ms in found.items() if p.startswith("episodic/2026") for m in ms or ()]
    assert events
    assert all(m.past for m in (*turns, *events))
    assert found["MEMORY.md"] == found["long-term/IDENTITY.md"] == []
    assert found["USER.md"] is None
    assert found["memory.toml"] is None


def test_another_system_or_file_is_passed_on(memory: Memory) -> None:
    assert read(memory, "MEMORY.md", "mem0") is None
    for name, content in (
        ("a.jsonl", b'{"role":"user"}'),
        ("session_a.jsonl", b'{"x":1}'),
        ("a.md", b"---\nkind: card\n---\n"),
    ):
        file = TranscriptFile(name, content, lambda content=content: io.BytesIO(content))
        assert import_kimi.read_memories(file, "") is None


def test_a_broken_line_of_a_session_is_passed_over(memory: Memory) -> None:
    content = (
        b'{"kind":"session","id":"x","started":"2026-01-01T00:00:00Z"}\n{"kind":"turn"}\nnot\n'
    )
    file = TranscriptFile("session_x.jsonl", content, lambda: io.BytesIO(content))
    assert list(import_kimi.read_memories(file, "")) == []
