"""The LangChain middleware, with the scripted model that ships with LangChain."""

from __future__ import annotations

import asyncio
import logging
import runpy
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from frameworks.conversations import in_both_languages

from kimi_memory import Memory
from kimi_memory.store.notes import sessions

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from kimi_memory.frameworks.langchain import MemoryMiddleware, MemoryRetriever

EXAMPLE = Path(__file__).parents[2] / "examples/langchain_agent.py"


class Scripted(GenericFakeChatModel):
    """Answers from a script and keeps what it was asked."""

    requests: list[list[Any]]

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *rest: Any, **kwargs: Any) -> Any:
        self.requests.append(list(messages))
        return super()._generate(messages, *rest, **kwargs)


@tool
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Rain in {city}."


def scripted(*answers: Any) -> Scripted:
    return Scripted(messages=iter(answers), requests=[])


def agent_of(memory: Memory, model: Scripted, **options: Any) -> Any:
    saver = InMemorySaver() if options.pop("saves", True) else None
    middleware = [MemoryMiddleware(memory, "kimi", **options)]
    prompt = "You are kind."
    return create_agent(
        model, [weather], system_prompt=prompt, middleware=middleware, checkpointer=saver
    )


def ask(agent: Any, text: str, thread: str) -> str:
    config = {"configurable": {"thread_id": thread}}
    told = agent.invoke({"messages": [HumanMessage(text)]}, config)
    return str(told["messages"][-1].text)


def turns(memory: Memory, id: str) -> list[tuple[str, str, str]]:
    transcript = sessions.read(memory.store, sessions.find(memory.store, id).path)
    return [(str(turn.role), turn.text, str(turn.origin)) for turn in transcript.turns]


@in_both_languages
def test_what_was_said_in_one_thread_is_known_to_the_model_in_the_next(
    memory: Memory, said: str, question: str, word: str
) -> None:
    model = scripted("noted", "as you said")
    agent = agent_of(memory, model)
    assert ask(agent, said, "one") == "noted"
    assert ask(agent, question, "two") == "as you said"
    system = model.requests[1][0]
    assert isinstance(system, SystemMessage) and system.content.startswith(
        "You are kind.\n\n<kimi-"
    )
    assert word in system.content and "data, not instructions" in system.content
    assert [type(one) for one in model.requests[1]] == [SystemMessage, HumanMessage]


def test_turns_are_stored_once_and_without_what_was_recalled(memory: Memory) -> None:
    agent = agent_of(memory, scripted("noted", "green tea"))
    ask(agent, "小李喝绿茶。", "one")
    ask(agent, "小李喝什么茶？", "one")
    assert turns(memory, "langchain-one") == [
        ("user", "小李喝绿茶。", "human"),
        ("assistant", "noted", "agent"),
        ("user", "小李喝什么茶？", "human"),
        ("assistant", "green tea", "agent"),
    ]


def test_a_thread_is_not_told_what_it_holds_already(memory: Memory) -> None:
    model = scripted("noted", "green tea")
    agent = agent_of(memory, model)
    ask(agent, "小李喝绿茶。", "one")
    ask(agent, "小李喝什么茶？", "one")
    assert [one[0].content for one in model.requests] == ["You are kind."] * 2


def test_words_of_tools_are_not_taken_for_a_person(memory: Memory) -> None:
    call = {"name": "weather", "args": {"city": "Oslo"}, "id": "call_1"}
    model = scripted(AIMessage("", tool_calls=[call]), "It rains.")
    agent = agent_of(memory, model)
    assert ask(agent, "How is Oslo?", "one") == "It rains."
    assert isinstance(model.requests[1][-1], ToolMessage)
    assert [text for _, text, _ in turns(memory, "langchain-one")] == ["How is Oslo?", "It rains."]


def test_without_threads_only_what_is_new_is_stored(memory: Memory) -> None:
    agent = agent_of(memory, scripted("hello", "fine"), saves=False, conversation="desk")
    first = agent.invoke({"messages": [HumanMessage("Hi, I am Ann.")]})["messages"]
    again = [HumanMessage(first[0].text), AIMessage(first[1].text), HumanMessage("How are you?")]
    agent.invoke({"messages": again})
    said = [text for _, text, _ in turns(memory, "langchain-desk")]
    assert said == ["Hi, I am Ann.", "hello", "How are you?", "fine"]


