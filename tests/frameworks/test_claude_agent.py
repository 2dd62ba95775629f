"""The store for the Claude Agent SDK, before the suite that ships with it."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from kimi_memory import Memory
from kimi_memory.store.notes import sessions

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk.testing import run_session_store_conformance

from kimi_memory.frameworks.claude_agent import TranscriptStore

KEY: Any = {"project_key": "-home-me-proj", "session_id": "0b1c"}


def entry(id: str, role: str, content: object, **members: Any) -> Any:
    message = {"role": role, "content": content}
    return {"type": role, "uuid": id, "message": message, **members}


def turns(memory: Memory) -> list[tuple[str, str]]:
    (place,) = sessions.places(memory.store)
    return [(str(t.role), t.text) for t in sessions.read(memory.store, place.path).turns]


def test_it_passes_the_conformance_suite(memory: Memory) -> None:
    numbers = itertools.count()

    def fresh() -> TranscriptStore:
        return TranscriptStore(memory, f"agent {next(numbers)}")

    asyncio.run(run_session_store_conformance(fresh))


def test_what_was_said_becomes_turns_and_what_tools_gave_does_not(memory: Memory) -> None:
    store = TranscriptStore(memory, "kimi")
    said = [
        entry("u1", "user", "小李喝什么茶？"),
        entry("a1", "assistant", [{"type": "tool_use", "name": "look", "input": {}, "id": "t"}]),
        entry("u2", "user", [{"type": "tool_result", "content": "绿茶"}], toolUseResult="绿茶"),
        entry("a2", "assistant", [{"type": "text", "text": "他喝绿茶。"}]),
        entry("s1", "user", "a task for a sub-agent", isSidechain=True),
        entry("m1", "user", "a caveat of the program", isMeta=True),
        {"type": "queue-operation"},
    ]

    async def talk() -> Any:
        await store.append(KEY, said)
        await store.append(KEY, said[3:4])
        await store.append({**KEY, "subpath": "subagents/agent-1"}, [entry("x", "user", "aside")])
        return await store.load(KEY)

    assert asyncio.run(talk()) == said
    assert turns(memory) == [("user", "小李喝什么茶？"), ("assistant", "他喝绿茶。")]


def test_turns_can_be_left_to_hooks(memory: Memory) -> None:
    store = TranscriptStore(memory, "kimi", turns=False)
    asyncio.run(store.append(KEY, [entry("u1", "user", "Hello.")]))
    assert list(sessions.places(memory.store)) == []


def test_secrets_are_masked_and_signatures_stay(memory: Memory) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    signature = "EqQBCkYIChgCKkAq7R8a1B2c3D4e5F6g7H8i9J0k1L2m3N4" * 3
    thought = {"type": "thinking", "thinking": "hm", "signature": signature}
    given = entry("u1", "assistant", [thought, {"type": "text", "text": f"use {key}"}])
    store = TranscriptStore(memory, "kimi")

    async def talk() -> Any:
        await store.append(KEY, [given])
        return await store.load(KEY)

    (kept,) = asyncio.run(talk())
    assert kept["message"]["content"][0] == thought
    assert "⟦redacted:" in kept["message"]["content"][1]["text"]
    assert all(key.encode() not in memory.store.read(path) for path in memory.store.files())


def test_a_long_entry_is_kept_whole_and_a_torn_line_is_none(memory: Memory) -> None:
    store = TranscriptStore(memory, "kimi", turns=False)
    long = entry("u1", "user", "line of a long file\n" * 10_000)
    asyncio.run(store.append(KEY, [long]))
    (path,) = [one for one in memory.store.files() if "/transcripts/" in one]
    with (memory.root / path).open("ab") as file:
        file.write(b'{"key": {')
    assert asyncio.run(store.load(KEY)) == [long]


def test_agents_do_not_see_each_other(memory: Memory) -> None:
    asyncio.run(TranscriptStore(memory, "kimi").append(KEY, [entry("u1", "user", "Hello.")]))
    other = TranscriptStore(memory, "other")
    assert asyncio.run(other.load(KEY)) is None
    assert asyncio.run(other.list_sessions("-home-me-proj")) == []
