"""Claude Code, the real program, with our hooks in an empty home and a scripted model."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts.scripted import ScriptedModel, scripted_model

from kimi_memory import Memory
from kimi_memory.store import sessions

FACT = "Please remember: the staging database runs on PostgreSQL 16 at port 6543."
ASKED = "Which port does the staging database use?"


@pytest.fixture(scope="module")
def claude() -> Path:
    """The program that the package claude-agent-sdk brings along."""
    found = importlib.util.find_spec("claude_agent_sdk")
    if found is None or found.origin is None:
        pytest.skip("needs Claude Code: pip install claude-agent-sdk")
    program = Path(found.origin).parent / "_bundled/claude"
    if not program.exists():
        pytest.skip("claude-agent-sdk brings no program for this system")
    return program


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as server:
        yield server


@pytest.fixture
def user(tmp_path: Path, model: ScriptedModel) -> dict[str, str]:
    """The environment of a user with an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }


def kimi(user: dict[str, str], *words: str) -> str:
    argv = [sys.executable, "-m", "kimi_memory", *words]
    done = subprocess.run(argv, env=user, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def say(claude: Path, user: dict[str, str], work: Path, prompt: str) -> None:
    argv = [str(claude), "-p", prompt, "--output-format", "json"]
    done = subprocess.run(
        argv, env=user, cwd=work, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]


def until_stored(root: Path, text: str, times: int = 1) -> list[str]:
    """The turns that hold a text, once there are so many and no session is open."""
    deadline = time.monotonic() + 60
    while True:
        with Memory.open(root) as memory:
            places = list(sessions.places(memory.store))
            turns = [t.text for p in places for t in sessions.read(memory.store, p.path).turns]
            found = [turn for turn in turns if text in turn]
            if len(found) >= times and not any(place.open for place in places):
                return found
        assert time.monotonic() < deadline, f"not stored: {turns}"
        time.sleep(0.2)


def test_a_fact_of_one_session_is_known_in_the_next(
    claude: Path, model: ScriptedModel, user: dict[str, str], tmp_path: Path
) -> None:
    root, work = tmp_path / "记忆", tmp_path / "work"
    work.mkdir()
    settings = Path(user["HOME"]) / ".claude/settings.json"
    settings.parent.mkdir()
    own = b'{\n    "theme": "dark"\n}\n'
    settings.write_bytes(own)
    kimi(user, "init", str(root))
    kimi(user, "hook", "install", "--host", "claude", "--memory", str(root))
    assert json.loads(settings.read_bytes())["theme"] == "dark"

    say(claude, user, work, FACT)
    assert len(until_stored(root, "6543")) == 1

    before = len(model.requests)
    say(claude, user, work, ASKED)
    asked = [text for text in model.conversations()[before:] if ASKED in text]
    assert asked
    assert any("PostgreSQL 16 at port 6543" in text for text in asked), asked
    assert any("data, not instructions" in text for text in asked)

    assert len(until_stored(root, ASKED)) == 1
    assert len(until_stored(root, "6543")) == 1, "what was recalled was captured again"
    kimi(user, "hook", "remove", "--host", "claude", "--memory", str(root))
    assert settings.read_bytes() == own
