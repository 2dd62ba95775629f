"""The provider for Microsoft Agent Framework, with a scripted chat client of its own base."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import pytest
from frameworks.conversations import in_both_languages, turns

from kimi_memory import Memory
from kimi_memory.store.notes import sessions

pytest.importorskip("agent_framework")

from agent_framework import Agent, BaseChatClient, ChatResponse, Message

from kimi_memory.frameworks.agent_framework import MemoryProvider


class Scripted(BaseChatClient):
    """Answers one word and keeps what it was asked."""

    def __init__(self, answer: str) -> None:
        super().__init__()
        self.answer = answer
        self.instructions: list[str] = []
        self.asked: list[list[str]] = []

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Awaitable[ChatResponse]:
        self.instructions.append(str(options.get("instructions") or ""))
        self.asked.append([one.text for one in messages])
        return self._answer()

    async def _answer(self) -> ChatResponse:
        return ChatResponse(messages=[Message("assistant", [self.answer])])


def agent_of(memory: Memory, client: Scripted, name: str = "") -> Any:
    provider = MemoryProvider(memory, "kimi", conversation=name)
    return Agent(client=client, instructions="You are kind.", context_providers=[provider])


@in_both_languages
def test_what_was_said_in_one_session_is_known_in_the_next(
    memory: Memory, said: str, question: str, word: str
) -> None:
    client = Scripted("noted")
    asyncio.run(agent_of(memory, client, "one").run(said))
    asyncio.run(agent_of(memory, client, "two").run(question))
    first, second = client.instructions
    assert first.startswith("You are kind.") and word not in first
    assert second.startswith("You are kind.") and word in second and "<kimi-memory" in second
    assert all(word not in text for text in client.asked[1])
    assert turns(memory, "agent-framework-two") == [("user", question), ("assistant", "noted")]


def test_a_session_of_the_framework_is_a_session_and_each_message_a_turn(memory: Memory) -> None:
    agent = agent_of(memory, Scripted("hi"))

    async def talk() -> None:
        session = agent.create_session()
        await agent.run("Hello.", session=session)
        await agent.run("Hello again.", session=session)

    asyncio.run(talk())
    (place,) = sessions.places(memory.store)
    said = [text for _, text in turns(memory, place.id)]
    assert said[:3] == ["Hello.", "hi", "Hello again."]
