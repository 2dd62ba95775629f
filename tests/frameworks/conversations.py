"""What the tests of adapters say, and what is stored of it."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.store.notes import sessions

in_both_languages = pytest.mark.parametrize(
    ("said", "question", "word"),
    [
        ("小李每天下午三点喝绿茶。", "小李喝什么茶？", "绿茶"),
        ("The staging database is called marmalade.", "What is the staging database?", "marmalade"),
    ],
    ids=["zh", "en"],
)
"""A fact of one conversation, a question of the next, and a word that answers it."""


def turns(memory: Memory, id: str) -> list[tuple[str, str]]:
    """The turns of a session."""
    transcript = sessions.read(memory.store, sessions.find(memory.store, id).path)
    return [(str(turn.role), turn.text) for turn in transcript.turns]
