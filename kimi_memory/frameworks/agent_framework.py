"""Microsoft Agent Framework: a provider that recalls before a run and captures after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agent_framework import ContextProvider, SessionContext

from kimi_memory.api.memory import Memory
from kimi_memory.frameworks.talk import ROLES, Heard, Talk, unnamed

_HOST = "agent-framework"


class MemoryProvider(ContextProvider):
    """A provider for ``Agent(context_providers=[…])``.

    What is known about the message becomes the last of the instructions, and no message
    of the thread. What the person and the agent said becomes turns of a session.

    Args:
        memory: an open memory.
        agent: who answers.
        conversation: names the session, instead of the framework's own id.
        budget: most tokens of what is put in.
    """

    def __init__(
        self, memory: Memory, agent: str = _HOST, *, conversation: str = "", budget: int = 900
    ) -> None:
        super().__init__("kimi-memory")
        self._talk = Talk(memory, agent, _HOST, budget)
        self._conversation = conversation

    async def before_run(self, *, context: SessionContext, **rest: Any) -> None:
        """Let the model answer with what is known; recall runs in a thread."""
        said = _convert_messages(context.input_messages)
        block = await self._talk.recall(self._conversation_name(context), said)
        if block:
            context.extend_instructions(self.source_id, block)

    async def after_run(self, *, context: SessionContext, **rest: Any) -> None:
        """Store what was asked and answered."""
        answered = context.response.messages if context.response else ()
        said = [*_convert_messages(context.input_messages), *_convert_messages(answered)]
        await self._talk.keep(self._conversation_name(context), said)

    def _conversation_name(self, context: SessionContext) -> str:
        return self._conversation or str(context.session_id or "")


def _convert_messages(messages: Iterable[Any]) -> Iterator[Heard]:
    for one in messages:
        role = ROLES.get(str(getattr(one.role, "value", one.role)))
        if role is not None:
            # Without an id of the framework its words name a message: the same words count once a
            # session.
            id = str(one.message_id or "")
            yield Heard(role, one.text, id) if id else unnamed(role, one.text)
