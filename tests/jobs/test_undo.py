"""Undo: every byte as it was, or a refusal that names what is in the way."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import JobReport, Update, digest
from kimi_memory.domain.note import Card, Role, Status
from kimi_memory.domain.pages import Project, Todo
from kimi_memory.errors import GateError, HistoryError, NotFoundError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.formats.page_lines import BLANK, is_generated, sign_of, signed
from kimi_memory.jobs.pages import PAGE, is_page
from kimi_memory.jobs.undo import take_back
from kimi_memory.operations.undo_many import undo_day
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.wal.records import Provenance
from tests.conftest import Clock
from tests.jobs.test_runner import talk, tree
from tests.test_copies import errors

AT = datetime(2026, 2, 27, 9, tzinfo=UTC)
PATH = "mid-term/projects/shop.md"
EMPTY = Project(id="project-1", created=AT, updated=AT, name="shop")


def test_undoing_a_distil_restores_the_tree(memory: Memory) -> None:
    talk(memory)
    before = tree(memory.root)
    assert "short-term/session_s.json" in before
    report = memory.distil("s")
    assert tree(memory.root) != before
    memory.undo(report.id)
    assert tree(memory.root) == before


def test_undoing_a_daily_job_restores_updated_pages(memory: Memory) -> None:
    talk(memory, "s")
    memory.distil("s")
    memory.consolidate("daily")
    talk(memory, "t")
    memory.distil("t")
    before = tree(memory.root)
    [report] = [report for report in memory.consolidate("daily") if report.id]
    assert tree(memory.root) != before
    memory.undo(report.id)
    assert tree(memory.root) == before


def test_an_undone_job_can_run_again_with_the_same_result(memory: Memory) -> None:
    talk(memory)
    first = memory.distil("s")
    after = tree(memory.root)
    memory.undo(first.id)
    again = memory.distil("s")
    assert again.id == first.id
    assert tree(memory.root) == after


def test_undo_leaves_a_commit_that_says_so(memory: Memory) -> None:
    talk(memory)
    report = memory.distil("s")
    memory.undo(report.id)
    assert memory.history.log(limit=1)[0].trailers["Undoes"] == report.id
    with pytest.raises(NotFoundError):
        memory.undo(report.id)


_UNDO_THAT_STOPS_BEFORE_ITS_COMMIT = """
import sys
from kimi_memory import Memory
from kimi_memory.jobs.runner import Jobs

def refresh_after_a_line(jobs, actor, behind):  # The files are placed, and not committed.
    print("placed", flush=True)
    sys.stdin.readline()

with Memory.open(sys.argv[1]) as memory:
    Jobs.refresh_pages = refresh_after_a_line
    memory.undo(sys.argv[2])
