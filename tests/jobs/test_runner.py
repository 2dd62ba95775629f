"""Jobs: dry run, one commit, nothing twice, gates before bytes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.health import Severity
from kimi_memory.domain.job import Create, JobReport, Plan, Spent
from kimi_memory.domain.note import Card, Role, Status
from kimi_memory.errors import GateError, NotFoundError
from kimi_memory.jobs import runner
from kimi_memory.operations.doctor import verify
from kimi_memory.store.copy import checkpoint
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store
from tests.conftest import Clock


def talk(memory: Memory, id: str = "s", project: str = "菜谱") -> None:
    session = memory.session(id, project=project)
    session.turn(Role.USER, "数据库我们决定用 MongoDB，因为免费额度够用。")
    session.turn(Role.ASSISTANT, "好的。")
    session.turn(Role.USER, "规矩：周五不要发版。")
    session.turn(Role.USER, "教训：上次部署失败是因为没有备份，下次部署之前一定先备份。")
    memory.mark_ended(id)


def tree(root: Path) -> dict[str, str]:
    """Return the hash of every file but MEMORY.md, which is made anew of the others."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {".git", ".kimi", "MEMORY.md"} & set(path.parts)
    }


def test_a_dry_run_writes_no_byte(memory: Memory) -> None:
    talk(memory)
    before = tree(memory.root)
    report = memory.distil("s", dry_run=True)
    assert report.id
    assert "+value" in report.diff or "MongoDB" in report.diff
    assert tree(memory.root) == before


def test_a_job_is_one_commit_with_trailers(memory: Memory) -> None:
    talk(memory)
    report = memory.distil("s")
    [newest, *_] = memory.history.log(limit=1)
    assert newest.hash == report.commit
    assert newest.trailers["Job"] == report.id
    assert newest.trailers["Kind"] == "distil"
    assert newest.trailers["Model"] == "rules"
    assert newest.trailers["Ops"].startswith("ADD ")
    assert len(newest.trailers["Inputs"]) == 64


