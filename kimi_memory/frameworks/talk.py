"""A conversation that a framework leads: what memory tells before a turn, and keeps of it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Iterable
from threading import RLock

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.domain.session import named
from kimi_memory.errors import KimiMemoryError
from kimi_memory.lazy_dataclass import dataclass

log = logging.getLogger("kimi_memory.frameworks")
ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
"""Of messages that are stored, by what frameworks call them."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One message as the framework has it."""

    role: Role
    text: str
    ref: str = ""
    """The framework's id of it; the same one is stored once per session."""


def unnamed(role: Role, text: str) -> Heard:
    """Return a message that the framework gives no id: the same words count once a session."""
    mark = hashlib.sha256(f"{role}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
    return Heard(role, text, mark[:16])


class Talk:
    """Recall and capture for one agent's conversations; a memory that fails stops no agent.

    Args:
        memory: an open memory.
        agent: who answers.
        host: the framework.
        budget: most tokens of a block.
    """

    def __init__(self, memory: Memory, agent: str, host: str, budget: int = 900) -> None:
        self._memory, self._agent, self._host = memory, agent, host
        self._budget = budget
        # Frameworks call from several threads; a memory answers one at a time.
        self._guard = RLock()

    def session_of(self, conversation: str) -> str:
        """Return the id that a conversation of the framework has in the memory."""
        return self._memory.screen.pass_id(f"{self._host}-{conversation or self._agent}")

    def block(self, conversation: str, question: str) -> str:
        """Return what is known about a question, fenced as data; empty if nothing is."""
        if not question.strip():
            return ""
        session = self.session_of(conversation)
        try:
            with self._guard:
                own = (named("agent", self._agent),)
                return self._memory.context(
                    "task", question, budget=self._budget, beside=session, within=own
                ).text
        except KimiMemoryError as error:
            log.warning("nothing was recalled: %s", error)
            return ""

    async def recall(self, conversation: str, messages: Iterable[Heard]) -> str:
        """Return what is known about the person's last message; recall runs in a thread."""
        asked = [one.text for one in messages if one.role is Role.USER]
        return await asyncio.to_thread(self.block, conversation, asked[-1] if asked else "")

    async def keep(self, conversation: str, messages: Iterable[Heard]) -> None:
        """Store messages in a thread; see `store_messages`."""
        await asyncio.to_thread(self.store_messages, conversation, list(messages))

    def store_messages(self, conversation: str, messages: Iterable[Heard]) -> None:
        """Store messages as turns; those known already are left out."""
        said = [one for one in messages if one.text.strip()]
        if not said:
            return
        try:
            with self._guard:
                id = self.session_of(conversation)
                handle = self._memory.session(id, agent=self._agent, host=self._host)
                for one in said:
                    handle.turn(one.role, one.text, ref=one.ref)
        except KimiMemoryError as error:
            log.warning("a turn was not stored: %s", error)

    def ended(self, conversation: str) -> None:
        """Mark the session of a conversation as ended; the next job distils it."""
        with self._guard:
            self._memory.mark_ended(self.session_of(conversation))


def joined(instructions: str | None, block: str) -> str | None:
    """Return instructions with a block behind them, so that what is steady comes first."""
    if not block:
        return instructions
    return f"{instructions}\n\n{block}" if instructions else block
