"""Copilot CLI, the real program, with our hooks in an empty home and a scripted model."""

from __future__ import annotations

import pytest
from hosts.programs import Program, program
from hosts.stage import Stage, install_and_remove, tell_and_ask

from kimi_memory.agent_hooks import socket_protocol

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def copilot() -> Program:
    return program("copilot")


@pytest.mark.parametrize("server", ["auto", "never"])
def test_a_fact_of_one_session_is_known_in_the_next(
    copilot: Program, stage: Stage, server: str
) -> None:
    # Its log is written late: whoever works off what a hook left has to wait for it.
    stage.write(".config/kimi_memory/config.toml", f'server = "{server}"\n')
    stage.env.update(PATH=copilot.search, COPILOT_MODEL="scripted", COPILOT_OFFLINE="true")
    stage.env.update(COPILOT_PROVIDER_BASE_URL=f"{stage.model.url}/v1")
    install_and_remove(stage, "copilot", ".copilot")
    stage.hook("install", "copilot")

    def say(prompt: str) -> None:
        stage.run([copilot.path, "-p", prompt, "--allow-all-tools"])

    tell_and_ask(stage, say)
    assert (stage.root / socket_protocol.NAME).exists() is (server == "auto")
    stage.hook("remove", "copilot")
    assert not (stage.home / ".copilot/hooks/kimi-memory.json").exists()
