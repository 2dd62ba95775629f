"""The memory block for LlamaIndex, in the memory that holds its blocks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from frameworks.conversations import in_both_languages, turns

from kimi_memory import Memory
from kimi_memory.store.notes import sessions

pytest.importorskip("llama_index.core")

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory as Chat

from kimi_memory.frameworks.llama_index import MemoryBlock


def chat_of(memory: Memory, name: str, **options: Any) -> Any:
    block = MemoryBlock(memory, "kimi")
    return Chat.from_defaults(session_id=name, memory_blocks=[block], **options)


async def closed(*chats: Any) -> None:
    """Close the databases that their memories leave open."""
    for chat in chats:
        if chat.sql_store._async_engine is not None:
            await chat.sql_store._async_engine.dispose()


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def model(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


@in_both_languages
def test_what_was_said_in_one_session_is_known_in_the_next(
    memory: Memory, said: str, question: str, word: str
) -> None:
    async def talk() -> Any:
        first = chat_of(memory, "one")
        await first.aput(user(said))
        assert word in str(await first.aget())
        second = chat_of(memory, "two")
        await second.aput(user(question))
        shown = await second.aget()
        await closed(first, second)
        return shown

    shown = asyncio.run(talk())
    block = [str(one.content) for one in shown if "<kimi-memory" in str(one.content)]
    assert len(block) == 1 and word in block[0]
    assert turns(memory, "llama-index-two") == [("user", question)]


def test_a_question_given_with_the_look_is_recalled_for(memory: Memory) -> None:
    memory.remember("Ann prefers tea.")
    question = "What does Ann prefer?"

    async def look(asked: Any) -> Any:
        chat = chat_of(memory, "one")
        shown = await chat.aget(input=asked)
        await closed(chat)
        return shown

    assert "Ann prefers tea" in str(asyncio.run(look(question))[0].content)
    assert turns(memory, "llama-index-one") == [("user", question)]


def test_what_leaves_the_queue_is_stored_once(memory: Memory) -> None:
    lines = [f"Fact {n} is about the river number {n * 37}, which is long." for n in range(30)]

    async def talk() -> None:
        chat = chat_of(memory, "one", token_limit=200, token_flush_size=50)
        for n, line in enumerate(lines):
            await chat.aput((user if n % 2 == 0 else model)(line))
            if n % 5 == 0:
                await chat.aget()
        await chat.memory_blocks[0].heard(await chat.aget_all(), "one")
        await closed(chat)

    asyncio.run(talk())
    said = [text for _, text in turns(memory, "llama-index-one")]
    assert sorted(said) == sorted(lines)


def test_a_memory_without_a_block_of_words_asks_nothing(memory: Memory) -> None:
    assert asyncio.run(MemoryBlock(memory, "kimi").aget([])) == ""
    system = ChatMessage(role="system", content="You are kind.")
    asyncio.run(MemoryBlock(memory, "kimi").aput([system]))
    assert list(sessions.places(memory.store)) == []
