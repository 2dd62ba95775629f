"""The daily and weekly jobs: what they see, what they leave, and that they run once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.domain.job import DayView, Op, Step
from kimi_memory.domain.note import EventType, Link, LinkRel, Role, Status
from kimi_memory.domain.pages import Day, Identity, Project, Proposal
from kimi_memory.formats import codec
from kimi_memory.store.files import disk
from kimi_memory.store.notes.note_index import FILE
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.jobs.notes import card, event, put
from tests.jobs.test_runner import talk, tree


@pytest.fixture
def lived(memory: Memory) -> Memory:
    """A memory with one distilled session."""
    talk(memory)
    memory.distil("s")
    return memory


def test_the_daily_job_writes_project_day_and_overview(lived: Memory) -> None:
    [report] = lived.consolidate("daily")
    assert report.subject == "2026-02-27"
    shelf = Shelf(lived.store)
    [project] = [filed.note for filed in shelf.notes("project")]
    assert isinstance(project, Project)
    assert project.name == "菜谱"
    assert any("MongoDB" in line for line in project.decisions)
    [day] = [filed.note for filed in shelf.notes("day")]
    assert isinstance(day, Day)
    assert day.date == date(2026, 2, 27)
    assert day.sessions[:2] == (
        "09:00 user：数据库我们决定用 MongoDB，因为免费额度够用。 [[session_s#^t1|#1]]",
        "09:00 user：规矩：周五不要发版。 [[session_s#^t3|#3]]",
    )
    assert len(day.events) >= 2
    assert "MongoDB" in lived.store.read("MEMORY.md").decode()


@pytest.mark.parametrize("period", ["daily", "weekly"])
def test_a_second_run_does_nothing(lived: Memory, period: str) -> None:
    lived.consolidate("daily")
    lived.consolidate("weekly")
    before = tree(lived.root)
    assert lived.consolidate(period) == []
    assert tree(lived.root) == before


def test_missed_days_run_in_order(memory: Memory, clock) -> None:
    for id in ("a", "b", "c"):
        talk(memory, id)
        memory.distil(id)
        clock.move(days=1)
    done = [report.subject for report in memory.consolidate("daily") if report.id]
    assert done == ["2026-02-27", "2026-02-28", "2026-03-01"]


def test_news_of_a_done_day_are_folded_in(lived: Memory) -> None:
    lived.consolidate("daily")
    session = lived.session("later", project="菜谱")
    session.turn("user", "编辑器我们决定用 VS Code，因为快捷键都背熟了。")
    session.turn("assistant", "好。")
    session.end()
    [report] = lived.consolidate("daily")
    assert report.id
    [project] = [filed.note for filed in Shelf(lived.store).notes("project")]
    assert isinstance(project, Project)
    assert any("VS Code" in line for line in project.decisions)
    assert any("MongoDB" in line for line in project.decisions)


def test_the_weekly_job_appends_growth_and_proposes_beliefs(lived: Memory) -> None:
    lived.consolidate("daily")
    identity_before = _identity(lived)
    [report] = lived.consolidate("weekly")
    assert report.subject == "2026-W09"
    identity = _identity(lived)
    assert identity.beliefs == identity_before.beliefs
    assert len(identity.growth) == 1
    assert identity.growth[0].startswith("2026-02-23")
    assert any(path.startswith("review/") for path in report.paths)


def test_a_proposal_that_waits_is_not_made_again_as_the_week_goes_on(
    lived: Memory, clock: Clock
) -> None:
    lived.consolidate("weekly")
    [path] = lived.store.files("review")
    before = lived.store.read(path)
    clock.move(minutes=7)
    put(lived, event("new", "The build ran for the first time.", type=EventType.SUCCESS))
    [report] = lived.consolidate("weekly")
    assert [step.op for step in report.operations] == [Op.REFINE]  # The line of growth.
    assert lived.store.read(path) == before


def test_a_proposal_follows_its_card_while_it_waits(lived: Memory, clock: Clock) -> None:
    lived.consolidate("weekly")
    [path] = lived.store.files("review")
    clock.move(minutes=7)
    [filed] = [f for f in Shelf(lived.store).notes("card") if "周五不要发版" in f.text]
    (lived.root / filed.path).write_text(filed.text.replace("周五", "周六"), encoding="utf-8")
    lived.take_edits()
    session = lived.session("later", project="菜谱")
    session.turn("user", "编辑器我们决定用 VS Code，因为快捷键都背熟了。")
    session.end()
    lived.consolidate("weekly")
    [found] = [filed.note for filed in Shelf(lived.store).notes("proposal") if filed.path == path]
    assert isinstance(found, Proposal)
    assert "周六不要发版" in found.text


def test_confirming_a_link_leaves_the_rest_of_the_week_alone(lived: Memory, clock: Clock) -> None:
    tied = Link("card-b", LinkRel.SIMILAR_TO, 0.9, "suggested: 0.90 alike")
    put(lived, card("a", "Eleven desks stand there.", links=(tied,)), card("b", "Chairs, too."))
    [report] = lived.consolidate("weekly")
    assert Op.LINK in {step.op for step in report.operations}
    before = tree(lived.root)
    clock.move(minutes=7)
    lived.consolidate("weekly")
    assert tree(lived.root) == before


def _identity(memory: Memory) -> Identity:
    [note] = [filed.note for filed in Shelf(memory.store).notes("identity")]
    assert isinstance(note, Identity)
    return note


def test_a_finished_project_moves_to_the_archive_and_back_by_undo(lived: Memory) -> None:
    lived.consolidate("daily")
    session = lived.session("done", project="菜谱")
    session.turn(
        "user",
        "小程序今天正式上线，项目完成，效果很好。关键是每天晚上上线一个小功能，这个做法以后继续用。",
    )
    session.turn("assistant", "恭喜！")
    session.end()
    lived.consolidate("daily")
    path = "mid-term/projects/菜谱.md"
    page = lived.store.read(path).decode()
    lived.store.apply([_update(path, page, page + "\n## 待办\n\n- [x] 上线\n")], lived.actor)
    before = tree(lived.root)
    [report] = lived.consolidate("weekly")
    assert lived.store.exists("mid-term/projects/archive/菜谱.md")
    assert not lived.store.exists(path)
    lived.undo(report.id)
    assert tree(lived.root) == before


def _update(path: str, old: str, new: str):
    from kimi_memory.domain.job import Update, digest

    return Update(path, digest(old.encode()), new.encode())


def test_a_dry_run_of_a_period_writes_no_byte(lived: Memory) -> None:
    before = tree(lived.root)
    [report] = lived.consolidate("daily", dry_run=True)
    assert "episodic/daily/2026-02-27.md" in report.diff
    assert tree(lived.root) == before


def test_settings_decide_what_is_important_and_what_is_stale(
    memory: Memory, opening, clock
) -> None:
    toml = memory.root / "memory.toml"
    more = "[consolidation]\ndaily_importance = 0.99\nstale_days = 3\n"
    toml.write_text(toml.read_text(encoding="utf-8") + more, encoding="utf-8")
    seen = []

    class Watch:
        @hookimpl
        def consolidate_day(self, day):
            seen.append((day.min_importance, day.stale_days))
            return []

    opening.host.register(Watch(), "watch")
    with Memory.open(memory.root, opening) as strict:
        strict.remember("我住在成都", key="me.city", type="fact")
        strict.remember("还要给成都的房东回信", key="task.letter", type="task-state")
        clock.move(days=4)
        talk(strict, "later")
        strict.distil("later")
        strict.consolidate("daily")
        statuses = {e.key: e.status for e in Shelf(strict.store).entries().values()}
    assert set(seen) == {(0.99, 3)}
    assert (statuses["me.city"], statuses["task.letter"]) == ("active", "stale")
    assert statuses["decision.database"] == "active"


@pytest.mark.parametrize("meddle", ["deleted", "damaged"])
def test_jobs_do_the_same_with_and_without_what_they_kept(
    tmp_path: Path, opening: Opening, clock, monkeypatch: pytest.MonkeyPatch, meddle: str
) -> None:
    monkeypatch.setattr(disk, "_FEW", 0)
    start, trees = clock.now, []
    for name in ("kept", meddle):
        clock.set(start)
        trees.append(_three_days(tmp_path / name, opening, clock, name))
    assert trees[0] == trees[1]


def _three_days(root: Path, opening: Opening, clock, meddle: str) -> list[dict[str, str]]:
    """Live three days with edits from outside between the jobs; return the tree after each."""
    Memory.create(root, opening=opening).close()
    found = []
    for number in range(3):
        with Memory.open(root, opening) as memory:
            talk(memory, f"s{number}", "菜谱" if number else "Atlas")
            soon = clock.now + timedelta(hours=30)
            old = card(f"old{number}", f"Value {number}", age=29.5)
            put(memory, old, card(f"brief{number}", f"房间号是 {number}", expires=soon))
            memory.distil(f"s{number}")
            memory.consolidate("daily")
            files = tree(root)
            del files["memory.toml"]  # It names the memory, each by a name of its own.
            found.append(files)
        _meddle(root / FILE, meddle)
        _edit(root, number)
        clock.move(days=1)
    return found


def _meddle(place: Path, how: str) -> None:
    assert place.is_file()
    match how:
        case "deleted":
            place.unlink()
        case "damaged":
            place.write_bytes(place.read_bytes()[:-40])


def _edit(root: Path, number: int) -> None:
    """Change a card, a line of the overview, and take a card away, in an editor."""
    path = root / codec.place(card(f"old{number}", ""))
    path.write_text(path.read_text("utf-8").replace("Value", "Worth"), "utf-8")
    page = root / "MEMORY.md"
    page.write_text(page.read_text("utf-8").replace("周五不要发版", "周五和周六不要发版"), "utf-8")
    place = root / codec.place(card(f"brief{number}", ""))
    place.rename(place.with_name(f"moved{number}.md"))


def test_a_damaged_open_session_is_named_and_the_rest_goes_on(memory: Memory) -> None:
    talk(memory, "whole")
    memory.session("broken").turn(Role.USER, "We decided to use SQLite as the database.")
    path = memory.root / "short-term/session_broken.jsonl"
    path.write_bytes(b"\x00\xffnot a record\n" + path.read_bytes())
    damaged, distilled = memory.distil_waiting()
    assert damaged.subject == "broken"
    assert "short-term/session_broken.jsonl:1" in damaged.failed
    assert "git log -p" in damaged.failed
    assert distilled.id
    assert [report.subject for report in memory.consolidate("daily")] == ["2026-02-27"]


def test_a_damaged_archive_keeps_no_day_from_its_job(lived: Memory) -> None:
    [path] = lived.root.glob("episodic/sessions/*/session_s.jsonl")
    path.write_bytes(b"not a record\n" + path.read_bytes())
    [day] = lived.consolidate("daily")
    assert day.id
    assert not day.failed


def test_a_day_that_fails_keeps_no_other_from_its_job(memory: Memory, clock: Clock) -> None:
    for id in ("a", "b"):
        talk(memory, id)
        memory.distil(id)
        clock.move(days=1)
    put(memory, *(card(str(n), "x") for n in range(20)))
    memory.host.register(_FailsOnce(), "fails-once")
    first, second = memory.consolidate("daily")
    assert (first.subject, first.id) == ("2026-02-27", "")
    assert "Look at the plan with --dry-run" in first.failed
    assert second.id


class _FailsOnce:
    """A plugin whose first day would archive all that is known."""

    @hookimpl
    def consolidate_day(self, day: DayView) -> list[Step]:
        if day.date != date(2026, 2, 27):
            return []
        gone = (replace(card(str(n), "x"), status=Status.ARCHIVED) for n in range(20))
        return [Step(Op.ARCHIVE, one, "all must go") for one in gone]


def test_sixty_chats_of_one_day_fit_its_page(memory: Memory) -> None:
    things = ("kayak", "piano", "greenhouse", "loom", "telescope", "barn", "cello", "forge")
    for number in range(60):
        with memory.session(f"chat-{number}") as chat:
            for round, thing in enumerate(things[number % 5 : number % 5 + 2]):
                words = f"My {thing} number {number} arrived from town {number * 7 + round}"
                chat.turn(Role.USER, f"{words}, and its frame is {number + 40} cm wide. " * 4)
                chat.turn(Role.ASSISTANT, f"Noted: {words}. " * 12)
    assert memory.distil_waiting() == []
    assert [report.failed for report in memory.consolidate("daily")] == [""]
    [page] = (memory.root / "episodic/daily").glob("*.md")
    assert 0 < page.stat().st_size < 64 * 1024
    assert memory.consolidate("daily") == []


NIGHT = datetime(2026, 11, 22, 18, 36, tzinfo=UTC)
"""02:36 on the 23rd in Shanghai, 00:06 on the 23rd in Kolkata."""


def in_zone(memory: Memory, opening: Opening, name: str) -> Memory:
    """Return the same memory, opened again in another time zone."""
    marker = memory.root / "memory.toml"
    lines = [line for line in marker.read_text("utf-8").splitlines() if "timezone" not in line]
    lines.insert(lines.index("[memory]") + 1, f'timezone = "{name}"')
    marker.write_text("\n".join(lines) + "\n", "utf-8")
    memory.close()
    return Memory.open(memory.root, opening)


def days(memory: Memory) -> dict[str, str]:
    """Return the pages of days by their date."""
    found = sorted((memory.root / "episodic/daily").glob("*.md"))
    return {path.stem: path.read_text("utf-8") for path in found}


def test_a_night_is_of_the_persons_day(memory: Memory, opening: Opening, clock: Clock) -> None:
    clock.set(NIGHT)
    memory = in_zone(memory, opening, "Asia/Shanghai")
    talk(memory)
    memory.distil("s")
    clock.move(hours=20)
    assert [report.subject for report in memory.consolidate("daily")] == ["2026-11-23"]
    assert list(days(memory)) == ["2026-11-23"]
    assert "02:36 " in days(memory)["2026-11-23"]
    events = [e for e in Shelf(memory.store).entries().values() if e.kind in ("event", "digest")]
    assert events and all("episodic/20261123_" in entry.path for entry in events)
    text = memory.store.read(events[0].path).decode()
    assert "2026-11-23 02:36 +08:00" in text and "at: 2026-11-22T18:36:00" in text
    [project] = [f.note for f in Shelf(memory.store).notes("project")]
    assert isinstance(project, Project) and all("2026-11-23" in d for d in project.decisions)
    assert "(2026-11-22" not in memory.store.read("MEMORY.md").decode()
    [hit, *_] = memory.recall("昨天定的数据库", limit=3).hits
    assert f"{hit.unit.at:%Y-%m-%d %H:%M}" == "2026-11-23 02:36"
    assert memory.consolidate("daily") == []
    memory.close()


def test_what_was_remembered_at_night_is_of_that_day(
    memory: Memory, opening: Opening, clock: Clock
) -> None:
    clock.set(NIGHT)
    memory = in_zone(memory, opening, "Asia/Kolkata")
    memory.remember("The deploy of Atlas moved to Nomad.", key="atlas.deploy")
    memory.consolidate("daily")
    assert list(days(memory)) == ["2026-11-23"] and "Nomad" in days(memory)["2026-11-23"]
    memory.close()


def test_pages_of_another_zone_move_and_keep_what_people_wrote(
    memory: Memory, opening: Opening, clock: Clock
) -> None:
    memory = in_zone(memory, opening, "UTC")
    clock.set(NIGHT)
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    [page] = days(memory).values()
    heading = "## 当日事件\n\n"
    assert heading in page
    mine = page.replace(heading, f"{heading}- 09:30 和小王吃了早饭\n")
    (memory.root / "episodic/daily/2026-11-22.md").write_text(mine, "utf-8")
    memory = in_zone(memory, opening, "Asia/Shanghai")
    clock.move(hours=20)
    memory.consolidate("daily")
    old, new = days(memory)["2026-11-22"], days(memory)["2026-11-23"]
    assert "和小王吃了早饭" in old and "MongoDB" not in old and "session_s" not in old
    assert "MongoDB" in new and "session_s" in new and "小王" not in new
    [project] = [f.note for f in Shelf(memory.store).notes("project")]
    assert isinstance(project, Project) and len(project.decisions) == 1
    assert memory.consolidate("daily") == []
    memory = in_zone(memory, opening, "UTC")
    memory.consolidate("daily")
    assert list(days(memory)) == ["2026-11-22"]
    assert "MongoDB" in days(memory)["2026-11-22"] and "小王" in days(memory)["2026-11-22"]
    memory.close()


def test_a_page_that_loses_its_day_goes_and_comes_back_with_undo(
    memory: Memory, opening: Opening, clock: Clock
) -> None:
    memory = in_zone(memory, opening, "UTC")
    clock.set(NIGHT)
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    before = days(memory)
    memory = in_zone(memory, opening, "Asia/Shanghai")
    clock.move(hours=20)
    jobs = [report.id for report in memory.consolidate("daily")]
    assert list(days(memory)) == ["2026-11-23"]
    for job in reversed(jobs):
        memory.undo(job)
    assert days(memory) == before
    memory.close()
