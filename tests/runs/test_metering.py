"""Metering: sums over real jobs and runs, which nothing counts twice."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.domain.agent_run import Program, Task, Usage
from kimi_memory.domain.job import Job, Spent
from kimi_memory.formats.job_file import job_json
from kimi_memory.runs import Runs
from kimi_memory.runs.metering import list_usage, sum_usage
from kimi_memory.runs.run_records import RUNS, read_runs, record_run

SAYS = json.dumps({"usage": {"calls": 1, "tokens_in": 800, "tokens_out": 60, "model": "qwen3"}})
SPEAKER = Program("worker", (sys.executable, "-c", f"print({SAYS!r})"))


@pytest.fixture
def memory(tmp_path: Path, home: Home) -> Iterator[Memory]:
    opening = Opening(home=home, background=False)
    with Memory.create(tmp_path / "shop", opening=opening) as memory:
        memory.remember("We decided to use PostgreSQL for orders because of cost.")
        for number in range(2):
            Runs(memory).run(Task(f"task-{number}", prompt="Go on."), SPEAKER)
        memory.recall("Which database?")
        yield memory


def one(rows: list[Usage], **wanted: str) -> Usage:
    (found,) = (
        row for row in rows if all(getattr(row, name) == value for name, value in wanted.items())
    )
    return found


def test_runs_and_jobs_are_summed_by_what_was_asked(memory: Memory) -> None:
    rows = list_usage(memory)
    by_model = sum_usage(rows, ("memory", "model"))
    used = one(by_model, memory="shop", model="qwen3")
    assert (used.calls, used.tokens_in, used.tokens_out) == (2, 1600, 120)
    by_agent = one(sum_usage(rows, ("agent",)), agent="worker")
    assert by_agent.wall_s > 0 and by_agent.tokens_in == 1600
    jobs = {row.job: row for row in sum_usage(rows, ("job",))}
    assert {"remember", "distil", "run"} <= jobs.keys() and jobs["remember"].writes >= 1
    (whole,) = sum_usage(rows, ())
    assert whole.reads >= 1 and whole.tokens_in == 1600
    assert whole.stored_bytes > sum((memory.root / RUNS).stat().st_size for _ in "x")


def test_a_record_that_stands_twice_counts_once(memory: Memory) -> None:
    before = sum_usage(list_usage(memory), ("model",))
    record_run(memory, read_runs(memory)[0])
    after = sum_usage(list_usage(memory), ("model",))
    assert [row.tokens_in for row in after] == [row.tokens_in for row in before]


def test_copies_and_forks_count_what_they_share_once(memory: Memory, home: Home) -> None:
    base = memory.root.parent
    shutil.copytree(memory.root, base / "copy")
    assert run(["fork", str(base / "fork"), "--name", "x", "--memory", str(memory.root)]) == 0
    rows, counted = list[Usage](), set[str]()
    for name in ("shop", "copy", "fork"):
        with Memory.open(base / name, Opening(home=home, background=False)) as one_of_them:
            rows += list_usage(one_of_them, counted=counted)
    assert one(sum_usage(rows, ("model",)), model="qwen3").tokens_in == 1600


def test_the_command_counts_what_its_folders_share_once(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    root = memory.root
    shutil.copytree(root, root.parent / "copy")
    for folders in ([root], [root, root.parent / "copy"], [root.parent]):
        assert run(["usage", *map(str, folders), "--by", "model", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert {row["model"]: row["tokens_in"] for row in found}["qwen3"] == 1600
    assert run(["usage", str(root), "--by", "", "--json"]) == 0
    (once,) = json.loads(capsys.readouterr().out)
    assert run(["usage", str(root), f"{root.parent}/./shop", "--by", "", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [once]


def test_only_what_is_late_enough_counts(memory: Memory) -> None:
    tomorrow = memory.now().date() + timedelta(days=1)
    late = [row for row in list_usage(memory, tomorrow) if row.calls or row.reads or row.writes]
    assert not late
    assert one(sum_usage(list_usage(memory, memory.now().date()), ("model",)), model="qwen3").calls


def test_a_model_that_a_job_asked_is_in_the_sums(memory: Memory) -> None:
    folder = memory.root / "mid-term/jobs"
    for name, spent in (("a", Spent(1, 10, 5)), ("b", Spent(2, 20, 7))):
        made = Job(f"distil-{name}", "distil", memory.clock(), name, model="gpt", spent=spent)
        (folder / f"distil-{name}.json").write_bytes(job_json(made))
    (folder / "distil-c.json").write_text("{", "utf-8")
    used = one(sum_usage(list_usage(memory), ("model", "job")), model="gpt", job="distil")
    assert (used.calls, used.tokens_in, used.tokens_out) == (3, 30, 12)


def test_the_command_prints_a_table_and_json(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(memory.root)
    assert run(["usage", folder, "--by", "memory,model"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:5] == ["MEMORY", "MODEL", "ASKED", "IN", "OUT"]
    assert any(row.split()[:5] == ["shop", "qwen3", "2", "1,600", "120"] for row in rows)
    assert run(["usage", str(memory.root.parent), "--by", "model", "--since", "1d", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["model"]: row["tokens_in"] for row in found}["qwen3"] == 1600
    assert run(["usage", folder, "--by", "colour"]) == 2
    assert run(["usage", folder, "--since", "soon"]) == 2
