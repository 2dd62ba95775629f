"""Google ADK: a memory service over what sessions left."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.domain.search_types import Hit, Query
from kimi_memory.domain.session import named
from kimi_memory.frameworks.talk import Heard, Talk, unnamed
from kimi_memory.operations.agent_files import file_name

_HOST = "google-adk"


class MemoryService(BaseMemoryService):
    """A service for ``Runner(memory_service=…)``.

    Sessions become turns, each event once. A search finds what the same user said to the
    same app, and nobody else's words.

    Args:
        memory: an open memory.
        whole: whether a search finds everything in the memory instead, with its cards;
            right where the memory is one person's and no other user can reach the app.
        limit: most entries that a search returns.
    """

    def __init__(self, memory: Memory, *, whole: bool = False, limit: int = 10) -> None:
        self._memory, self._whole, self._limit = memory, whole, limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that are not stored yet."""
        await self._store_messages(
            session.app_name, session.user_id, session.id, _convert_events(session.events)
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store some events of a session."""
        await self._store_messages(app_name, user_id, session_id or "", _convert_events(events))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store entries that an agent made, as its words."""
        said = [unnamed(Role.ASSISTANT, _content_text(one.content)) for one in memories]
        await self._store_messages(app_name, user_id, "notes", said)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what answers a question, best first."""
        agent = "" if self._whole else _agent_name(app_name, user_id)
        # Not the user: ids of users of one app mean other people in another app.
        own = (named("agent", agent),) if agent else None
        asked = Query(text=query, agent=agent, within=own, limit=self._limit)
        if not query.strip():
            return SearchMemoryResponse(memories=[])
        found = await asyncio.to_thread(self._memory.recall, asked)
        return SearchMemoryResponse(memories=[_convert_hit(hit) for hit in found.hits])

    async def _store_messages(
        self, app: str, user: str, session: str, said: Iterable[Heard]
    ) -> None:
        agent = _agent_name(app, user)
        talk = Talk(self._memory, agent, _HOST)
        name = f"{agent}-{file_name(session)}" if session else agent
        await talk.keep(name, said)


def _agent_name(app: str, user: str) -> str:
    """Return the agent that an app is for one user; names of files, so never the same twice."""
    return f"{file_name(app)}.{file_name(user)}"


def _convert_events(events: Iterable[Event]) -> Iterator[Heard]:
    for event in events:
        text = "" if event.partial else _content_text(event.content)
        role = Role.USER if event.author == "user" else Role.ASSISTANT
        yield Heard(role, text, event.id)


def _content_text(content: types.Content | None) -> str:
    """Return the words of a content; thoughts and what tools gave and took have none."""
    parts = (content.parts or ()) if content else ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _convert_hit(hit: Hit) -> MemoryEntry:
    unit = hit.unit
    about: dict[str, Any] = {"citation": hit.citation, "trust": unit.trust, "score": hit.score}
    role = "user" if unit.role == Role.USER else "model"
    return MemoryEntry(
        content=types.Content(role=role, parts=[types.Part(text=hit.snippet)]),
        id=unit.id,
        author=unit.speaker or unit.role or unit.kind,
        timestamp=unit.at.isoformat() if unit.at else None,
        custom_metadata=about,
    )
