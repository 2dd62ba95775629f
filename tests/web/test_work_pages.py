"""Jobs on pages: looked at first, run, shown with their diff, taken back."""

from __future__ import annotations

import re
import sys

from fakes.pages import Pages, Reader

from kimi_memory.domain.agent_run import Program, Task
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import UsageError
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.operations.forget import forget
from kimi_memory.operations.undo_many import newest_jobs
from kimi_memory.runs import Runs


def test_a_job_is_looked_at_run_and_taken_back(fresh: Pages) -> None:
    dry = fresh.sit() and fresh.post("/ui/jobs", {"kind": "daily", "dry": "1"})
    assert dry.status_code == 200
    shown = Reader(dry.text)
    assert [tag for tag, _ in shown.tags if tag == "ins"]
    assert "daily" not in Reader(fresh.read("/ui/jobs")).said.split("Did")[-1].casefold()
    ran = fresh.post("/ui/jobs", {"kind": "daily"})
    assert ran.status_code == 303
    job = re.search(r"job=(daily-[0-9a-f]+)", ran.headers["location"])
    assert job
    page = fresh.read(f"/ui/jobs/{job[1]}")
    assert "What it decided" in page
    assert "removes" in page or "puts back" in page
    undone = fresh.post(f"/ui/jobs/{job[1]}/undo", {})
    assert undone.status_code == 303
    assert fresh.get(f"/ui/jobs/{job[1]}").status_code == 404


def test_what_is_no_job_is_refused(pages: Pages) -> None:
    pages.read("/ui/jobs")
    assert pages.post("/ui/jobs", {"kind": "rm -rf", "dry": "1"}).status_code == 400
    assert pages.post("/ui/jobs/none/undo", {}).status_code == 404


def test_every_scheduled_job_can_be_looked_at(pages: Pages) -> None:
    pages.read("/ui/jobs")
    for kind in ("distil", "weekly", "introspect"):
        assert pages.post("/ui/jobs", {"kind": kind, "dry": "1"}).status_code == 200, kind


def test_jobs_say_when_they_are_due_and_whether_they_fail(fresh: Pages) -> None:
    memory = fresh.desk.memory
    breaker = Breaker(memory.store, memory.settings.gates)
    for _ in range(2):
        breaker.failed("weekly", UsageError("No room is left."), memory.clock())
    said = " ".join(Reader(fresh.read("/ui/jobs")).said.split())
    assert re.search(r"Daily ?03:15 ?never ran", said)
    assert "failed 2 times in a row: No room is left." in said
    assert "Runs of agents" not in said


def test_runs_of_agents_stand_with_their_end_and_their_session(fresh: Pages) -> None:
    memory = fresh.desk.memory
    program = Program("审稿", (sys.executable, "-c", "print('Two are open.')"))
    done = Runs(memory).run(Task("task-1", prompt="Which are open?"), program)
    bad = Program("builder", (sys.executable, "-c", "import sys; sys.exit(3)"))
    Runs(memory).run(Task("task-2", prompt="<b>Go on.</b>"), bad)
    page = fresh.read("/ui/jobs")
    said = " ".join(Reader(page).said.split())
    assert re.search(r"builder ?✗ failed", said) and re.search(r"审稿 ?✓ done", said)
    assert said.index("builder") < said.index("审稿"), "newest first"
    leads = [link for link in Reader(page).links() if link.startswith("/ui/sessions/")]
    assert f"/ui/sessions/{done.session}" in leads
    assert "Two are open." in fresh.read(f"/ui/sessions/{done.session}")


def test_jobs_say_in_words_what_they_were_about(fresh: Pages) -> None:
    memory = fresh.desk.memory
    replaced = next(one for one in newest_jobs(memory) if "SUPERSEDE" in str(one.operations))
    page = fresh.read(f"/ui/jobs/{replaced.id}", **{"accept-language": "zh-CN"})
    said = " ".join(Reader(page).said.split())
    assert "取代 我们决定数据库用 MongoDB" in said
    assert "card-" not in said.partition("撤销会")[0], "ids say nothing to a person"
    card = next(one.target for one in replaced.operations if one.op == "ADD")
    forget(memory, Wanted(note=card))
    said = " ".join(Reader(fresh.read("/ui/", **{"accept-language": "zh-CN"})).said.split())
    assert "遗忘: 数据库不用 MongoDB 了" in said
    said = " ".join(Reader(fresh.read("/ui/jobs")).said.split())
    assert "forgotten: 数据库不用 MongoDB 了" in said
    assert "1 forgotten" in said
