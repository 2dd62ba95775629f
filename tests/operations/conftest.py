"""Memories that people correct."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from tests.jobs.edited_pages import TEXTS, fill


@pytest.fixture
def paged(memory: Memory) -> Memory:
    """A memory with four cards and its pages."""
    fill(memory, TEXTS)
    return memory
