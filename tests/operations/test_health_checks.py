"""What the doctor looks at besides the notes: each fault is planted and must be found."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.errors import UsageError
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.operations.doctor import doctor, fix
from kimi_memory.operations.health_checks import check_copies, check_jobs, check_tombstones
from kimi_memory.store.files.paths import TOMBSTONES


def told(memory: Memory) -> list[Finding]:
    """Return what is wrong."""
    return [one for one in doctor(memory) if one.severity is not Severity.OK]


def test_a_sound_memory_has_no_findings(memory: Memory) -> None:
    assert told(memory) == []


def test_broken_tombstones_are_an_error_with_their_line(memory: Memory) -> None:
    (memory.root / "mid-term").mkdir(exist_ok=True)
    (memory.root / TOMBSTONES).write_text('{"half\n', encoding="utf-8")
    (one,) = check_tombstones(memory)
    assert (one.severity, one.path) == (Severity.ERROR, TOMBSTONES)
    assert one.message.startswith("line 1: ") and "git" in one.remedy
    assert one in told(memory)


def test_a_job_that_failed_is_a_warning_and_one_that_rests_an_error(memory: Memory) -> None:
    breaker = Breaker(memory.store, memory.settings.gates)
    severities = []
    for _ in range(3):
        breaker.failed("daily", UsageError("the index is broken"), memory.clock())
        (one,) = check_jobs(memory)
        severities.append(str(one.severity))
    assert severities == ["warning", "warning", "error"]
    assert "3 times in a row, rests: the index is broken" in one.message
    assert one in told(memory)
    list(fix(memory, told(memory)))
    assert told(memory) == []


@pytest.mark.parametrize(
    "name",
    [
        "a.sync-conflict-20260227-093000-ABCDEF7.md",
        "a (conflicted copy 2026-02-27 093000).md",
        "a (Lin's conflicted copy 2026-02-27).md",
        "a（小李 的冲突副本 2026-02-27）.md",
        "a_conflict-20260227-093000.md",
    ],
)
def test_copies_of_sync_tools_are_named(memory: Memory, name: str) -> None:
    (memory.root / "notes").mkdir()
    (memory.root / "notes" / name).write_text("x\n", encoding="utf-8")
    (one,) = check_copies(memory)
    assert (one.severity, one.path) == (Severity.WARNING, f"notes/{name}")
    assert one in told(memory)


def test_of_many_copies_some_are_named_and_the_rest_counted(memory: Memory) -> None:
    for n in range(9):
        name = f"a{n}.sync-conflict-20260227-093000-ABCDEF7.md"
        (memory.root / name).write_text("x\n", encoding="utf-8")
    assert [one.message for one in check_copies(memory)][
        -1
    ] == "there are 4 more copies of sync tools"


def test_notes_about_conflicts_are_no_copies(memory: Memory) -> None:
    for name in ("conflicts in the team.md", "sync-conflict.md", "冲突.md", "merge_conflict.md"):
        (memory.root / name).write_text("x\n", encoding="utf-8")
    assert list(check_copies(memory)) == []


def test_a_misspelt_setting_is_found(memory: Memory) -> None:
    with (memory.root / MARKER).open("a", encoding="utf-8") as file:
        file.write("\n[recal]\nlimit = 3\n")
    (one,) = told(memory)
    assert "[recal]" in one.message and "[recall]" in one.remedy
