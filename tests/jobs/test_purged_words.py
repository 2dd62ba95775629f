"""What a purge elsewhere destroyed, read from what it left."""

from __future__ import annotations

from kimi_memory.domain.tombstone import PURGED
from kimi_memory.jobs.purged_words import find_purged_words
from kimi_memory.store.git.purged_pairs import Washed


def test_a_mark_within_a_word_stands_for_the_whole_word() -> None:
    old = "暗号payload10在这里\nthe payload1 is here\n".encode()
    new = f"暗号{PURGED}0在这里\nthe {PURGED} is here\n".encode()
    assert set(find_purged_words([Washed("a.md", old, new)], (), ()).texts) == {
        "payload10",
        "payload1",
    }
