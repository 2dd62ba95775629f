"""An opened memory compacts, flushes and resumes chats, within the limits of its user."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.compaction import Limits, Message
from kimi_memory.domain.pages import Event
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf

CHAT: list[Message] = [
    {"role": role, "content": f"{text} {n}"}
    for n in range(40)
    for role, text in (("user", "我们看第几步"), ("assistant", "The step is number"))
]


def test_a_chat_is_compacted_and_resumed(memory: Memory) -> None:
    done = memory.compact(CHAT, Limits(500))
    assert list(done.messages[1:]) == CHAT[-5:]
    assert done.stored == len(CHAT)
    assert memory.window(done.session, 300, keep=2)[-2:] == CHAT[-2:]
    assert memory.window(done.session) == CHAT
    with pytest.raises(NotFoundError):
        memory.window("nobody")


def test_a_chat_is_flushed_once(memory: Memory) -> None:
    chat = [{"role": "user", "content": "记住：部署只在周二。"}]
    first = memory.flush(chat)
    assert (first.stored, len(first.remembered)) == (1, 1)
    assert memory.flush(chat) == replace(first, stored=0, remembered=())
    assert memory.flush([]).session == ""


def test_the_settings_of_the_user_are_the_limits(tmp_path: Path, opening: Opening) -> None:
    host = Host({"compaction": {"window_tokens": 500, "keep": 3}}, entry_points=False)
    with Memory.create(tmp_path / "memory", opening=replace(opening, host=host)) as memory:
        assert memory.compactor.limits == Limits(500, 0.6, 3)
        assert list(memory.compact(CHAT).messages[1:]) == CHAT[-3:]


def test_without_the_plugin_the_remedy_is_named(tmp_path: Path, opening: Opening) -> None:
    host = Host(entry_points=False, disabled=["compaction"])
    with (
        Memory.create(tmp_path / "memory", opening=replace(opening, host=host)) as memory,
        pytest.raises(UsageError, match="Take 'compaction' out of 'disabled'"),
    ):
        memory.compact(CHAT)


def test_what_is_private_stays_private_in_its_summary(memory: Memory) -> None:
    mine = memory.compact(CHAT, Limits(500), agent="reviewer", project="shop", area="agent")
    theirs = memory.compact(CHAT, Limits(500))
    # Chats of two owners that begin with the same words are two sessions.
    assert mine.session != theirs.session
    events = [filed.note for filed in Shelf(memory.store).notes("event")]
    scopes = {e.sources[0].session: e.scope for e in events if isinstance(e, Event)}
    assert scopes == {mine.session: "agent:reviewer", theirs.session: ""}
    header = sessions.read(memory.store, sessions.find(memory.store, mine.session).path).session
    assert (header.agent, header.project, header.area) == ("reviewer", "shop", "agent")
