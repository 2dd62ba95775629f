"""Gemini CLI, the real program, with our hooks in an empty home and a scripted model."""

from __future__ import annotations

import json

import pytest
from hosts.programs import Program, program
from hosts.stage import Stage, install_and_remove, tell_and_ask

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1200)]

SETTINGS = {"security": {"auth": {"selectedType": "gemini-api-key"}}}


@pytest.fixture(scope="module")
def gemini() -> Program:
    return program("gemini")


def test_a_fact_of_one_session_is_known_in_the_next(gemini: Program, stage: Stage) -> None:
    stage.env.update(PATH=gemini.search, GEMINI_API_KEY="none")
    stage.env.update(GOOGLE_GEMINI_BASE_URL=stage.model.url)
    own = stage.write(".gemini/settings.json", json.dumps(SETTINGS, indent=4) + "\n")
    install_and_remove(stage, "gemini", ".gemini")
    stage.hook("install", "gemini")

    def say(prompt: str) -> None:
        stage.run([gemini.path, "--skip-trust", "-y", "-p", prompt])

    tell_and_ask(stage, say, ended=False)
    stage.hook("remove", "gemini")
    assert (stage.home / ".gemini/settings.json").read_bytes() == own
