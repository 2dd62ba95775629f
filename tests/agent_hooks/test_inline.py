"""Work in a hook's own process, where no server runs."""

from __future__ import annotations

import json
from pathlib import Path

from kimi_memory import Memory
from kimi_memory.agent_hooks import inline, spool
from kimi_memory.store.notes import sessions


def test_what_a_program_logs_late_is_waited_for(tmp_path: Path, monkeypatch) -> None:
    root, log = tmp_path / "memory", tmp_path / "events.jsonl"
    Memory.create(root).close()
    log.touch()
    lines = [
        {"type": "user.message", "id": "m1", "data": {"content": "端口是 6543。"}},
        {"type": "hook.start", "data": {"input": {"timestamp": 7}}},
    ]

    def logged(_seconds: float) -> None:
        log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    monkeypatch.setattr(inline.time, "sleep", logged)
    payload = {"sessionId": "s1", "transcriptPath": str(log), "timestamp": 7}
    for moment in ("turn", "end"):
        spool.put(str(root), {"host": "copilot", "moment": moment, "payload": payload})
    assert inline.drain_here(root) == 2
    assert spool.take_events(str(root)) == []
    with Memory.open(root) as memory:
        (place,) = sessions.places(memory.store)
        assert [turn.text for turn in sessions.read(memory.store, place.path).turns] == [
            "端口是 6543。"
        ]
        assert not place.open
