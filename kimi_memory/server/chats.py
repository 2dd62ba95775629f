"""Running chats of clients, kept within their windows: each in its caller's namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kimi_memory.api.memory import Memory
from kimi_memory.domain.compaction import Compaction, Flushed, Limits, Message
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.server.principal import Caller, Namespace
from kimi_memory.server.responses import History
from kimi_memory.server.schema import Given
from kimi_memory.server.writing import validate_session_id
from kimi_memory.store.notes import sessions

_WHOSE = ("project", "agent", "user")


@dataclass(frozen=True, slots=True)
class ChatOwner:
    """Where a chat is kept, and whose it is."""

    session: str
    whose: Mapping[str, str]


def compact(memory: Memory, caller: Caller, given: Given) -> Compaction:
    """Make a chat fit again; see `Memory.compact`."""
    owner = find_owner(memory, caller.space, given["messages"], given)
    limits = limits_of(memory, given["window_tokens"], given["share"], given["keep"])
    return memory.compact(
        given["messages"], limits, session=owner.session, force=given["force"], **owner.whose
    )


def flush(memory: Memory, caller: Caller, given: Given) -> Flushed:
    """Store what of a chat is not stored yet; see `Memory.flush`."""
    owner = find_owner(memory, caller.space, given["messages"], given)
    return memory.flush(given["messages"], session=owner.session, **owner.whose)


def window(memory: Memory, caller: Caller, given: Given) -> History:
    """Return the history to resume a session with; see `Memory.window`.

    Raises:
        NotFoundError: there is none, or it lies outside of the caller's namespace.
    """
    root = sessions.split_part(given["id"])[0]
    places = sessions.parts(memory.store, root)
    if not places or not all(caller.space.holds_path(memory, place.path) for place in places):
        raise NotFoundError("session", given["id"])
    return History(root, tuple(memory.window(root, given["budget"], keep=given["keep"])))


def limits_of(memory: Memory, window_tokens: int = 0, share: float = 0, keep: int = 0) -> Limits:
    """Return the limits of the user's settings, with what a request says in their place."""
    limits = memory.compactor.limits
    return replace(
        limits,
        window_tokens=window_tokens or limits.window_tokens,
        share=share or limits.share,
        keep=keep or limits.keep,
    )


def find_owner(
    memory: Memory, space: Namespace, messages: Sequence[Message], asked: Mapping[str, str]
) -> ChatOwner:
    """Return where a chat of a namespace is kept.

    Args:
        memory: that holds it.
        space: of who asks.
        messages: the chat.
        asked: session, project, agent, user and area, as far as they are named.

    Raises:
        ServerError: it is somebody else's.
        UsageError: there are no messages.
    """
    if not messages:
        raise UsageError("'messages' is empty. Give the messages of a chat, oldest first.")
    id = validate_session_id(memory, asked.get("session", ""))
    project, agent, user = (asked.get(name, "") for name in _WHOSE)
    mine = space.within(project, agent, user, id)
    whose = mine.whose | {"area": space.area(memory, asked.get("area", ""))}
    id = id or mine.session or memory.compactor.session_of(messages, **whose)
    if places := space.check_session(memory, id):
        # What is said on is said by those who began it.
        header = sessions.read(memory.store, places[-1].path).session
        whose = {name: getattr(header, name) for name in (*_WHOSE, "host", "title")}
    return ChatOwner(id, whose)
