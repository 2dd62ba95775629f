"""A space with one member of each kind of rights."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.api.options import Home
from kimi_memory.spaces.space_folder import SpaceFolder

MEMORY = "memory-01shop"


@pytest.fixture
def space(home: Home, tmp_path: Path) -> SpaceFolder:
    """A space 'shop' with a memory, and a member for each role, and two programs."""
    made = SpaceFolder.create(home, "shop", tmp_path / "space")
    made.share(MEMORY, "tea", tmp_path / "tea")
    for role in ("reader", "writer", "keeper", "owner"):
        made.add(f"{role}@shop", [role])
    made.add("scout", ["writer"], "agent")
    made.add("robot", ["owner"], "agent")
    return made
