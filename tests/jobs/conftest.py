"""A memory with pages."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.formats.page_lines import read_page
from tests.jobs.edited_pages import (
    TEXTS,
    cards,
    fill,
    page,
)


@pytest.fixture
def paged(memory: Memory) -> Memory:
    """A memory with four cards and its pages."""
    fill(memory, TEXTS)
    assert read_page(page(memory)).lines.keys() == {card.id for card in cards(memory)}
    return memory
