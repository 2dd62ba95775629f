"""The activity log: it tells what was done and keeps words to itself."""

from __future__ import annotations

import logging

import pytest

from kimi_memory import Memory, Opening


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="kimi_memory.activity")
    return caplog


def test_hook_memory_opened(told, memory: Memory, opening: Opening) -> None:
    with Memory.open(memory.root, opening):
        assert f"opened {memory.root}" in told.messages


def test_hook_session_ended(told, memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", "hello there")
    session.end()
    assert "session s ended with 1 turns" in told.messages


def test_hook_changes_applied(told, memory: Memory) -> None:
    report = memory.remember("我住在成都")
    assert any(message.startswith(f"{report.id} wrote") for message in told.messages)


def test_hook_recalled(told, memory: Memory) -> None:
    memory.session("s").turn("user", "the train leaves at nine")
    memory.recall("when does the train leave")
    [message] = [m for m in told.messages if m.startswith("recall of")]
    assert message == "recall of 25 characters had 1 hits"
