"""AutoGen: a memory of its agents that is one of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from autogen_core import CancellationToken
from autogen_core.memory import (
    Memory,
    MemoryContent,
    MemoryMimeType,
    MemoryQueryResult,
    UpdateContextResult,
)
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import AssistantMessage, SystemMessage, UserMessage

from kimi_memory.api.memory import Memory as Opened
from kimi_memory.domain.note import Role
from kimi_memory.domain.search_types import Hit
from kimi_memory.errors import NotFoundError
from kimi_memory.frameworks.talk import Heard, Talk, unnamed

_HOST = "autogen"
_MARK = "<kimi-memory "


class AgentMemory(Memory):
    """A memory for ``AssistantAgent(memory=[…])``.

    What is known about the last message is one system message of the agent's context; the
    one of the turn before is taken out. What stands in the context becomes turns. The
    framework shows the last answer of a run with the next question: give it to `heard` when
    there is none.

    Args:
        memory: an open memory; closing it stays with who opened it.
        agent: who answers.
        conversation: names the session.
        budget: most tokens of what is put in.
    """

    def __init__(
        self, memory: Opened, agent: str = _HOST, *, conversation: str = "", budget: int = 900
    ) -> None:
        self._memory, self._agent = memory, agent
        self._talk = Talk(memory, agent, _HOST, budget)
        self._conversation = conversation

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Let the model answer with what is known."""
        messages = await model_context.get_messages()
        await self.heard(messages)
        block = await self._talk.recall(self._conversation, _convert_messages(messages))
        kept = [one for one in messages if not _is_block(one)]
        # The context of the framework cannot remove one message: it is emptied and filled again.
        if len(kept) < len(messages):
            await model_context.clear()
            for one in kept:
                await model_context.add_message(one)
        if not block:
            return UpdateContextResult(memories=MemoryQueryResult(results=[]))
        await model_context.add_message(SystemMessage(content=block))
        told = MemoryContent(content=block, mime_type=MemoryMimeType.TEXT)
        return UpdateContextResult(memories=MemoryQueryResult(results=[told]))

    async def query(
        self,
        query: str | MemoryContent,
        cancellation_token: CancellationToken | None = None,
        **kwargs: Any,
    ) -> MemoryQueryResult:
        """Return what answers a question, best first."""
        text = query if isinstance(query, str) else str(query.content)
        if not text.strip():
            return MemoryQueryResult(results=[])
        answer = await asyncio.to_thread(self._memory.recall, text)
        return MemoryQueryResult(results=[_convert_hit(hit) for hit in answer.hits])

    async def add(
        self, content: MemoryContent, cancellation_token: CancellationToken | None = None
    ) -> None:
        """Keep a statement; see `kimi_memory.Memory.remember`."""
        text = str(content.content)
        await asyncio.to_thread(self._memory.remember, text, agent=self._agent)

    async def heard(self, messages: Sequence[Any]) -> None:
        """Store messages that are not stored yet."""
        await self._talk.keep(self._conversation, _convert_messages(messages))

    async def clear(self) -> None:
        """End the session; what was said stays known."""
        try:
            await asyncio.to_thread(self._talk.ended, self._conversation)
        except NotFoundError:
            return  # nobody had said anything

    async def close(self) -> None:
        """Leave the memory open: it is not the agent's."""


def _is_block(message: object) -> bool:
    return isinstance(message, SystemMessage) and message.content.startswith(_MARK)


def _convert_messages(messages: Sequence[Any]) -> Iterator[Heard]:
    for one in messages:
        words = getattr(one, "content", "")
        texts = words if isinstance(words, list) else [words]
        text = "\n".join(part for part in texts if isinstance(part, str))
        if isinstance(one, UserMessage):
            yield unnamed(Role.USER, text)
        elif isinstance(one, AssistantMessage):
            yield unnamed(Role.ASSISTANT, text)


def _convert_hit(hit: Hit) -> MemoryContent:
    about = {"citation": hit.citation, "score": hit.score, "trust": hit.unit.trust}
    return MemoryContent(content=hit.snippet, mime_type=MemoryMimeType.TEXT, metadata=about)
