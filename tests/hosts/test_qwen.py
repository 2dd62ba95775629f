"""Qwen Code, the real program, with our hooks in an empty home and a scripted model."""

from __future__ import annotations

import pytest
from hosts.programs import Program, program
from hosts.stage import Stage, install_and_remove, tell_and_ask

OWN = '{\n\t"ui": {"theme": "Default"},\n\t"$version": 4\n}'
"""As the program itself writes them: older ones it converts, and those bytes are then its own."""

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def qwen() -> Program:
    return program("qwen")


def test_a_fact_of_one_session_is_known_in_the_next(qwen: Program, stage: Stage) -> None:
    stage.env.update(PATH=qwen.search, OPENAI_API_KEY="none", OPENAI_MODEL="scripted")
    stage.env.update(OPENAI_BASE_URL=f"{stage.model.url}/v1")
    own = stage.write(".qwen/settings.json", OWN)
    install_and_remove(stage, "qwen", ".qwen")
    stage.hook("install", "qwen")

    def say(prompt: str) -> None:
        stage.run([qwen.path, "--auth-type", "openai", "-y", "-p", prompt])

    tell_and_ask(stage, say, ended=False)
    stage.hook("remove", "qwen")
    assert (stage.home / ".qwen/settings.json").read_bytes() == own
