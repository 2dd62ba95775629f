"""The capability for Pydantic AI, with the function model that ships with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from frameworks.conversations import in_both_languages

from kimi_memory import Memory
from kimi_memory.store.notes import sessions

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.messages import BinaryContent, ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from kimi_memory.frameworks.pydantic_ai import MemoryCapability


class Asked:
    """A model that answers one word and keeps the instructions it was given."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.instructions: list[str] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.instructions.append(info.instructions or "")
        return ModelResponse(parts=[TextPart(self.answer)])


def agent_of(memory: Memory, asked: Asked, name: str) -> Agent[Any, str]:
    capability = MemoryCapability(memory, "kimi", conversation=name)
    return Agent(FunctionModel(asked), instructions="You are kind.", capabilities=[capability])


@in_both_languages
def test_what_was_said_in_one_conversation_is_known_in_the_next(
    memory: Memory, said: str, question: str, word: str
) -> None:
    asked = Asked("noted")
    asyncio.run(agent_of(memory, asked, "one").run(said))
    asyncio.run(agent_of(memory, asked, "two").run(question))
    first, second = asked.instructions
    assert first.startswith("You are kind.") and word not in first
    assert second.startswith("You are kind.") and word in second and "<kimi-memory" in second
    transcript = sessions.read(memory.store, sessions.find(memory.store, "pydantic-ai-two").path)
    assert [(str(one.role), one.text) for one in transcript.turns] == [
        ("user", question),
        ("assistant", "noted"),
    ]


def test_a_picture_beside_the_words_is_left_out(memory: Memory) -> None:
    picture = BinaryContent(b"\x89PNG", media_type="image/png")
    asyncio.run(agent_of(memory, Asked("a cat"), "one").run(["What is this?", picture]))
    transcript = sessions.read(memory.store, sessions.find(memory.store, "pydantic-ai-one").path)
    assert [one.text for one in transcript.turns] == ["What is this?", "a cat"]


def test_without_a_name_the_conversation_of_the_framework_counts(memory: Memory) -> None:
    agent = agent_of(memory, Asked("hi"), "")
    first = asyncio.run(agent.run("Hello."))
    asyncio.run(agent.run("Hello again.", message_history=first.all_messages()))
    (place,) = sessions.places(memory.store)
    turns = sessions.read(memory.store, place.path).turns
    assert [one.text for one in turns] == ["Hello.", "hi", "Hello again.", "hi"]
