"""A scripted model, and a user with an empty home who has a memory."""

from __future__ import annotations

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
