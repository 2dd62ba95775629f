"""A chat that outgrows its window: a summary is sent on in the place of its older messages.

It stays, byte for byte, until the chat has outgrown the window again: a prompt that began
in another way with each request would be computed anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.domain.compaction import Limits, Spoken
from kimi_memory.domain.tombstone import keyed_mark
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.proxy.chat import OPENING, Chat
from kimi_memory.server.chats import limits_of

TRY_AGAIN = 10
"""After so many more messages a chat that could not be shortened is looked at again."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A summary, and the messages of a chat that it stands for."""

    head: int
    """So many messages stay in front of it."""
    end: int
    """Position of the first message after those that it stands for."""
    link: str
    """Digest of the chat up to there."""
    summary: Mapping[str, Any]

    def put_into(self, chat: Chat, messages: Sequence[Any]) -> list[Any] | None:
        """Return messages with the summary among them; None for a chat with another beginning."""
        if self.end > len(messages) or _link_before(chat, self.end) != self.link:
            return None
        return [*messages[: self.head], self.summary, *messages[self.end :]]


@dataclass(slots=True)
class Fitting:
    """What is known of the window of one conversation."""

    cut: Cut | None = None
    busy: bool = False
    """Whether a summary is being made; it is used with a later request."""
    hopeless: int = 0
    """With fewer messages than this it need not be tried."""

    def shortened(self, chat: Chat, messages: Sequence[Any]) -> list[Any] | None:
        """Return messages with the summary that is known; None where there is none."""
        return self.cut.put_into(chat, messages) if self.cut else None


def outgrows(memory: Memory, messages: Sequence[Any], window_tokens: int) -> bool:
    """Whether messages cost more than a chat may."""
    return memory.compactor.cost_of(messages) > limits_of(memory, window_tokens).budget


def make_cut(
    memory: Memory,
    chat: Chat,
    messages: Sequence[Any],
    *,
    known: Cut | None,
    limits: Limits,
    place: tuple[str, Mapping[str, str]],
) -> Cut | None:
    """Store what was said in a chat, and return a summary of its older messages.

    Args:
        memory: keeps the chat.
        chat: what was said in it.
        messages: all of them, with the blocks beside them.
        known: the summary that they have already.
        limits: how long the chat may be.
        place: the session that holds the chat, and whose it is.

    Returns:
        The summary; None where the chat cannot be shortened without losing its instructions
        or the call that a tool answers.
    """
    begun = known.put_into(chat, messages) if known else None
    shift = known.end - known.head - 1 if known and begun else 0
    begun = begun or list(messages)
    session, whose = place
    spoken = [Spoken()] * len(begun)
    for one in chat.said:
        at = one.place - shift
        # What the summary stands for was stored when it was made.
        if not (known and shift and known.head <= one.place < known.end):
            link = keyed_mark(chat.chain[one.place], memory.store.journal.keyed)
            spoken[at] = Spoken(one.text, link)
    done = memory.compactor.compact(begun, limits, session, force=False, spoken=spoken, **whose)
    head = next(
        (n for n, (a, b) in enumerate(zip(done.messages, begun, strict=False)) if a is not b), 0
    )
    tail = done.messages[head + 1 :]
    opening = next((n for n, one in enumerate(begun) if one.get("role") not in OPENING), 0)
    shorter = done.dropped and len(tail) == len(begun) - head - done.dropped
    if not shorter or head < opening or not tail or _answers_tool(tail[0]):
        return None
    end = len(messages) - len(tail)
    return Cut(head, end, _link_before(chat, end), done.messages[head])


def _link_before(chat: Chat, end: int) -> str:
    """Return the digest of all that was said before a position."""
    return next((chat.chain[one.place] for one in reversed(chat.said) if one.place < end), "")


def _answers_tool(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return message.get("role") in ("tool", "function") or any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in parts
    )
