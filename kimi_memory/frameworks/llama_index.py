"""LlamaIndex: a memory block that recalls what other conversations left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemoryBlock

from kimi_memory.api.memory import Memory
from kimi_memory.frameworks.talk import ROLES, Heard, Talk, unnamed

_HOST = "llama-index"


class MemoryBlock(BaseMemoryBlock[str]):
    """A block for ``Memory.from_defaults(memory_blocks=[…])``.

    The framework gives a block the messages that no longer fit its queue, and shows it
    the queue whenever an agent asks; both are stored, each message once. Call `heard` with
    the last answer of a conversation, which the framework shows to nobody.

    Args:
        memory: an open memory.
        agent: who answers.
        budget: most tokens of the block.
    """

    name: str = "kimi_memory"
    _talk: Talk = PrivateAttr()

    def __init__(
        self, memory: Memory, agent: str = _HOST, *, budget: int = 900, **members: Any
    ) -> None:
        super().__init__(**members)
        self._talk = Talk(memory, agent, _HOST, budget)

    async def heard(self, messages: Iterable[ChatMessage], session_id: str) -> None:
        """Store messages of a conversation that are not stored yet."""
        await self._talk.keep(session_id, _convert_messages(messages))

    async def _aget(self, messages: list[ChatMessage] | None = None, **kwargs: Any) -> str:
        session = str(kwargs.get("session_id") or "")
        said = list(_convert_messages(messages or ()))
        block = await self._talk.recall(session, said)
        await self._talk.keep(session, said)
        return block

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            session = str(message.additional_kwargs.get("session_id") or "")
            await self.heard([message], session)


def _convert_messages(messages: Iterable[ChatMessage]) -> Iterator[Heard]:
    for one in messages:
        role = ROLES.get(str(one.role.value))
        if role is not None:
            yield unnamed(role, one.content or "")
