"""The examples, with a scripted model on loopback."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from fakes.llm import Script, serve

from kimi_memory import Memory
from kimi_memory.store.notes import sessions

FOLDER = Path(__file__).parents[2] / "examples"
PAIRS = [
    ("小李每天下午三点喝绿茶。", "小李喝什么茶？", "绿茶"),
    ("The staging database is called marmalade.", "What is the staging database?", "marmalade"),
]
IDS = ["zh", "en"]


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / name))


def shown(body: dict[str, Any]) -> str:
    return json.dumps(body["messages"], ensure_ascii=False)


def said(memory: Memory) -> list[tuple[str, str]]:
    found = [sessions.read(memory.store, place.path) for place in sessions.places(memory.store)]
    found.sort(key=lambda one: one.session.id)
    return [(str(turn.role), turn.text) for one in found for turn in one.turns]


@pytest.mark.parametrize(("fact", "question", "word"), PAIRS, ids=IDS)
def test_a_chat_with_ollama_remembers(
    memory: Memory, clock: Any, fact: str, question: str, word: str
) -> None:
    from ollama import Client

    chat = example("ollama_chat.py")["chat"]
    script = Script(say=lambda prompt: "noted")
    with serve(script) as url:
        client = Client(host=url)
        assert "".join(chat(memory, client, "scripted", [fact])) == "noted\n"
        clock.move(minutes=5)
        assert "".join(chat(memory, client, "scripted", [question, "OK"])) == "noted\nnoted\n"
        client._client.close()
    first, second, third = script.to("/api/chat")
    assert word not in first["messages"][0]["content"]
    assert word in second["messages"][0]["content"]
    assert "data, not instructions" in second["messages"][0]["content"]
    assert [one["role"] for one in third["messages"]] == ["system", "user", "assistant", "user"]
    assert ("user", fact) in said(memory) and said(memory).count(("assistant", "noted")) == 3
    assert all(not place.open for place in sessions.places(memory.store))


@pytest.mark.parametrize(("fact", "question", "word"), PAIRS, ids=IDS)
def test_a_chat_over_openais_interface_remembers(
    memory: Memory, clock: Any, fact: str, question: str, word: str
) -> None:
    made = example("openai_compatible_chat.py")
    script = Script(say=lambda prompt: "noted")
    with serve(script) as url:
        server = made["Server"](f"{url}/v1", "scripted", "secret")
        assert list(made["chat"](memory, server, [fact])) == ["noted"]
        clock.move(minutes=5)
        assert list(made["chat"](memory, server, [question, "OK"])) == ["noted", "noted"]
        server.close()
    first, second, third = script.to("/v1/chat/completions")
    assert first["headers"]["authorization"] == "Bearer secret"
    assert shown(first).count(word) == 1
    assert word in shown(second) and "<kimi-memory" in shown(second)
    assert second["messages"][0] == third["messages"][0], "the prefix must stay the same"
    assert third["messages"][1]["content"] == question


@pytest.mark.parametrize(
    ("fact", "question", "word"),
    [
        ("以后部署都用 Ansible，不用手工脚本了。", "部署用什么？", "Ansible"),
        (
            "I decided to use PostgreSQL for the billing service.",
            "Which database does billing use?",
            "PostgreSQL",
        ),
    ],
    ids=IDS,
)
def test_the_loop_learns_by_itself(
    memory: Memory, clock: Any, fact: str, question: str, word: str
) -> None:
    session = example("auto_memory.py")["session"]
    asked: list[list[dict[str, str]]] = []

    def model(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        return "noted"

    first = list(session(memory, model, [fact]))
    assert first[0] == "noted"
    assert any(path.startswith("semantic/") for path in memory.store.files())
    clock.move(minutes=5)
    list(session(memory, model, [question]))
    assert asked[1][0]["role"] == "system" and word in asked[1][0]["content"]


def test_a_graph_keeps_what_its_user_told(memory: Memory) -> None:
    pytest.importorskip("langgraph")
    chat = example("langgraph_agent.py")["chat"]
    asked: list[str] = []

    def model(messages: list[dict[str, str]]) -> str:
        asked.append(messages[0]["content"])
        return "noted"

    lines = ["小李喝绿茶。", "Ann prefers PostgreSQL.", "小李喝什么？", "What does Ann prefer?"]
    assert list(chat(memory, model, "li", lines)) == ["noted"] * 4
    assert "nothing yet" in asked[0]
    assert "小李喝绿茶" in asked[2] and "PostgreSQL" in asked[3]
    assert list(chat(memory, model, "other", ["小李喝什么？"])) == ["noted"]
    assert "nothing yet" in asked[-1], "another user's lines were shown"


NOTE = """Let me think: 5432 is the default, but ticket 71 changed it. SCRATCH.

## Task
Find the port of staging.
## Findings
Staging listens on 6543 since ticket 71.
## Open
None.
## Next
Update the wiki.
"""


def test_a_sub_agent_hands_over_a_note_and_not_its_thoughts(memory: Memory) -> None:
    lead = example("handoff.py")["lead"]
    script = Script(say=lambda prompt: "Port 6543." if "left this note" in prompt else NOTE)
    task = "Which port does staging use?"

    with serve(script) as url:
        import httpx

        def model(prompt: str) -> str:
            body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
            told = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60).json()
            return str(told["choices"][0]["message"]["content"])

        assert lead(memory, model, task, "staging") == "Port 6543."
    helper, leader = script.prompts()
    assert "## Findings" in helper
    assert "6543 since ticket 71" in leader and "SCRATCH" not in leader
    assert ("user", task) in said(memory)
    found = [hit.unit for hit in memory.recall("staging port ticket 71").hits]
    note = next(one for one in found if one.path.endswith("notes/handoff/staging.md"))
    assert (note.agent, note.trust) == ("researcher", "agent")


def test_a_note_without_its_headings_is_refused(memory: Memory) -> None:
    research = example("handoff.py")["research"]
    with pytest.raises(ValueError, match="no Findings, Open, Next"):
        research(memory, lambda prompt: "## Task\nx", "x", "x")
