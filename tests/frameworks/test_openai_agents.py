"""The session for OpenAI Agents, with the scripted model that ships with them."""

from __future__ import annotations

import asyncio
import itertools
import runpy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory import Memory
from kimi_memory.errors import UsageError
from kimi_memory.store.notes import sessions

pytest.importorskip("agents")

from agents import Agent, RunConfig, Runner, SessionSettings, SQLiteSession, set_tracing_disabled
from agents.memory import Session
from agents.testing import ScriptedModel
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from kimi_memory.frameworks.openai_agents import MemorySession

EXAMPLE = Path(__file__).parents[2] / "examples/openai_agents_chat.py"

set_tracing_disabled(True)

words = st.text(alphabet="ab茶 \n\"'`{}\u2028\x85", max_size=6)
items = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": words}),
    st.fixed_dictionaries(
        {
            "type": st.just("function_call"),
            "name": words,
            "arguments": words,
            "call_id": st.just("call_1"),
        }
    ),
)
steps = st.one_of(
    st.tuples(st.just("add_items"), st.lists(items, max_size=3)),
    st.tuples(st.just("pop_item")),
    st.tuples(st.just("get_items"), st.none() | st.integers(1, 3)),
    st.tuples(st.just("clear_session")),
)
counted = itertools.count()


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(script=st.lists(steps, max_size=8))
def test_it_answers_as_their_session_in_sqlite_does(
    memory: Memory, script: list[tuple[Any, ...]]
) -> None:
    name = f"case {next(counted)}"

    async def both() -> None:
        ours, theirs = MemorySession(memory, name), SQLiteSession(name)
        for method, *members in script:
            told = [await getattr(one, method)(*members) for one in (ours, theirs)]
            assert told[0] == told[1]
        assert await ours.get_items() == await theirs.get_items()
        assert await MemorySession(memory, name).get_items() == await theirs.get_items()
        theirs.close()

    asyncio.run(both())


def answer(text: str, id: str = "msg_1") -> list[Any]:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return [
        ResponseOutputMessage(
            id=id, role="assistant", status="completed", type="message", content=[part]
        )
    ]


def turns(memory: Memory, id: str) -> list[tuple[str, str, str]]:
    transcript = sessions.read(memory.store, sessions.find(memory.store, id).path)
    return [(str(turn.role), turn.text, str(turn.origin)) for turn in transcript.turns]


def test_it_is_a_session_of_the_framework(memory: Memory) -> None:
    assert isinstance(MemorySession(memory, "one"), Session)


def test_what_was_said_in_one_session_is_known_to_the_model_in_the_next(memory: Memory) -> None:
    model = ScriptedModel([answer("noted"), answer("绿茶", "msg_2"), answer("again", "msg_3")])
    agent = Agent(name="Kimi", instructions="You are kind.", model=model)

    async def talk() -> None:
        for name, text in (("one", "小李喝绿茶。"), ("two", "小李喝什么茶？"), ("two", "确定吗？")):
            session = MemorySession(memory, name, "kimi")
            config = RunConfig(call_model_input_filter=session.recall)
            await Runner.run(agent, text, session=session, run_config=config)

    asyncio.run(talk())
    first, second, third = model.calls
    assert first.system_instructions == "You are kind."
    assert str(second.system_instructions).startswith("You are kind.\n\n<kimi-memory")
    assert "绿茶" in str(second.system_instructions) and "绿茶" not in str(second.input)
    assert [one["role"] for one in third.input] == ["user", "assistant", "user"]
    assert turns(memory, "openai-agents-kimi-two") == [
        ("user", "小李喝什么茶？", "human"),
        ("assistant", "绿茶", "agent"),
        ("user", "确定吗？", "human"),
        ("assistant", "again", "agent"),
    ]


def test_what_is_popped_or_cleared_was_still_said(memory: Memory) -> None:
    session = MemorySession(memory, "one", "kimi")

    async def talk() -> list[Any]:
        await session.clear_session()
        await session.add_items([{"role": "user", "content": "I live in Oslo."}])
        await session.pop_item()
        await session.add_items([{"role": "user", "content": "I live in Bergen."}])
        await session.clear_session()
        await session.add_items([{"role": "user", "content": "Hello again."}])
        return await session.get_items()

    assert asyncio.run(talk()) == [{"role": "user", "content": "Hello again."}]
    found = {hit.unit.text for hit in memory.recall("Where do I live, Oslo or Bergen?").hits}
    assert {"I live in Oslo.", "I live in Bergen."} <= found
    parts = sessions.parts(memory.store, "openai-agents-kimi-one")
    assert [part.id for part in parts] == ["openai-agents-kimi-one", "openai-agents-kimi-one.2"]


def test_a_limit_may_stand_in_the_settings(memory: Memory) -> None:
    session = MemorySession(memory, "one")
    session.session_settings = SessionSettings(limit=1)

    async def talk() -> list[Any]:
        await session.add_items([{"role": "user", "content": text} for text in "ab"])
        return await session.get_items()

    assert [one["content"] for one in asyncio.run(talk())] == ["b"]


def test_secrets_are_masked_and_what_only_the_server_can_read_stays(memory: Memory) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    opaque = "gAAAAABo" + "q7R8a1B2c3D4e5F6g7H8i9J0k1L2m3N4" * 4 + "=="
    given: list[Any] = [
        {"type": "reasoning", "id": "rs_68af0c1d2e3f4a5b", "encrypted_content": opaque},
        {"type": "function_call", "call_id": "call_x", "name": "f", "arguments": key},
        {"role": "user", "content": [{"type": "input_text", "text": f"use {key}"}]},
    ]
    session = MemorySession(memory, "one")

    async def talk() -> list[Any]:
        await session.add_items(given)
        return await session.get_items()

    kept = asyncio.run(talk())
    assert kept[0] == given[0]
    assert all("⟦redacted:" in str(one) for one in kept[1:])
    assert all(key.encode() not in memory.store.read(path) for path in memory.store.files())


def test_a_torn_last_line_is_no_item(memory: Memory) -> None:
    session = MemorySession(memory, "../one", "kimi")
    asyncio.run(session.add_items([{"role": "user", "content": "whole"}]))
    (path,) = [one for one in memory.store.files() if "/threads/" in one]
    assert path.startswith("mid-term/agents/kimi/threads/one-")
    with (memory.root / path).open("ab") as file:
        file.write(b'{"item":{"role":')
    assert asyncio.run(session.get_items()) == [{"role": "user", "content": "whole"}]


def test_an_agent_without_a_name_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError, match="needs a name"):
        MemorySession(memory, "one", " ")


def test_the_example_remembers_from_one_session_to_the_next(memory: Memory) -> None:
    chat = runpy.run_path(str(EXAMPLE))["chat"]
    model = ScriptedModel([answer("noted"), answer("绿茶", "msg_2")])

    async def told(line: str, name: str) -> list[str]:
        return [one async for one in chat(memory, model, [line], name)]

    assert asyncio.run(told("小李喝绿茶。", "one")) == ["noted"]
    assert asyncio.run(told("小李喝什么茶？", "two")) == ["绿茶"]
    assert "小李喝绿茶" in str(model.calls[1].system_instructions)