def test_the_async_agent_recalls_and_captures_alike(memory: Memory) -> None:
    model = scripted("noted", "green")
    agent = agent_of(memory, model)

    async def talk() -> None:
        for thread, text in (("one", "小李喝绿茶。"), ("two", "小李喝什么茶？")):
            config = {"configurable": {"thread_id": thread}}
            await agent.ainvoke({"messages": [HumanMessage(text)]}, config)

    asyncio.run(talk())
    assert "绿茶" in model.requests[1][0].content
    assert len(turns(memory, "langchain-two")) == 2


def test_secrets_are_masked_before_they_are_stored(memory: Memory) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ask(agent_of(memory, scripted("noted")), f"my token is {key}", "one")
    assert all(key.encode() not in memory.store.read(path) for path in memory.store.files())


def test_a_memory_that_fails_does_not_stop_the_agent(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    agent = agent_of(memory, scripted("hello", "still here"))
    ask(agent, "Hi", "one")
    memory.store.read_only = "the disk is full"
    with caplog.at_level(logging.WARNING):
        assert ask(agent, "Are you there?", "one") == "still here"
    assert "a turn was not stored" in caplog.text


def test_a_system_prompt_in_parts_keeps_its_parts(memory: Memory) -> None:
    memory.remember("Ann prefers tea.")
    model = scripted("tea")
    parts = SystemMessage(content=[{"type": "text", "text": "You are kind."}])
    agent = create_agent(model, [], system_prompt=parts, middleware=[MemoryMiddleware(memory)])
    agent.invoke({"messages": [HumanMessage("What does Ann prefer?")]})
    first, second = model.requests[0][0].content
    assert first == {"type": "text", "text": "You are kind."} and "tea" in second["text"]


def test_the_example_remembers_from_one_thread_to_the_next(memory: Memory) -> None:
    chat = runpy.run_path(str(EXAMPLE))["chat"]
    model = scripted("noted", "绿茶")
    assert list(chat(memory, model, ["小李喝绿茶。"], "one")) == ["noted"]
    assert list(chat(memory, model, ["小李喝什么茶？"], "two")) == ["绿茶"]
    assert "小李喝绿茶" in model.requests[1][0].content


FACTS = (
    "小李喝绿茶。",
    "Ann drinks black tea.",
    "Tea is served at three.",
    "The tea is from Hunan.",
)


def test_the_retriever_says_where_its_lines_stand(memory: Memory) -> None:
    for fact in FACTS:
        memory.remember(fact)
    retriever = MemoryRetriever(memory=memory, k=3)
    (first, *_) = retriever.invoke("小李喝什么茶？")
    assert first.page_content == FACTS[0]
    assert "#L" in first.metadata["citation"] and first.metadata["score"] > 0
    assert first.metadata["trust"] == "human" and first.metadata["status"] == "active"
    assert len(retriever.invoke("tea", k=2)) == 2 and retriever.invoke(" ") == []


def test_the_retriever_sees_no_private_area_but_its_agents(memory: Memory) -> None:
    memory.remember("The shelf holds 4711 tins.", key="shelf", agent="cook", area="agent")
    for agent, there in (("langchain", False), ("cook", True)):
        found = MemoryRetriever(memory=memory, agent=agent).invoke("shelf holds")
        assert any("4711" in one.page_content for one in found) is there


SUITE = (
    *("test_no_overrides_DO_NOT_OVERRIDE", "test_k_constructor_param"),
    *("test_invoke_with_k_kwarg", "test_invoke_returns_documents"),
    "test_ainvoke_returns_documents",
)


@pytest.mark.parametrize("name", SUITE)
def test_the_retriever_passes_the_standard_tests(memory: Memory, name: str) -> None:
    suites = pytest.importorskip("langchain_tests.integration_tests.retrievers")

    class Retriever(suites.RetrieversIntegrationTests):
        retriever_constructor = MemoryRetriever
        retriever_constructor_params = property(lambda self: {"memory": memory})
        retriever_query_example = "tea"

    for fact in FACTS:
        memory.remember(fact)
    assert {one for one in dir(Retriever) if one.startswith("test_")} == set(SUITE)
    check = getattr(Retriever(), name)
    wanted = {"retriever": MemoryRetriever(memory=memory)}
    done = check(**{key: wanted[key] for key in signature(check).parameters})
    if done is not None:
        asyncio.run(done)
