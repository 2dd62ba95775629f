"""OpenCode, the real program, with our plugin in an empty home and a scripted model."""

from __future__ import annotations

import json

import pytest
from hosts.programs import Program, program
from hosts.stage import Stage, install_and_remove, tell_and_ask

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1200)]


def settings(url: str) -> str:
    options = {"baseURL": f"{url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options}
    provider["models"] = {"scripted": {"name": "scripted"}}
    model = {"model": "scripted/scripted", "small_model": "scripted/scripted"}
    return json.dumps({**model, "autoupdate": False, "provider": {"scripted": provider}})


@pytest.fixture(scope="module")
def opencode() -> Program:
    return program("opencode")


def test_a_fact_of_one_session_is_known_in_the_next(opencode: Program, stage: Stage) -> None:
    stage.env.update(PATH=opencode.search, OPENCODE_DISABLE_MODELS_FETCH="true")
    stage.write(".config/opencode/opencode.json", settings(stage.model.url))
    install_and_remove(stage, "opencode", ".config/opencode")
    stage.hook("install", "opencode")

    def say(prompt: str) -> None:
        stage.run([opencode.path, "run", *prompt.split()])  # it quotes what has blanks

    tell_and_ask(stage, say, ended=False)
    assert stage.stored("Noted.", ended=False)
    stage.hook("remove", "opencode")
    assert not (stage.home / ".config/opencode/plugin/kimi-memory.js").exists()
