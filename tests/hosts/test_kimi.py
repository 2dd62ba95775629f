"""Kimi Code, the real program, with our hooks in an empty home and a scripted model."""

from __future__ import annotations

import pytest
from hosts.programs import Program, program
from hosts.stage import Stage, install_and_remove, tell_and_ask

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1200)]

CONFIG = """
default_model = "scripted"

[providers.scripted]
type = "openai"
base_url = "{url}/v1"
api_key = "none"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 100000

[[hooks]]
event = "PostToolUse"
command = "true"
"""


@pytest.fixture(scope="module")
def kimi() -> Program:
    return program("kimi")


def test_a_fact_of_one_session_is_known_in_the_next(kimi: Program, stage: Stage) -> None:
    stage.env.update(PATH=kimi.search)
    own = stage.write(".kimi-code/config.toml", CONFIG.format(url=stage.model.url))
    install_and_remove(stage, "kimi", ".kimi-code")
    stage.hook("install", "kimi")

    def say(prompt: str) -> None:
        stage.run([kimi.path, "-p", prompt])

    tell_and_ask(stage, say, ended=False)
    stage.hook("remove", "kimi")
    assert (stage.home / ".kimi-code/config.toml").read_bytes() == own
