"""Sessions are exported whole, and come back as they were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.capture.ingest import from_bytes, open_file
from kimi_memory.domain.session import Transcript
from kimi_memory.domain.tombstone import hash_of
from kimi_memory.errors import UsageError
from kimi_memory.operations.session_export import export_sessions
from kimi_memory.store.notes import sessions

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
CALLS = [{"name": "push", "arguments": {"to": "origin", "password": "hunter2-hunter2"}}]
SEED = {
    "id": "session-20260331-062900",
    "timestamp": 1743403740000,
    "channel": "telegram",
    "agent": "main",
    "turns": [
        {"role": "user", "content": "帮我分析一下端口", "timestamp": 1743403740000},
        {
            **{"role": "assistant", "content": "好的,端口是 8080。", "timestamp": 1743403745000},
            "tool_calls": [*CALLS, {"name": "run", "arguments": json.dumps({"key": TOKEN})}],
        },
    ],
    "metadata": {"duration_ms": 12000, "model": "m", "tokens": 2345, "auth": f"Bearer {TOKEN}"},
}


def take(memory: Memory, document: object) -> None:
    file = from_bytes("s.json", json.dumps(document).encode())
    list(memory.ingest([file]))


def transcripts(memory: Memory) -> list[Transcript]:
    found = [sessions.read(memory.store, place.path) for place in sessions.places(memory.store)]
    return sorted(found, key=lambda one: one.session.id)


def plain(transcript: Transcript) -> Transcript:
    """Return a transcript without what says where it was captured and what was masked there."""
    session = replace(transcript.session, host="")
    turns = tuple(replace(turn, context="", masked=0, ref="") for turn in transcript.turns)
    return replace(transcript, session=session, turns=turns, ended=None)


def test_tool_calls_and_metadata_are_kept_without_their_secrets(memory: Memory) -> None:
    take(memory, SEED)
    [kept] = transcripts(memory)
    assert kept.metadata["duration_ms"] == 12000
    assert kept.metadata["tokens"] == 2345
    assert [call["name"] for call in kept.turns[1].tool_calls] == ["push", "run"]
    assert kept.turns[1].tool_calls[0]["arguments"]["to"] == "origin"
    memory.end(kept.session.id)
    written = [path.read_bytes() for path in memory.root.rglob("session_*") if path.is_file()]
    assert written
    assert not any(TOKEN.encode() in content or b"hunter2" in content for content in written)
    page = next(memory.root.glob("episodic/sessions/*/*.md")).read_text("utf-8")
    assert "> tools: push, run" in page


def test_what_is_exported_comes_back(memory: Memory, tmp_path: Path, opening: Opening) -> None:
    take(memory, SEED)
    with memory.session("talk", agent="kimi", project="商城") as talk:
        talk.turn("user", "我们决定用 PostgreSQL，因为它支持全文搜索。")
        talk.turn("tool", "PostgreSQL 16", speaker="psql")
        talk.state(task={"name": "选型"}, variables={"step": 2})
    done = export_sessions(memory, tmp_path / "out")
    assert (done.notes, done.files) == (2, 2)
    with Memory.create(tmp_path / "other", opening=opening) as other:
        list(other.ingest(map(open_file, sorted(done.path.rglob("*.json")))))
        for before, after in zip(transcripts(memory), transcripts(other), strict=True):
            assert plain(before) == plain(after)


def test_calls_that_have_no_room_are_left_out_aloud(memory: Memory) -> None:
    limit = memory.settings.capture.max_turn_bytes
    deep: list[object] = []
    for _ in range(150):
        deep = [deep]
    calls = [{"name": "a"}, {"deep": deep}, {"n": float("nan")}, {"x": ["x" * 99] * limit}, {}]
    take(memory, {**SEED, "turns": [{**SEED["turns"][1], "tool_calls": calls}]})
    [kept] = transcripts(memory)
    said = [{"name": "a"}, {"cut": "nested too deep"}, {"n": None}, {"cut": "2 calls"}]
    assert list(kept.turns[0].tool_calls) == said


def test_metadata_of_later_turns_is_merged(memory: Memory) -> None:
    take(memory, SEED)
    more = [*SEED["turns"], {"role": "user", "content": "谢谢"}]
    take(memory, {**SEED, "turns": more, "metadata": {"tokens": 9000}})
    [kept] = transcripts(memory)
    assert (kept.metadata["tokens"], kept.metadata["duration_ms"]) == (9000, 12000)


def test_a_purged_session_keeps_no_calls(memory: Memory) -> None:
    from kimi_memory.jobs.purge_file import Scrub, Targets

    take(memory, SEED)
    [place] = sessions.places(memory.store)
    scrub = Scrub(Targets(sessions=frozenset({place.id})), hash_of)
    left = scrub.content(place.path, memory.store.read(place.path))
    assert b"push" not in left
    assert b"12000" not in left


def test_sessions_are_not_exported_into_the_memory(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="lies in the memory"):
        export_sessions(memory, memory.root / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    with pytest.raises(UsageError, match="not empty"):
        export_sessions(memory, tmp_path / "full")
