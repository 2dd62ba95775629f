"""Strands: hooks that recall before an agent answers and capture every message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from strands.hooks import (
    AfterInvocationEvent,
    BeforeInvocationEvent,
    HookProvider,
    HookRegistry,
    MessageAddedEvent,
)

from kimi_memory.api.memory import Memory
from kimi_memory.frameworks.talk import ROLES, Heard, Talk, joined

_HOST = "strands"


class MemoryHooks(HookProvider):
    """Hooks for ``Agent(hooks=[…])``.

    What is known about the message stands behind the system prompt while the agent
    answers, and is taken out of it again. What is said becomes turns of a session.

    Args:
        memory: an open memory.
        agent: who answers.
        conversation: names the session, instead of that of the session manager.
        budget: most tokens of what is put in.
    """

    def __init__(
        self, memory: Memory, agent: str = _HOST, *, conversation: str = "", budget: int = 900
    ) -> None:
        self._talk = Talk(memory, agent, _HOST, budget)
        self._conversation = conversation
        # Weak: an agent that is gone must not be kept alive by its prompt.
        self._prompts: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        """Register the hooks."""
        registry.add_callback(BeforeInvocationEvent, self._add_memory_block)
        registry.add_callback(MessageAddedEvent, self._store_message)
        registry.add_callback(AfterInvocationEvent, self._restore_prompt)

    async def _add_memory_block(self, event: BeforeInvocationEvent) -> None:
        agent = event.agent
        said = map(_convert_message, event.messages or ())
        block = await self._talk.recall(self._conversation_name(agent), said)
        if not block:
            return
        parts = agent.system_prompt_content
        self._prompts[agent] = parts if parts else agent.system_prompt
        # Cache points are no text; joined into one text they would be lost.
        if parts and any("text" not in part for part in parts):
            agent.system_prompt = [*parts, {"text": block}]
        else:
            agent.system_prompt = joined(agent.system_prompt, block)

    async def _store_message(self, event: MessageAddedEvent) -> None:
        said = _convert_message(event.message)
        await self._talk.keep(self._conversation_name(event.agent), [said])

    async def _restore_prompt(self, event: AfterInvocationEvent) -> None:
        if event.agent in self._prompts:
            event.agent.system_prompt = self._prompts.pop(event.agent)

    def _conversation_name(self, agent: Any) -> str:
        manager = getattr(agent, "_session_manager", None)
        return self._conversation or str(getattr(manager, "session_id", None) or "")


def _convert_message(message: Any) -> Heard:
    """Return the words of a message; what tools gave and took has none."""
    parts: Sequence[Any] = message["content"]
    text = "\n".join(part["text"] for part in parts if "text" in part)
    return Heard(ROLES[message["role"]], text)