"""


def test_a_batch_of_another_process_leaves_an_undo_its_commit(memory: Memory) -> None:
    talk(memory)
    report = memory.distil("s")
    script = [sys.executable, "-c", _UNDO_THAT_STOPS_BEFORE_ITS_COMMIT]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    flush = threading.Thread(target=memory.batch.flush)
    with subprocess.Popen([*script, str(memory.root), report.id], **pipes) as undo:  # type: ignore[call-overload]  # three pipes
        assert undo.stdout.readline() == "placed\n"
        memory.batch.note()
        flush.start()
        flush.join(2)
        undo.communicate("go on\n", timeout=60)
    flush.join()
    assert undo.returncode == 0
    undone = [commit.trailers.get("Undoes") for commit in memory.history.log(limit=5)]
    assert report.id in undone


def test_a_file_edited_since_is_not_overwritten(memory: Memory) -> None:
    talk(memory)
    report = memory.distil("s")
    path = next(p for p in report.paths if p.startswith("semantic/"))
    file = memory.root / path
    file.write_text(file.read_text(encoding="utf-8") + "\nmy own line\n", encoding="utf-8")
    memory.undo(report.id)
    assert not file.exists()
    [kept] = (memory.root / "conflicts").iterdir()
    assert "my own line" in kept.read_text(encoding="utf-8")
    assert memory.history.log(limit=1)[0].trailers["Undoes"] == report.id
    assert errors(memory) == []


def test_what_was_corroborated_since_stays_with_the_later_evidence(
    memory: Memory, clock: Clock
) -> None:
    first = memory.remember("The deploy port is 8080.", key="deploy.port")
    clock.move(days=1)
    memory.remember("The deploy port is 8080.", key="deploy.port")
    [card] = [f.note for f in Shelf(memory.store).notes("card") if isinstance(f.note, Card)]
    assert len(card.quotes) == 2
    memory.undo(first.id)
    [left] = [f.note for f in Shelf(memory.store).notes("card") if isinstance(f.note, Card)]
    assert left.id == card.id
    assert left.quotes == card.quotes[1:]
    assert errors(memory) == []


def test_what_replaced_an_undone_statement_stands_alone(memory: Memory, clock: Clock) -> None:
    first = memory.remember("The anchor weighs 90 kg.", key="anchor")
    clock.move(days=1)
    second = memory.remember("The anchor weighs 95 kg now.", key="anchor")
    memory.undo(first.id)
    [left] = [f.note for f in Shelf(memory.store).notes("card") if isinstance(f.note, Card)]
    assert "95" in left.value
    assert errors(memory) == []
    memory.undo(second.id)
    assert errors(memory) == []


def test_what_was_said_again_and_replaced_then_stays_replaced(memory: Memory, clock: Clock) -> None:
    first = memory.remember("The anchor weighs 90 kg.", key="anchor")
    clock.move(days=1)
    memory.remember("The anchor weighs 90 kg.", key="anchor")
    clock.move(days=1)
    memory.remember("The anchor weighs 95 kg now.", key="anchor")
    memory.undo(first.id)
    cards = [f.note for f in Shelf(memory.store).notes("card") if isinstance(f.note, Card)]
    assert {("95" in card.value, card.status) for card in cards} == {
        (True, Status.ACTIVE),
        (False, Status.SUPERSEDED),
    }
    assert errors(memory) == []


def test_a_note_that_was_deleted_since_stays_deleted(memory: Memory, clock: Clock) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    clock.move(days=1)
    second = memory.remember("The deploy port is 8080.", key="deploy.port")
    [page] = (memory.root / "semantic").rglob("deploy.port*.md")
    page.unlink()
    memory.batch.note()
    memory.undo(second.id)
    assert not page.exists()


def test_what_waits_for_a_word_is_not_rewritten_by_an_undo(memory: Memory) -> None:
    report = memory.remember("The deploy port is 8080.", key="deploy.port")
    [page] = (memory.root / "semantic").rglob("deploy.port*.md")
    text = page.read_bytes().replace(b"8080", b"9999")
    waits = Provenance("external:remote", "a merge brought it")
    path = str(page.relative_to(memory.root))
    change = Update(path, digest(page.read_bytes()), text)
    memory.store.apply([change], memory.actor, waiting={path: waits})
    with pytest.raises(GateError, match=f"{path} changed since"):
        memory.undo(report.id)
    assert page.read_bytes() == text


def test_without_history_undo_says_why_it_cannot(memory: Memory) -> None:
    from tests.jobs.test_runner import _like

    toml = memory.root / "memory.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + "[history]\ngit = false\n", encoding="utf-8")
    with Memory.open(memory.root, _like(memory)) as plain:
        talk(plain)
        report = plain.distil("s")
        assert report.id
        with pytest.raises(HistoryError):
            plain.undo(report.id)


def live_through(memory: Memory, clock: Clock) -> list[JobReport]:
    """Live through two days that each decide about one thing; return their daily jobs."""
    jobs = []
    days = (("MongoDB", "orders", "deploy failed"), ("Redis", "cache", "invoice import broke"))
    for name, use, what in days:
        session = memory.session(f"s-{use}", project="shop")
        session.turn(Role.USER, f"We decided to use {name} for the {use} store, as it is fast.")
        why = f"of missing backups of {name}; always back up first."
        session.turn(Role.USER, f"Lesson: the {what} because {why}")
        session.end()
        jobs += memory.consolidate("daily")
        clock.move(days=1)
    return jobs


def test_a_daily_job_is_undone_after_the_next_one_ran(memory: Memory, clock: Clock) -> None:
    first, second = live_through(memory, clock)
    page = memory.root / "mid-term/projects/shop.md"
    page.write_text(f"{page.read_text()}\nA line of mine.\n", encoding="utf-8")
    memory.undo(first.id)
    text = page.read_text()
    assert "MongoDB" not in text
    assert "Redis" in text
    assert "A line of mine." in text
    assert not (memory.root / "episodic/daily/2026-02-27.md").exists()
    assert "MongoDB" in (memory.root / "semantic/shop.md").read_text(), "its cards stand"
    memory.undo(second.id)
    assert "Redis" not in page.read_text()


def test_a_day_is_undone_after_the_next_one_ran(memory: Memory, clock: Clock) -> None:
    first, _ = live_through(memory, clock)
    assert first.id in {job.id for job in undo_day(memory, date(2026, 2, 27))}
    assert "Redis" in (memory.root / "mid-term/projects/shop.md").read_text()


def test_a_project_page_that_cannot_be_read_is_no_reason_to_lose_it(
    memory: Memory, clock: Clock
) -> None:
    first, _ = live_through(memory, clock)
    page = memory.root / "mid-term/projects/shop.md"
    page.write_text("---\nid: [\n", encoding="utf-8")
    with pytest.raises(GateError, match=r"mid-term/projects/shop\.md changed since"):
        memory.undo(first.id)
    assert page.read_text() == "---\nid: [\n"


def bytes_of(page: Project) -> bytes:
    return codec.render(page).encode()


def test_what_a_job_added_goes_and_what_it_took_out_comes_back() -> None:
    before = replace(EMPTY, progress=("a",), decisions=("old",), todos=(Todo("t"),))
    after = replace(before, progress=("a", "b"), decisions=("new",))
    now = replace(after, progress=("a", "b", "c"), todos=(Todo("t", done=True), Todo("mine")))
    found = take_back(PATH, bytes_of(before), bytes_of(after), bytes_of(now))
    assert found is not None
    page = codec.parse(decode(found, PATH), PATH)
    assert isinstance(page, Project)
    assert (page.progress, page.decisions) == (("a", "c"), ("old",))
    assert page.todos[:2] == (Todo("t", done=True), Todo("mine"))


@pytest.mark.parametrize(
    ("path", "after", "now"),
    [
        ("semantic/general/a.md", bytes_of(EMPTY), bytes_of(EMPTY)),
        (PATH, bytes_of(EMPTY), b""),
        (PATH, b"---\nid: [\n", bytes_of(EMPTY)),
        (PATH, bytes_of(EMPTY), b"---\nid: [\n"),
    ],
    ids=["another page", "gone", "cannot be read", "is not read"],
)
def test_where_nobody_can_tell_nothing_is_taken_back(path: str, after: bytes, now: bytes) -> None:
    assert take_back(path, b"", after, now) is None


@pytest.mark.parametrize("waits", [False, True])
def test_a_generated_page_that_went_on_keeps_no_job_from_being_undone(
    memory: Memory, clock: Clock, waits: bool
) -> None:
    """Not even one that a merge brought and that waits: it is made anew of the cards."""
    talk(memory)
    memory.distil("s")
    daily = memory.consolidate("daily")[-1]
    [path] = [path for path in daily.paths if is_page(path) and path != PAGE][:1]
    page = memory.root / path
    text = page.read_text("utf-8")
    forged = signed(text.replace(sign_of(text), BLANK).replace("# ", "# Forged ", 1))
    assert is_generated(forged) and forged != text
    brought = {path: Provenance("external:remote", "a merge brought it")} if waits else {}
    change = Update(path, digest(page.read_bytes()), forged.encode())
    memory.store.apply([change], memory.actor, waiting=brought)
    assert (memory.store.vetting.standing(path, page.read_bytes()).cap is not None) == waits
    memory.undo(daily.id)
    assert "Forged" not in (page.read_text("utf-8") if page.exists() else "")
