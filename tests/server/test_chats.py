"""Chats of bound tokens: each is kept in a session of its own namespace, and in no other."""

from __future__ import annotations

from typing import Any

import pytest

from kimi_memory import Memory
from kimi_memory.domain.compaction import Compaction
from kimi_memory.errors import NotFoundError, ServerError, UsageError
from kimi_memory.server import chats
from kimi_memory.server.principal import Caller, Namespace
from kimi_memory.server.routes import ROUTES
from kimi_memory.store.notes import sessions

CHAT = [{"role": "user", "content": f"第 {n} 步的构建怎么样？"} for n in range(30)]
SCOUT = Caller("scout", space=Namespace("apollo", "scout"))
CLERK = Caller("clerk", space=Namespace("hermes", "clerk"))
ANYBODY = Caller("anybody")


def ask(memory: Memory, caller: Caller, name: str, **said: Any) -> Any:
    [route] = [one for one in ROUTES if one.name == name]
    return route.deed(memory, caller, route.given(said))


def compact(memory: Memory, caller: Caller, **said: Any) -> Compaction:
    found: Compaction = ask(memory, caller, "compact", messages=CHAT, window_tokens=300, **said)
    return found


def test_chats_that_begin_with_the_same_words_are_kept_apart(memory: Memory) -> None:
    found = {caller.name: compact(memory, caller).session for caller in (SCOUT, CLERK, ANYBODY)}
    assert len(set(found.values())) == 3
    place = sessions.find(memory.store, found["scout"])
    header = sessions.read(memory.store, place.path).session
    assert (header.project, header.agent) == ("apollo", "scout")
    # Sent again, it is the same chat, of which everything is known.
    assert compact(memory, SCOUT).stored == 0


def test_a_bound_caller_neither_compacts_nor_reads_the_chats_of_others(memory: Memory) -> None:
    mine = compact(memory, SCOUT).session
    for name in ("compact", "flush"):
        with pytest.raises(ServerError, match="belongs to somebody else"):
            ask(memory, CLERK, name, messages=CHAT, session=mine)
    with pytest.raises(NotFoundError):
        ask(memory, CLERK, "window", id=mine)
    assert ask(memory, SCOUT, "window", id=mine).messages == tuple(CHAT)
    assert ask(memory, ANYBODY, "window", id=mine, budget=200, keep=2).messages[-1] == CHAT[-1]


def test_a_caller_bound_to_a_session_compacts_into_it(memory: Memory) -> None:
    caller = Caller("one", space=Namespace(session="s-one"))
    assert compact(memory, caller).session == "s-one"
    header = sessions.read(memory.store, sessions.find(memory.store, "s-one").path).session
    assert header.area == "session"
    with pytest.raises(ServerError, match="bound to another"):
        compact(memory, caller, session="s-two")


def test_a_chat_goes_on_after_its_session_has_ended(memory: Memory) -> None:
    first = compact(memory, SCOUT)
    memory.end(first.session)
    later = [*CHAT, {"role": "assistant", "content": "都好。"}]
    assert ask(memory, SCOUT, "flush", messages=later, session=first.session).stored == 1
    last = sessions.parts(memory.store, first.session)[-1]
    header = sessions.read(memory.store, last.path).session
    assert (header.id, header.project) == (f"{first.session}.2", "apollo")
    assert ask(memory, SCOUT, "window", id=first.session).messages == tuple(later)


@pytest.mark.parametrize("given", [[], "x", [1], [{"role": "user", "content": float("nan")}]])
def test_what_is_no_chat_is_refused(memory: Memory, given: object) -> None:
    with pytest.raises(UsageError, match="'messages'"):
        ask(memory, ANYBODY, "flush", messages=given)


def test_what_a_request_leaves_out_is_as_the_settings_say(memory: Memory) -> None:
    limits = chats.limits_of(memory, 1000, 0.5)
    assert (limits.budget, limits.keep) == (500, 5)
