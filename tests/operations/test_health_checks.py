"""What the doctor looks at besides the notes: each fault is planted and must be found."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.config import MARKER
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.job import DayView, Step, WeekView
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import GateError, UsageError
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.operations.doctor import doctor, fix, verify
from kimi_memory.operations.forget import Doomed, forget, purge
from kimi_memory.operations.health_checks import (
    check_copies,
    check_jobs,
    check_tombstones,
    shown_size,
    sizes,
)
from kimi_memory.operations.memory_state import status
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes import sessions
from tests.conftest import Clock
from tests.jobs.notes import days_ago, event, put
from tests.test_copies import git

NAMES = [
    "{stem}.sync-conflict-20260227-101500-ABCDEFG.md",
    "{stem} (Ann's conflicted copy 2026-02-27).md",
    "{stem} (conflicted copy 2026-02-27 101500).md",
    "{stem} (小李 的冲突副本 2026-02-27).md",
    "{stem}_conflict-20260227-101500.md",
]


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


def test_a_changed_tombstone_is_named(memory: Memory) -> None:
    memory.remember("The boat is green.", key="boat.colour")
    forget(memory, Wanted(key="boat.colour"))
    assert told(memory) == []
    path = memory.root / TOMBSTONES
    path.write_text(path.read_text("utf-8").replace("green", "greem"), encoding="utf-8")
    (one,) = told(memory)
    assert (one.severity, one.path) == (Severity.WARNING, TOMBSTONES)
    assert one.message.startswith("line 1 was changed")


@pytest.mark.parametrize(
    "name", ["USER (1).md", "USER(2).md", "USER - Copy.md", "USER copy 2.md", "USER - 副本 (2).md"]
)
def test_a_copy_of_a_root_page_is_named(memory: Memory, name: str) -> None:
    (memory.root / "USER.md").touch()
    (memory.root / "Plan (2027).md").write_text("A page of its own.\n", encoding="utf-8")
    assert told(memory) == []
    (memory.root / name).write_text("# User\n", encoding="utf-8")
    [one] = told(memory)
    assert (one.check, one.path) == ("copies", name)
    assert one.message == "it looks like a copy of USER.md that a program made"


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


class _Stuck:
    """A plugin that cannot decide about a day or a week."""

    reason = "the page, which nobody wrote, rests: it cannot be read"

    @hookimpl
    def consolidate_day(self, day: DayView) -> list[Step]:
        raise GateError("size", self.reason, "Write it anew")

    @hookimpl
    def consolidate_week(self, week: WeekView) -> list[Step]:
        raise GateError("size", self.reason, "Write it anew")


@pytest.mark.parametrize("kind", ["daily", "weekly"])
@pytest.mark.parametrize("bounds", [(3, 24), (2, 5)])
def test_a_job_that_really_fails_is_named_until_it_may_be_tried_again(
    memory: Memory, opening: Opening, clock: Clock, kind: str, bounds: tuple[int, int]
) -> None:
    """By the settings: so many failures, for so long; the wording of a reason decides nothing."""
    most, hours = bounds
    toml = memory.root / MARKER
    gates = f"[gates]\nmax_failures = {most}\nbreaker_hours = {hours}\n"
    toml.write_text(toml.read_text("utf-8") + gates, encoding="utf-8")
    put(memory, event("a", "The port was taken"))

    def is_tried(one: Memory) -> bool:
        try:
            [failed] = one.consolidate(kind)
        except GateError as error:
            assert error.gate == "breaker"
            return False
        assert _Stuck.reason in failed.failed
        return True

    opening.host.register(_Stuck(), "stuck")
    with Memory.open(memory.root, opening) as one:
        for number in range(1, most + 1):
            assert is_tried(one)
            (said,) = check_jobs(one)
            assert said.message.startswith(f"{kind} failed {number} times in a row")
            assert (said.severity is Severity.ERROR) == (number == most)
            assert said in told(one)
        assert not is_tried(one)
        clock.move(hours=hours, seconds=-1)
        assert not is_tried(one)
        clock.move(seconds=2)
        assert [found.severity for found in check_jobs(one)] == [Severity.WARNING]
        assert is_tried(one)
        assert [found.severity for found in check_jobs(one)] == [Severity.ERROR]
        list(fix(one, told(one)))
        assert list(check_jobs(one)) == []
        assert is_tried(one)


class _StuckAt:
    """A plugin that cannot decide about some days."""

    def __init__(self, *days: date) -> None:
        self.days = days

    @hookimpl
    def consolidate_day(self, day: DayView) -> list[Step]:
        if day.date in self.days:
            raise GateError("size", f"{day.date} cannot be read", "Write it anew")
        return []


def test_a_day_that_fails_each_time_rests_though_others_work(
    memory: Memory, opening: Opening
) -> None:
    put(memory, event("a", "The port was taken", age=9))
    opening.host.register(_StuckAt(days_ago(9).date()), "stuck")
    with Memory.open(memory.root, opening) as one:
        for number in (1, 2, 3):
            # A later day has news each time, and works.
            put(one, event(f"b{number}", "The ferry was late", age=9 - number))
            reports = one.consolidate("daily")
            assert [report.failed for report in reports if report.failed]
            assert any(report.id for report in reports)
            (said,) = check_jobs(one)
            assert said.message.startswith(f"daily failed {number} times in a row")
        assert said.severity is Severity.ERROR
        put(one, event("c", "The ferry was on time", age=2))
        with pytest.raises(GateError, match="breaker"):
            one.consolidate("daily")


def test_many_days_that_fail_at_once_keep_no_other_from_being_tried(
    memory: Memory, opening: Opening
) -> None:
    put(memory, *(event(f"e{age}", f"The port {age} was taken", age=age) for age in range(2, 8)))
    opening.host.register(_StuckAt(*(days_ago(age).date() for age in (7, 6, 5, 4))), "stuck")
    with Memory.open(memory.root, opening) as one:
        reports = one.consolidate("daily")
        assert len([report for report in reports if report.failed]) == 4
        assert len([report for report in reports if report.id]) == 2
        (said,) = check_jobs(one)
        assert said.message.startswith("daily failed 1 times in a row")


def test_failures_of_a_clock_that_was_ahead_rest_no_job_for_years(
    memory: Memory, clock: Clock
) -> None:
    right = clock()
    clock.set(right.replace(year=2038))
    breaker = Breaker(memory.store, memory.settings.gates)
    for _ in range(3):
        breaker.failed("daily", UsageError("the index is broken"), clock())
    assert [found.severity for found in check_jobs(memory)] == [Severity.ERROR]
    clock.set(right)
    assert [found.severity for found in check_jobs(memory)] == [Severity.WARNING]
    breaker.check("daily", clock())


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
    ] == "there are 4 more losing versions of sync tools"


def test_notes_about_conflicts_are_no_copies(memory: Memory) -> None:
    for name in ("conflicts in the team.md", "sync-conflict.md", "冲突.md", "merge_conflict.md"):
        (memory.root / name).write_text("x\n", encoding="utf-8")
    assert list(check_copies(memory)) == []


def test_a_misspelt_setting_is_found(memory: Memory) -> None:
    with (memory.root / MARKER).open("a", encoding="utf-8") as file:
        file.write("\n[recal]\nlimit = 3\n")
    (one,) = told(memory)
    assert "[recal]" in one.message and "[recall]" in one.remedy


@pytest.mark.parametrize("name", NAMES)
def test_a_losing_version_is_named_and_not_read(memory: Memory, name: str) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    card = next(h.unit for h in memory.recall("deploy port").hits if h.unit.kind != "turn")
    path = Path(card.path)
    losing = path.with_name(name.format(stem=path.stem))
    text = (memory.root / path).read_text(encoding="utf-8").replace("8080", "9999")
    (memory.root / losing).write_text(text, encoding="utf-8")
    assert {h.unit.path for h in memory.recall("deploy port 9999").hits} & {str(losing)} == set()
    assert memory.get(card.id).path == str(path)
    assert [f.path for f in doctor(memory) if f.check == "copies"] == [str(losing)]
    memory.index.refresh(full=True)
    assert {h.unit.path for h in memory.recall("deploy port 9999").hits} & {str(losing)} == set()


def test_a_losing_session_is_no_session(memory: Memory) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    [place] = sessions.places(memory.store)
    losing = place.path.replace(".jsonl", ".sync-conflict-20260227-101500-ABCDEFG.jsonl")
    (memory.root / losing).write_bytes((memory.root / place.path).read_bytes())
    assert status(memory).open_sessions == 1
    assert list(sessions.places(memory.store)) == [place]
    assert [f.path for f in doctor(memory) if f.check == "copies"] == [losing]


def test_a_note_about_conflicts_is_a_note(memory: Memory) -> None:
    page = memory.root / "git (how a merge conflict ends).md"
    page.write_text("# Marks\n\nA merge leaves marks of porcelain.\n", encoding="utf-8")
    assert {hit.unit.path for hit in memory.recall("porcelain").hits} == {page.name}
    assert [f for f in doctor(memory) if f.check == "copies"] == []


def test_an_id_that_stands_twice_is_named(memory: Memory) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    card = next(h.unit for h in memory.recall("deploy port").hits if h.unit.kind != "turn")
    shutil.copy(memory.root / card.path, memory.root / "semantic/general/zz.md")
    [found] = [f for f in verify(memory) if f.check == "notes"]
    assert found.path == "semantic/general/zz.md"
    assert f"the id of {card.path}" in found.message


def test_two_folders_with_one_memory_are_noticed(
    memory: Memory, tmp_path: Path, opening: Opening
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    shutil.copytree(memory.root, tmp_path / "copied")
    assert [f for f in doctor(memory) if f.check == "copies"] == []
    with Memory.open(tmp_path / "copied", opening) as other:
        other.remember("Bob likes coffee.", key="bob.coffee")
        for one, path in ((memory, other.root), (other, memory.root)):
            assert any(str(path) in f.message for f in doctor(one) if f.check == "folder")


def test_a_pull_that_brings_purged_text_back_is_named(memory: Memory, tmp_path: Path) -> None:
    memory.remember("My dentist is Doctor Abernathy.", key="health.dentist")
    memory.batch.flush()
    git(tmp_path, "clone", "-q", str(memory.root), "other")
    assert purge(memory, Doomed(("Abernathy",), ()), yes=True).done
    assert [f.message for f in verify(memory) if f.check == "purge"] == []
    broken = memory.root / "mid-term/jobs/purge-000000000000.json"
    broken.write_text("{", encoding="utf-8")
    how = ("pull", "-q", "--no-rebase", "--no-edit", "--allow-unrelated-histories", "-s", "ours")
    git(memory.root, *how, str(tmp_path / "other"), "main")
    [found] = [f for f in verify(memory) if f.check == "purge"]
    assert "a merge brought back what purge-" in found.message


def test_every_byte_is_in_one_part(tmp_path: Path) -> None:
    for name, size in {
        "USER.md": 3,
        "notes/deep/a.md": 5,
        "semantic/a/b.md": 7,
        "short-term/s.jsonl": 11,
        ".git/objects/x": 13,
        ".kimi/index/y": 17,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    (tmp_path / "link.md").symlink_to("/etc/services")
    link = (tmp_path / "link.md").lstat().st_size
    assert sizes(tmp_path) == {
        "derived": 17,
        "history": 13,
        "page": 8 + link,
        "semantic": 7,
        "short-term": 11,
    }


def test_status_tells_them(memory: Memory) -> None:
    found = status(memory).sizes
    assert found["history"] > 0 and found["page"] > 0


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (5 << 20, "5.0 MiB"),
        (5 << 40, "5120.0 GiB"),
    ],
)
def test_sizes_are_shown_in_the_fitting_unit(count: int, shown: str) -> None:
    assert shown_size(count) == shown
