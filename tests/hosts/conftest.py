"""A scripted model, a user with an empty home who has a memory, and Claude Code."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts.scripted import ScriptedModel, scripted_model
from hosts.stage import Stage


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as server:
        yield server


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Iterator[Stage]:
    stage = Stage.at(tmp_path, model)
    yield stage
    stage.close()


@pytest.fixture(scope="session")
def claude() -> Path:
    """The program that the package claude-agent-sdk brings along."""
    found = importlib.util.find_spec("claude_agent_sdk")
    if found is None or found.origin is None:
        pytest.skip("needs Claude Code: pip install claude-agent-sdk")
    program = Path(found.origin).parent / "_bundled/claude"
    if not program.exists():
        pytest.skip("claude-agent-sdk brings no program for this system")
    return program
