"""Codex, the real program, with our hooks in an empty home and a scripted model."""

from __future__ import annotations

import pytest
from hosts.programs import Program, program
from hosts.stage import Stage, install_and_remove, tell_and_ask

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1200)]

CONFIG = """
model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
"""


@pytest.fixture(scope="module")
def codex() -> Program:
    return program("codex")


def test_a_fact_of_one_session_is_known_in_the_next(codex: Program, stage: Stage) -> None:
    stage.env.update(PATH=codex.search, SCRIPTED_KEY="none")
    stage.write(".codex/config.toml", CONFIG.format(url=stage.model.url))
    install_and_remove(stage, "codex", ".codex")
    own = stage.write(".codex/hooks.json", '{"hooks": {}}\n')
    stage.hook("install", "codex")

    def say(prompt: str) -> None:
        words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        stage.run([codex.path, *words, "-s", "read-only", prompt])

    tell_and_ask(stage, say)
    stage.hook("remove", "codex")
    assert (stage.home / ".codex/hooks.json").read_bytes() == own
