"""Earlier versions of files: found in the commits, kept beside, asked again where that fails."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import digest
from kimi_memory.domain.note import Role
from kimi_memory.errors import HistoryError, WaitingError
from kimi_memory.store.notes import sessions
from kimi_memory.store.reading import WAITS
from kimi_memory.store.trust.versions import FOLDER, Marks, Versions
from kimi_memory.store.wal.records import EXTERNAL

PAGE = "USER.md"


@pytest.fixture
def committed(memory: Memory, clock) -> tuple[Memory, str, bytes]:
    """A memory, one of its files, and what it held in an earlier commit."""
    clock.set(datetime.now(UTC))
    memory.remember("The kiln is fired on Mondays.", key="kiln.day")
    memory.batch.flush()
    path = next(entry for entry in memory.store.files() if entry.endswith("kiln.day.md"))
    return memory, path, memory.store.read(path)


class Broken:
    """A history whose git does not answer."""

    def head(self) -> str:
        raise HistoryError("git does not answer")

    def versions(self, path: str) -> list[object]:
        raise HistoryError("git does not answer")


def versions(memory: Memory) -> Versions:
    return Versions(memory.store, lambda: memory.history)


def test_a_version_is_kept_beside_once_found(committed: tuple[Memory, str, bytes]) -> None:
    memory, path, content = committed
    mark = digest(content)
    assert versions(memory).of_mark(path, mark) == content
    assert memory.store.read(f"{FOLDER}/{mark}") == content
    assert versions(memory).of_mark(path, "0" * 64) is None


def test_a_kept_version_that_rotted_is_not_believed(committed: tuple[Memory, str, bytes]) -> None:
    memory, path, content = committed
    mark = digest(content)
    memory.store.view(f"{FOLDER}/{mark}", b"something else")
    assert versions(memory).of_mark(path, mark) == content


def test_what_cannot_be_kept_is_asked_again(committed: tuple[Memory, str, bytes]) -> None:
    memory, path, content = committed
    folder = memory.root / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file where the folder should be", encoding="utf-8")
    for _ in range(2):
        assert versions(memory).of_mark(path, digest(content)) == content


def test_a_history_that_fails_has_no_versions(committed: tuple[Memory, str, bytes]) -> None:
    memory, path, content = committed
    shutil.rmtree(memory.root / FOLDER, ignore_errors=True)
    broken = Versions(memory.store, Broken)  # type: ignore[arg-type]  # its two questions
    assert broken.of_mark(path, digest(content)) is None
    assert broken.without_marks(path) == b""


def test_a_torn_session_that_was_never_committed_is_not_read(memory: Memory, clock) -> None:
    clock.set(datetime.now(UTC))
    handle = memory.session("fresh", host="claude")
    handle.turn(Role.USER, "The glaze is mixed on Tuesdays.")
    path = sessions.find(memory.store, "fresh").path
    place = memory.root / path
    lines = place.read_text("utf-8").splitlines(keepends=True)
    torn = [*lines, "<<<<<<< ours\n", lines[-1], "=======\n", lines[-1], ">>>>>>> theirs\n"]
    place.write_text("".join(torn), encoding="utf-8")
    with pytest.raises(WaitingError, match="not used"):
        sessions.read(memory.store, path)


def test_the_newest_version_without_marks_is_the_committed_one(
    committed: tuple[Memory, str, bytes],
) -> None:
    memory, path, content = committed
    found = versions(memory)
    assert found.without_marks(path) == content == found.without_marks(path)
    assert found.without_marks("semantic/none.md") == b""


def test_a_version_that_is_kept_needs_no_git(committed: tuple[Memory, str, bytes]) -> None:
    memory, path, content = committed
    assert versions(memory).of_mark(path, digest(content)) == content
    broken = Versions(memory.store, Broken)  # type: ignore[arg-type]  # its two questions
    assert broken.of_mark(path, digest(content)) == content


class Journal:
    """Records with how far they go; remembers from where they were asked for."""

    def __init__(self, lines: list[dict[str, str]]) -> None:
        self.lines, self.asked = list(lines), list[int]()

    def extent(self) -> tuple[str, int]:
        return "day", len(self.lines)

    def records(self, after: tuple[str, int] = ("", 0)) -> list[dict[str, str]]:
        self.asked.append(after[1])
        return self.lines[after[1] :]


def test_marks_tell_what_counts_where_it_lay_and_what_was_only_put_back() -> None:
    records = [
        {"path": "a.md", "after": "one", "actor": "cli", "origin": "human"},
        {"path": "a.md", "after": "two", "actor": "cli", "origin": "human"},
        {"path": "a.md", "after": "one", "actor": EXTERNAL, "origin": "human"},
        {"path": "b.md", "after": "new", "actor": EXTERNAL, "origin": "human"},
        {"path": "a.md", "after": "brought", "actor": EXTERNAL, "origin": next(iter(WAITS))},
        {"path": "s.jsonl", "after": "grown@12", "actor": "cli", "origin": "human"},
    ]
    journal = Journal(records)
    found = Marks().updated(journal)
    assert found.places == {"one": "a.md", "two": "a.md", "new": "b.md"}
    assert found.latest == {"a.md": "two", "b.md": "new"}
    assert found.waits == {"brought"}
    # Read on: a large copy is journaled in hundreds of steps, and each asks.
    assert found.updated(journal) is found
    journal.lines.append({"path": "a.md", "after": "three", "actor": "cli", "origin": "human"})
    assert found.updated(journal).latest == {"a.md": "three", "b.md": "new"}
    assert journal.asked == [0, len(records)]
    assert Marks().updated(journal).places == found.places
    journal.lines.clear()
    assert found.updated(journal).places == {}
