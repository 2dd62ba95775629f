"""The memory service for Google ADK, in its runner with a scripted model of its own base."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from frameworks.conversations import in_both_languages

from kimi_memory import Memory
from kimi_memory.store.notes import sessions

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import preload_memory
from google.genai import types
from pydantic import Field

from kimi_memory.frameworks.google_adk import MemoryService

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


class Scripted(BaseLlm):
    """Answers one word and keeps what it was asked."""

    requests: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        shown = [llm_request.config.system_instruction, llm_request.contents]
        self.requests.append(str(shown))
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="noted")]))


def turns(memory: Memory) -> list[list[tuple[str, str]]]:
    return [
        [(str(t.role), t.text) for t in sessions.read(memory.store, place.path).turns]
        for place in sessions.places(memory.store)
    ]


class App:
    """An app of ADK whose sessions go into a memory."""

    def __init__(self, service: MemoryService, app: str = "tea") -> None:
        self.model = Scripted(model="scripted")
        self.service, self.app = service, app
        self.sessions = InMemorySessionService()
        agent = LlmAgent(name="kimi", model=self.model, tools=[preload_memory])
        self.runner = Runner(
            app_name=app, agent=agent, session_service=self.sessions, memory_service=service
        )

    async def say(self, user: str, session: str, text: str) -> None:
        known = await self.sessions.get_session(app_name=self.app, user_id=user, session_id=session)
        if known is None:
            await self.sessions.create_session(app_name=self.app, user_id=user, session_id=session)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in self.runner.run_async(user_id=user, session_id=session, new_message=message):
            pass
        done = await self.sessions.get_session(app_name=self.app, user_id=user, session_id=session)
        await self.service.add_session_to_memory(done)


@in_both_languages
def test_what_was_said_in_one_session_is_known_in_the_next(
    memory: Memory, said: str, question: str, word: str
) -> None:
    app = App(MemoryService(memory))

    async def talk() -> None:
        await app.say("li", "one", said)
        await app.say("li", "two", question)

    asyncio.run(talk())
    assert word in app.model.requests[-1] and "PAST_CONVERSATIONS" in app.model.requests[-1]
    assert sorted(turns(memory)) == sorted(
        [[("user", said), ("assistant", "noted")], [("user", question), ("assistant", "noted")]]
    )


def test_a_session_added_again_is_stored_once(memory: Memory) -> None:
    app = App(MemoryService(memory))

    async def talk() -> None:
        await app.say("li", "one", "I live in Oslo.")
        await app.say("li", "one", "I like tea.")

    asyncio.run(talk())
    (said,) = turns(memory)
    assert [text for _, text in said] == ["I live in Oslo.", "noted", "I like tea.", "noted"]


def test_users_and_apps_do_not_hear_each_other(memory: Memory) -> None:
    service = MemoryService(memory)

    async def talk() -> dict[tuple[str, str], str]:
        await App(service).say("li", "one", "My bicycle is red.")
        await App(service, "tea.li").say("x", "one", "My bicycle is blue.")
        found = {}
        for app, user in (("tea", "li"), ("tea", "ann"), ("tea.li", "x"), ("other", "li")):
            got = await service.search_memory(app_name=app, user_id=user, query="red blue bicycle")
            found[app, user] = str(got.memories)
        return found

    found = asyncio.run(talk())
    assert "red" in found["tea", "li"] and "blue" not in found["tea", "li"]
    assert "blue" in found["tea.li", "x"] and "red" not in found["tea.li", "x"]
    assert found["tea", "ann"] == found["other", "li"] == "[]"


def test_one_persons_memory_may_be_searched_whole(memory: Memory) -> None:
    memory.remember("The staging database listens on port 6543.", key="staging.port")
    search = {"app_name": "tea", "user_id": "li", "query": "staging port"}
    assert asyncio.run(MemoryService(memory).search_memory(**search)).memories == []
    found = asyncio.run(MemoryService(memory, whole=True).search_memory(**search)).memories
    assert "6543" in found[0].content.parts[0].text
    cited = [one.custom_metadata["citation"] for one in found]
    assert any(place.startswith("semantic/") for place in cited)


def test_entries_and_events_are_stored_as_the_agents_and_the_persons_words(
    memory: Memory,
) -> None:
    service = MemoryService(memory)

    async def talk() -> Any:
        from google.adk.events import Event

        said = types.Content(role="user", parts=[types.Part(text="我住在奥斯陆。")])
        thought = types.Content(role="model", parts=[types.Part(text="hm", thought=True)])
        scope = {"app_name": "tea", "user_id": "li"}
        events = [Event(author="user", content=said), Event(author="kimi", content=thought)]
        await service.add_events_to_memory(**scope, events=events)
        entry = MemoryEntry(content=types.Content(parts=[types.Part(text="Li owns a cat.")]))
        await service.add_memory(**scope, memories=[entry])
        assert (await service.search_memory(**scope, query=" ")).memories == []
        return [
            (await service.search_memory(**scope, query=query)).memories[0]
            for query in ("我住在哪里？", "Who owns a cat?")
        ]

    person, agent = asyncio.run(talk())
    assert person.content.parts[0].text == "我住在奥斯陆。" and person.content.role == "user"
    assert agent.content.role == "model" and agent.custom_metadata["trust"] == "agent"
    assert sum(map(len, turns(memory))) == 2
