"""The hooks for Strands, with a scripted model of its own base."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from frameworks.conversations import in_both_languages, turns

from kimi_memory import Memory

pytest.importorskip("strands")

from strands import Agent, tool
from strands.models import Model

from kimi_memory.frameworks.strands import MemoryHooks


class Scripted(Model):
    """Answers from a script and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []
        self.asked: list[Any] = []

    def update_config(self, **config: Any) -> None:
        return

    def get_config(self) -> dict[str, Any]:
        return {}

    async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[dict[str, Any]]:
        yield {}

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **_: Any
    ) -> AsyncIterator[dict[str, Any]]:
        self.prompts.append(system_prompt or "")
        self.asked.append(messages)
        answer = self.answers.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(answer, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": answer}}}
            reason = "end_turn"
        else:
            yield {"contentBlockStart": {"start": {"toolUse": answer}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"city": "Oslo"}'}}}}
            reason = "tool_use"
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": reason}}


@tool
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Rain in {city}."


def agent_of(memory: Memory, model: Scripted, name: str, **options: Any) -> Any:
    hooks = MemoryHooks(memory, "kimi", conversation=name)
    members = {"system_prompt": "You are kind.", "callback_handler": None, **options}
    return Agent(model=model, tools=[weather], hooks=[hooks], **members)


@in_both_languages
def test_what_was_said_in_one_session_is_known_in_the_next(
    memory: Memory, said: str, question: str, word: str
) -> None:
    model = Scripted("noted", "as you said")
    agent_of(memory, model, "one")(said)
    agent = agent_of(memory, model, "two")
    agent(question)
    first, second = model.prompts
    assert first.startswith("You are kind.") and word not in first
    assert second.startswith("You are kind.\n\n<kimi-memory") and word in second
    assert agent.system_prompt == "You are kind."
    assert turns(memory, "strands-two") == [("user", question), ("assistant", "as you said")]


def test_words_of_tools_are_not_taken_for_a_person(memory: Memory) -> None:
    model = Scripted({"name": "weather", "toolUseId": "call_1"}, "It rains.")
    agent_of(memory, model, "one")("How is Oslo?")
    assert "Rain in Oslo." in str(model.asked[-1])
    assert turns(memory, "strands-one") == [("user", "How is Oslo?"), ("assistant", "It rains.")]


def test_a_system_prompt_in_parts_is_as_it_was(memory: Memory) -> None:
    memory.remember("Ann prefers tea.")
    parts = [{"text": "You are kind."}, {"cachePoint": {"type": "default"}}]
    model = Scripted("tea")
    agent = agent_of(memory, model, "one", system_prompt=parts)
    agent("What does Ann prefer?")
    assert "tea" in model.prompts[0]
    assert agent.system_prompt_content == parts


def test_an_agent_without_a_prompt_gets_none(memory: Memory) -> None:
    memory.remember("Ann prefers tea.")
    model = Scripted("tea")
    agent = agent_of(memory, model, "one", system_prompt=None)
    agent("What does Ann prefer?")
    assert model.prompts[0].startswith("<kimi-memory")
    assert agent.system_prompt is None
