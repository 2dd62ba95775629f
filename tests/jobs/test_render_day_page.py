"""The page of a day: what a person changed on it stays when the daily job runs again."""

from __future__ import annotations

from pathlib import Path

from kimi_memory import Memory
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import Role
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.pages import Day
from kimi_memory.formats import codec
from kimi_memory.jobs.render import with_edits
from kimi_memory.operations.forget import forget
from kimi_memory.store.notes.notes import Shelf
from tests.jobs.edited_pages import page, write
from tests.jobs.test_runner import talk
from tests.merge.values import NOW
from tests.test_copies import git

PATH = "episodic/daily/2026-02-27.md"


def again(memory: Memory, id: str) -> None:
    """A further session on the same day, and the daily job once more."""
    session = memory.session(id)
    session.turn(Role.USER, "We decided to use Vite for the frontend because it is fast.")
    session.turn(Role.ASSISTANT, "ok")
    session.end()
    memory.consolidate("daily", memory.clock().date())


def test_lines_added_and_taken_out_stay_so(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    lines = page(memory, PATH).splitlines(keepends=True)
    out = next(line for line in lines if "MongoDB" in line)
    heading = next(n for n, line in enumerate(lines) if "当日事件" in line)
    lines.insert(heading + 2, "- 09:30 和小王吃了早饭\n")
    lines.remove(out)
    write(memory, "".join(lines), PATH)
    for id in ("t", "u"):
        again(memory, id)
        text = page(memory, PATH)
        assert "Vite" in text and f"[[session_{id}#^t" in text
        assert "- 09:30 和小王吃了早饭" in text
        assert out not in text


def test_a_line_that_was_forgotten_does_not_come_back(memory: Memory) -> None:
    memory.remember("My dentist is Doctor Abernathy in Oslo.", key="health.dentist")
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    lines = page(memory, PATH).splitlines(keepends=True)
    heading = next(n for n, line in enumerate(lines) if "新增知识" in line)
    lines.insert(heading + 2, "- 我自己写的：My dentist is Doctor Abernathy in Oslo.\n")
    write(memory, "".join(lines), PATH)
    again(memory, "t")
    assert "我自己写的" in page(memory, PATH)
    forget(memory, Wanted(key="health.dentist"))
    assert "Abernathy" not in page(memory, PATH)
    again(memory, "u")
    assert "Abernathy" not in page(memory, PATH)


def test_a_page_nobody_edited_is_what_the_job_makes_of_the_day(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    before = page(memory, PATH)
    again(memory, "t")
    assert set(before.splitlines()) < set(page(memory, PATH).splitlines())


def test_a_page_that_cannot_be_read_is_not_rewritten(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    broken = page(memory, PATH).replace("kind: day", "kind: [day")
    write(memory, broken, PATH)
    again(memory, "t")
    assert page(memory, PATH) == broken


def test_an_edit_in_another_copy_takes_out_nothing_that_only_this_one_had(
    memory: Memory, tmp_path: Path
) -> None:
    def write_day(root: Path, *lines: str) -> bytes:
        day = Day(id="day-1", created=NOW, updated=NOW, date=NOW.date(), knowledge=lines)
        content = codec.render(day).encode()
        (root / PATH).parent.mkdir(parents=True, exist_ok=True)
        (root / PATH).write_bytes(content)
        return content

    kind = {"Kind": "daily"}
    write_day(memory.root, "before")
    memory.history.commit("daily: 1", trailers=kind, only=[PATH])
    git(tmp_path, "clone", "-q", str(memory.root), "other")
    write_day(tmp_path / "other", "before", "我写的")
    git(tmp_path / "other", "add", PATH)
    git(tmp_path / "other", "commit", "-qm", "By hand")
    write_day(memory.root, "before", "of this one")
    memory.history.commit("daily: 2", trailers=kind, only=[PATH])
    git(memory.root, "fetch", "-q", str(tmp_path / "other"), "main")
    merger = memory.history.merger()
    whole = write_day(memory.root, "before", "of this one", "我写的")
    theirs = git(memory.root, "rev-parse", "FETCH_HEAD").strip()
    merger.publish(merger.commit(theirs, {PATH: whole}))
    write_day(memory.root, "before", "of this one", "我写的", "and now")
    told = ("of this one", "today")
    new = Day(id="day-1", created=NOW, updated=NOW, date=NOW.date(), knowledge=told)
    step = with_edits(Step(Op.REFINE, new, ""), Shelf(memory.store), memory.history)
    assert isinstance(step.note, Day)
    assert step.note.knowledge == (*told, "我写的", "and now")
