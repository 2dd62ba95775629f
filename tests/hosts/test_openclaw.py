"""OpenClaw, the real program, with our plugin in an empty home and a scripted model."""

from __future__ import annotations

import json

import pytest
from hosts.programs import Program, program
from hosts.protocols import Call
from hosts.stage import ASKED, FACT, Stage, install_and_remove, tell_and_ask

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1800)]


def settings(url: str) -> str:
    window = {"contextWindow": 200_000, "maxTokens": 4000, "input": ["text"], "reasoning": False}
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {"id": "scripted", "name": "scripted", "cost": cost, **window}
    provider = {"baseUrl": f"{url}/v1", "apiKey": "none", "api": "openai-completions"}
    return json.dumps(
        {
            "models": {"providers": {"scripted": {**provider, "models": [model]}}},
            "agents": {"defaults": {"model": {"primary": "scripted/scripted"}}},
        },
        indent=2,
    )


@pytest.fixture(scope="module")
def openclaw() -> Program:
    return program("openclaw")


@pytest.fixture
def claw(openclaw: Program, stage: Stage) -> Stage:
    stage.env.update(PATH=openclaw.search, OPENCLAW_STATE_DIR=str(stage.home / ".openclaw"))
    stage.write(".openclaw/openclaw.json", settings(stage.model.url))
    return stage


def say(openclaw: Program, stage: Stage, prompt: str, session: str) -> None:
    words = ["agent", "--local", "--agent", "main", "--session-id", session, "--json", "-m", prompt]
    stage.run([openclaw.path, *words], seconds=300)


def test_a_fact_of_one_session_is_known_in_the_next(openclaw: Program, claw: Stage) -> None:
    own = (claw.home / ".openclaw/openclaw.json").read_bytes()
    install_and_remove(claw, "openclaw", ".openclaw")
    claw.hook("install", "openclaw")
    claw.run([openclaw.path, "config", "validate"])
    tell_and_ask(claw, lambda prompt: say(openclaw, claw, prompt, f"s{len(prompt)}"), ended=False)
    assert claw.stored("Noted.", ended=False)
    claw.hook("remove", "openclaw")
    assert (claw.home / ".openclaw/openclaw.json").read_bytes() == own
    assert not (claw.home / ".openclaw/extensions/kimi-memory").exists()


def test_in_the_slot_its_tool_searches_ours(openclaw: Program, claw: Stage) -> None:
    claw.kimi("remember", FACT, "--memory", str(claw.root))
    claw.hook("install", "openclaw", "--slot")
    shown = claw.run([openclaw.path, "plugins", "inspect", "kimi-memory", "--runtime", "--json"])
    assert "memory_search" in shown
    asked = {"id": "memory_search", "args": {"query": "staging database port"}}
    claw.model.calls.append(Call("tool_call", asked))  # what it offers stands behind this one
    say(openclaw, claw, ASKED, "s1")
    assert not claw.model.calls, "the program offers no memory_search"
    (answered,) = [
        message["content"]
        for message in claw.model.requests[-1]["messages"]
        if message["role"] == "tool"
    ]
    assert "port 6543" in str(answered)
    claw.hook("remove", "openclaw")
