"""Conversations: to which session a chat belongs, and which blocks it has been shown.

What was once put beside a message is put there again, byte for byte, as long as the chat
goes on: a model server keeps what it computed for the beginning of a prompt, and would
have to begin anew where one byte of it changed.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import count
from typing import TypeVar

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.proxy.chat import Chat, tail_of
from kimi_memory.proxy.window import Fitting
from kimi_memory.server.principal import Caller, Namespace

PREFIX = "proxy-"
MOST = 2000
"""So many conversations are kept in mind; those that were silent longest are let go."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who sends a chat, and as what it is kept."""

    caller: Caller
    space: Namespace = field(default_factory=Namespace)
    """Project and agent of the chat, within those of the caller."""
    user: str = ""
    session: str = ""
    """The session as the client named it, if it did."""
    stays: Callable[[], bool] = field(default=lambda: True, compare=False)
    """Whether what the client has shown still opens the door."""

    @property
    def mark(self) -> str:
        """Words that differ between askers whose chats never meet."""
        return "\0".join((self.caller.name, self.space.project, self.space.agent, self.user))


@dataclass(slots=True)
class Shown:
    """What a conversation was shown."""

    standing: str = ""
    blocks: dict[str, str] = field(default_factory=dict)
    """Blocks by the digest of the chat up to the message that they stand beside."""
    ids: set[str] = field(default_factory=set)
    """Ids of all lines in them."""
    fitting: Fitting = field(default_factory=Fitting)
    """The summary that stands for older messages, if the chat outgrew its window."""

    def beside(self, chat: Chat) -> Mapping[int, str]:
        """Return the blocks of a chat by the position of their message."""
        found = {place: self.blocks.get(link, "") for place, link in chat.chain.items()}
        return {place: block for place, block in found.items() if block}


class Conversations:
    """The conversations in mind."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, str] = OrderedDict()
        self._shown: OrderedDict[str, Shown] = OrderedDict()

    def session_of(self, asker: Asker, chat: Chat, after: str = "") -> str:
        """Return the session of a chat, if it is in mind; else an empty text."""
        # The server's id of the answer is certain; its words are used where there is no id.
        for key in (after, chat.tail):
            found = _get_cached(self._sessions, f"{asker.mark}\0{key}") if key else None
            if found:
                return found
        return ""

    def answered(self, asker: Asker, chat: Chat, session: str, answer: tuple[str, str]) -> None:
        """Note by which answer, its text and its id, a chat will be known when it goes on."""
        text, id = answer
        asked = chat.said[-1].text if chat.said else ""
        for key in (id, tail_of(asked, text) if text else ""):
            if key:
                _put_cached(self._sessions, f"{asker.mark}\0{key}", session)

    def shown(self, session: str) -> Shown | None:
        """Return what a session was shown; None for one that is not in mind."""
        return _get_cached(self._shown, session)

    def show(self, session: str, standing: str) -> Shown:
        """Record the text that stands before a conversation; an earlier one stays."""
        found = self.shown(session)
        if found is None:
            found = Shown(standing)
            _put_cached(self._shown, session, found)
        return found


def candidates(asker: Asker, opening: str) -> Iterator[str]:
    """Yield the ids that chats with this opening have, the first of them first."""
    told = f"{asker.mark}\0{' '.join(opening.split())}".encode("utf-8", "surrogatepass")
    id = PREFIX + hashlib.sha256(told).hexdigest()[:12]
    yield id
    yield from (f"{id}-{number}" for number in count(2))


def _get_cached(kept: OrderedDict[str, T], key: str) -> T | None:
    if key in kept:
        kept.move_to_end(key)
    return kept.get(key)


def _put_cached(kept: OrderedDict[str, T], key: str, value: T) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MOST:
        kept.popitem(last=False)
