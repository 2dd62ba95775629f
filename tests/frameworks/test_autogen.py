"""The memory for AutoGen, with the replayed model that ships with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from frameworks.conversations import in_both_languages, turns

from kimi_memory import Memory
from kimi_memory.store.notes import sessions

pytest.importorskip("autogen_core")
pytest.importorskip("autogen_agentchat", reason="needs autogen-agentchat and autogen-ext")

from autogen_agentchat.agents import AssistantAgent
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import AssistantMessage, SystemMessage, UserMessage

from kimi_memory.frameworks.autogen import AgentMemory

replay = pytest.importorskip("autogen_ext.models.replay")


@in_both_languages
def test_what_was_said_in_one_run_is_known_in_the_next(
    memory: Memory, said: str, question: str, word: str
) -> None:
    model = replay.ReplayChatCompletionClient(["noted", "as you said"])

    async def talk() -> None:
        for name, text in (("one", said), ("two", question)):
            kept = AgentMemory(memory, "kimi", conversation=name)
            agent = AssistantAgent("kimi", model_client=model, memory=[kept])
            await agent.run(task=text)

    asyncio.run(talk())
    first, second = (str(call["messages"]) for call in model.create_calls)
    assert first.count(word) == 1  # what was just said
    assert "<kimi-memory" in second and word in second
    assert turns(memory, "autogen-two") == [("user", question)]


def test_one_block_stands_in_the_context_and_each_message_is_one_turn(memory: Memory) -> None:
    memory.remember("Ann prefers tea.")
    memory.remember("部署定在每周五下午。")
    kept = AgentMemory(memory, "kimi", conversation="one")
    context = UnboundedChatCompletionContext()

    async def talk() -> list[Any]:
        await context.add_message(UserMessage(content="What does Ann prefer?", source="user"))
        first = await kept.update_context(context)
        assert "tea" in str(first.memories.results[0].content)
        await context.add_message(AssistantMessage(content="Tea.", source="kimi"))
        await context.add_message(UserMessage(content="哪天部署？", source="user"))
        await kept.update_context(context)
        return await context.get_messages()

    shown = asyncio.run(talk())
    blocks = [one for one in shown if isinstance(one, SystemMessage)]
    assert len(blocks) == 1 and "每周五" in blocks[0].content
    assert turns(memory, "autogen-one") == [
        ("user", "What does Ann prefer?"),
        ("assistant", "Tea."),
        ("user", "哪天部署？"),
    ]


def test_a_statement_is_kept_and_found(memory: Memory) -> None:
    kept = AgentMemory(memory, "kimi")

    async def talk() -> Any:
        told = MemoryContent(content="网关端口统一用 8080。", mime_type=MemoryMimeType.TEXT)
        await kept.add(told)
        assert (await kept.query(" ")).results == []
        return await kept.query("网关用哪个端口？")

    found = asyncio.run(talk()).results
    assert "8080" in found[0].content
    assert any(one.metadata["citation"].startswith("semantic/") for one in found)


def test_clearing_ends_the_session_and_forgets_nothing(memory: Memory) -> None:
    kept = AgentMemory(memory, "kimi", conversation="one")

    async def talk() -> Any:
        await kept.clear()
        await kept.heard([UserMessage(content="I live in Oslo.", source="user")])
        await kept.clear()
        await kept.close()
        return await kept.query("Where do I live?")

    assert "Oslo" in asyncio.run(talk()).results[0].content
    assert (
        sessions.read(memory.store, sessions.find(memory.store, "autogen-one").path).ended
        is not None
    )


def test_pictures_have_no_words(memory: Memory) -> None:
    kept = AgentMemory(memory, "kimi", conversation="one")
    message = UserMessage(content=["What is this?", object.__new__(_picture())], source="user")
    asyncio.run(kept.heard([message]))
    assert turns(memory, "autogen-one") == [("user", "What is this?")]


def _picture() -> type:
    from autogen_core import Image

    return Image
