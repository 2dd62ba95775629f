"""What an open memory holds, and what it does when it is closed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.domain.search_types import Unit
from kimi_memory.errors import FormatError, UsageError


@pytest.mark.parametrize(
    ("content", "error", "why"),
    [
        (b"[memory\n", FormatError, "not TOML"),
        (b"[memory]\nformat = 99\n", FormatError, "newer than this program"),
        (b"[recall]\nlimit = 'many'\n", FormatError, "recall.limit is 'many'"),
        (b"\xff\xfe[\x00", UsageError, "not UTF-8"),
    ],
)
def test_bad_settings_are_named(
    memory: Memory, opening: Opening, content: bytes, error: type[Exception], why: str
) -> None:
    (memory.root / "memory.toml").write_bytes(content)
    with pytest.raises(error, match=why):
        Memory.open(memory.root, opening)


def test_a_pending_batch_is_committed_when_a_library_closes(
    tmp_path: Path, opening: Opening
) -> None:

    long_lived = replace(opening, background=True)
    with Memory.create(tmp_path / "m", opening=long_lived) as memory:
        memory.session("s").turn("user", "hello there")
        assert memory.batch.pending()
    with Memory.open(tmp_path / "m", opening) as again:
        assert not again.batch.pending()
        assert again.history.changed("HEAD")


def test_a_batch_left_by_a_short_process_is_found_by_the_next(
    memory: Memory, opening: Opening, clock
) -> None:
    memory.session("s").turn("user", "hello there")
    memory.close()
    clock.move(seconds=31)
    with Memory.open(memory.root, opening) as again:
        assert again.batch.due()
        assert again.batch.flush()
        assert ("A", "short-term/session_s.jsonl") in again.history.changed("HEAD")


def with_settings(memory: Memory, opening: Opening, *lines: str) -> Memory:
    """Open a memory anew, with more lines in its settings."""
    path = memory.root / "memory.toml"
    path.write_text("\n".join([path.read_text("utf-8"), *lines, ""]), encoding="utf-8")
    return Memory.open(memory.root, opening)


@pytest.mark.parametrize(
    ("setting", "limit", "weighed"),
    [
        *(("", 0, 50), ("", 40, 120), ("candidates = 20", 0, 120), ("candidates = 20", 8, 160)),
        *(("candidates = 20\nlimit = 9", 0, 180), ("candidates = 1", 40, 50)),
        ("candidates = 2", 40, 80),
    ],
)
def test_the_setting_says_how_many_lines_a_hit_are_weighed(
    memory: Memory, opening: Opening, setting: str, limit: int, weighed: int
) -> None:
    """As many as it says for each hit of this question, and never fewer than 50."""
    session = memory.session("s")
    for n in range(200):
        # Longer and longer: lines of one score would all be weighed.
        session.turn("user", f"The egret stood in the pond{' of reeds' * n}.")
    seen: set[str] = set()

    class Scales:
        @hookimpl
        def weigh_hit(self, unit: Unit) -> dict[str, float]:
            seen.add(unit.id)
            return {}

    opening.host.register(Scales(), "scales")
    with with_settings(memory, opening, "[recall]", setting, "vector_weight = 0") as one:
        assert one.recall("egret", limit=limit).hits
    assert len(seen) == weighed


@pytest.mark.parametrize(
    ("setting", "chunks", "again"),
    [
        ("", 2, 0),
        ("headings = false", 1, 0),
        ("max_tokens = 64\noverlap_tokens = 0", 4, 0),
        ("max_tokens = 64\noverlap_tokens = 16", 5, 3),
        ("max_tokens = 64", 5, 3),
    ],
)
def test_a_memory_cuts_its_pages_as_its_settings_say(
    memory: Memory, opening: Opening, setting: str, chunks: int, again: int
) -> None:
    """Recall finds smaller pieces, and the words at a border in two of them or in one."""
    lines = [f"Line {n} says heron number {n} once." for n in range(24)]
    page = "\n".join(["# Birds", *lines[:20], "", "# More", *lines[20:]])
    (memory.root / "notes").mkdir()
    (memory.root / "notes/birds.md").write_text(page + "\n", encoding="utf-8")
    memory.index.refresh()  # An index of the sizes before must not answer for the new ones.
    with with_settings(memory, opening, "[chunks]", setting) as one:
        hits = one.recall("heron says", limit=30).hits
    found = [hit.unit for hit in hits if hit.unit.path == "notes/birds.md"]
    assert sum(any(line in unit.text for unit in found) for line in lines) == len(lines)
    twice = sum(sum(line in unit.text for unit in found) > 1 for line in lines)
    assert (len(found), twice) == (chunks, again)


def test_a_history_that_refuses_keeps_no_memory_from_closing(
    tmp_path: Path, opening: Opening, caplog: pytest.LogCaptureFixture
) -> None:
    """What is pending is committed by the next one."""
    with Memory.create(tmp_path / "m", opening=replace(opening, background=True)) as memory:
        memory.session("s").turn("user", "hello there")
        rebase = memory.root / ".git/rebase-merge"
        rebase.mkdir()
    assert "history is behind" in caplog.text
    rebase.rmdir()
    with Memory.open(tmp_path / "m", opening) as again:
        assert again.batch.flush()
