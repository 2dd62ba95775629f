"""What an open memory holds, and what it does when it is closed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
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
