"""Hermes, the real program, with our memory provider in an empty home and a scripted model."""

from __future__ import annotations

import pytest
from hosts.programs import Program, program
from hosts.stage import Stage, install_and_remove, tell_and_ask

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1200)]

CONFIG = """\
# 我的设置
model:
  default: scripted
  provider: custom
  base_url: {url}/v1
  api_key: none
memory:
  memory_enabled: true  # its own
"""


@pytest.fixture(scope="module")
def hermes() -> Program:
    return program("hermes")


def test_a_fact_of_one_session_is_known_in_the_next(hermes: Program, stage: Stage) -> None:
    stage.env.update(PATH=hermes.search, HERMES_HOME=str(stage.home / ".hermes"))
    own = stage.write(".hermes/config.yaml", CONFIG.format(url=stage.model.url))
    install_and_remove(stage, "hermes", ".hermes")
    stage.hook("install", "hermes")

    def say(prompt: str) -> None:
        stage.run([hermes.path, "chat", "-q", prompt, "-Q"], seconds=200)

    tell_and_ask(stage, say)
    stage.hook("remove", "hermes")
    assert (stage.home / ".hermes/config.yaml").read_bytes() == own
    assert not (stage.home / ".hermes/plugins/kimi_memory").exists()