def test_a_batch_that_comes_due_meanwhile_leaves_a_job_its_commit(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(memory)
    flush = threading.Thread(target=memory.batch.flush)

    def sign_while_due(store: Store) -> dict[str, str]:
        if not flush.ident:  # The files of the job are placed, and not committed.
            flush.start()
            flush.join(0.5)
        return checkpoint(store)

    monkeypatch.setattr(runner, "checkpoint", sign_while_due)
    report = memory.distil("s")
    flush.join()
    trailers = [commit.trailers.get("Job") for commit in memory.history.log(limit=5)]
    assert report.id in trailers


def test_a_job_whose_commit_is_refused_is_done_and_its_commit_follows(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a person begins a rebase after the job had its look."""
    talk(memory)
    rebase = memory.root / ".git/rebase-merge"

    def sign_while_rebased(store: Store) -> dict[str, str]:
        rebase.mkdir()  # The files of the job are placed, and not committed.
        return checkpoint(store)

    memory.batch.flush()
    monkeypatch.setattr(runner, "checkpoint", sign_while_rebased)
    report = memory.distil("s")
    assert report.id and not report.commit and "history is behind" in report.left_out[-1]
    assert memory.batch.pending()
    rebase.rmdir()
    assert memory.batch.flush()
    assert memory.undo(report.id).id == report.id


_JOB_THAT_STOPS_BEFORE_ITS_COMMIT = """
import sys
from kimi_memory import Memory
from kimi_memory.jobs import runner
from kimi_memory.store.copy import checkpoint

def sign_after_a_line(store):  # The files of the job are placed, and not committed.
    print("placed", flush=True)
    sys.stdin.readline()
    return checkpoint(store)

with Memory.open(sys.argv[1]) as memory:
    runner.checkpoint = sign_after_a_line
    print(memory.distil("s").id, flush=True)
"""


def test_a_batch_of_another_process_leaves_a_job_its_commit(memory: Memory) -> None:
    talk(memory)
    command = [sys.executable, "-c", _JOB_THAT_STOPS_BEFORE_ITS_COMMIT, str(memory.root)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    flush = threading.Thread(target=memory.batch.flush)
    with subprocess.Popen(command, **pipes) as job:  # type: ignore[call-overload]  # three pipes
        assert job.stdout.readline() == "placed\n"
        memory.batch.note()
        flush.start()
        flush.join(2)
        said, _ = job.communicate("go on\n", timeout=60)
    flush.join()
    assert job.returncode == 0
    trailers = [commit.trailers.get("Job") for commit in memory.history.log(limit=5)]
    assert said.strip() in trailers


@pytest.mark.parametrize(
    "said",
    [
        ("We decided to use Redis for the queue.", "We decided to use RabbitMQ for the queue."),
        ("I live in Oslo.", "I live in Bergen.", "I live in Oslo."),
        (
            "数据库我们决定用 MongoDB。",
            "数据库我们决定用 PostgreSQL。",
            "不，数据库还是用 MongoDB。",
        ),
    ],
    ids=["decision", "there and back", "decision in Chinese"],
)
def test_a_session_that_decides_two_ways_is_distilled_once_and_for_all(
    memory: Memory, said: tuple[str, ...]
) -> None:
    """Cards were captured while it was said; the drafts of the session meet them."""
    session = memory.session("s")
    for text in said:
        session.turn(Role.USER, text)
    memory.mark_ended("s")
    assert memory.distil("s").id
    assert not memory.distil("s").id
    assert not [one.message for one in verify(memory) if one.severity is not Severity.OK]


def test_the_same_inputs_give_nothing_to_do(memory: Memory) -> None:
    talk(memory)
    first = memory.distil("s")
    before = tree(memory.root)
    assert first.id
    assert memory.distil("s") == JobReport("", "distil", "s")
    assert tree(memory.root) == before


def test_a_gate_stops_a_job_before_the_first_byte(memory: Memory, tmp_path: Path) -> None:
    toml = memory.root / "memory.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + "[gates]\nmax_files = 2\n", encoding="utf-8")
    with Memory.open(memory.root, _like(memory)) as strict:
        before = tree(memory.root)
        with pytest.raises(GateError, match="3 files would change, 2 may"):
            strict.run(_Wide())
        assert tree(memory.root) == before


class _Wide:
    """A job that writes three files."""

    kind = "wide"

    def plan(self, shelf: Shelf) -> Plan:
        pages = tuple(Create(f"inbox/{n}.md", b"one of three\n") for n in range(3))
        return Plan(kind=self.kind, subject="", inputs="0" * 64, changes=pages)


class _Costly:
    """A job that spent 101 tokens before it wrote a page."""

    kind = "costly"

    def plan(self, shelf: Shelf) -> Plan:
        page = Create("inbox/page.md", b"bought dearly\n")
        return Plan(
            kind=self.kind, subject="", inputs="0" * 64, changes=(page,), spent=Spent(1, 61, 40)
        )


def test_a_job_that_spent_too_much_writes_nothing(memory: Memory) -> None:
    toml = memory.root / "memory.toml"
    plain = toml.read_text(encoding="utf-8")
    toml.write_text(f"{plain}[gates]\nmax_tokens = 100\n", encoding="utf-8")
    with Memory.open(memory.root, _like(memory)) as strict:
        before = tree(memory.root)
        with pytest.raises(GateError, match="spent 101 tokens"):
            strict.run(_Costly())
        assert tree(memory.root) == before
    toml.write_text(f"{plain}[gates]\nmax_tokens = 101\n", encoding="utf-8")
    with Memory.open(memory.root, _like(memory)) as just_enough:
        assert just_enough.run(_Costly()).paths == ("inbox/page.md",)


def _like(memory: Memory):
    from kimi_memory import Opening
    from kimi_memory.api.options import Home
    from kimi_memory.hooks.host import Host

    base = memory.root.parent
    return Opening(
        home=Home(base / "config", base / "state"),
        clock=memory.clock,
        host=Host(entry_points=False),
        background=False,
    )


def test_two_runners_run_a_job_once(memory: Memory) -> None:
    talk(memory)
    with Memory.open(memory.root, _like(memory)) as other:
        reports: list[JobReport] = []
        threads = [
            threading.Thread(target=lambda m=m: reports.append(m.distil("s")))
            for m in (memory, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert sorted(bool(report.id) for report in reports) == [False, True]
    assert [c.trailers.get("Kind") for c in memory.history.log()].count("distil") == 1


def test_an_unknown_job_is_named(memory: Memory) -> None:
    with pytest.raises(NotFoundError, match="No job 'distil-nothing'"):
        memory.jobs.load("distil-nothing")


def test_a_job_can_be_named_by_its_beginning(memory: Memory) -> None:
    talk(memory)
    report = memory.distil("s")
    assert memory.jobs.load(report.id[:9]).id == report.id


def test_a_session_that_changes_its_mind_is_distilled(memory: Memory, clock: Clock) -> None:
    earlier = memory.session("a")
    earlier.turn(Role.USER, "I prefer SQLite as the database.")
    earlier.end()
    later = memory.session("b")
    for said in ("Remember: we use MySQL", "I prefer SQLite", "I prefer MySQL"):
        clock.move(seconds=7)
        later.turn(Role.USER, f"{said} as the database.")
    report = later.end()
    assert report.id
    assert memory.waiting() == []
    notes = (filed.note for filed in Shelf(memory.store).notes("card"))
    said = {note.value: note.status for note in notes if isinstance(note, Card)}
    # Nobody said that anything changed: both wait for a person.
    assert said["I prefer SQLite as the database."] is Status.CONFLICTED


def test_a_long_session_is_distilled_whatever_the_files_it_makes(memory: Memory) -> None:
    toml = memory.root / "memory.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + "[gates]\nmax_files = 5\n", encoding="utf-8")
    with Memory.open(memory.root, _like(memory)) as strict:
        session = strict.session("long")
        for n in range(8):
            session.turn("user", f"({n}) The harbour has {n + 20} berths this year.")
        assert len(strict.end("long").paths) > 15
