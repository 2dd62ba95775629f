"""Claude Code, the real program, with our hooks in an empty home and a scripted model."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hosts.stage import Stage, install_and_remove, tell_and_ask

PLUGIN = Path(__file__).parents[2] / "integrations/plugin"


@pytest.fixture
def user(stage: Stage) -> Stage:
    """A user whose Claude Code talks to the scripted model."""
    stage.env.update(
        ANTHROPIC_BASE_URL=stage.model.url,
        ANTHROPIC_API_KEY="none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        DISABLE_AUTOUPDATER="1",
        IS_SANDBOX="1",
    )
    return stage


def test_a_fact_of_one_session_is_known_in_the_next(claude: Path, user: Stage) -> None:
    own = user.write(".claude/settings.json", '{\n    "theme": "dark"\n}\n')
    install_and_remove(user, "claude", ".claude")
    user.hook("install", "claude")
    settings = user.home / ".claude/settings.json"
    assert json.loads(settings.read_bytes())["theme"] == "dark"

    tell_and_ask(user, lambda prompt: user.run([claude, "-p", prompt]))
    user.hook("remove", "claude")
    assert settings.read_bytes() == own


@pytest.mark.hosts
def test_the_plugin_does_the_same(claude: Path, user: Stage) -> None:
    commands = Path(sys.executable).parent
    user.env.update(KIMI_MEMORY=str(user.root), PATH=f"{commands}{os.pathsep}{user.env['PATH']}")
    tell_and_ask(user, lambda prompt: user.run([claude, "-p", prompt, "--plugin-dir", PLUGIN]))
