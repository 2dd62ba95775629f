"""The registry of jobs: it names every job, and whoever reads it needs no other list."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job_registry import JOBS, find_job, followers, periodic, scheduled
from kimi_memory.errors import NotFoundError
from kimi_memory.jobs.planner import load_planner

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_every_planner_is_there_and_bears_the_name_of_its_job(job) -> None:
    planner = load_planner(job)
    assert callable(planner)
    assert getattr(planner, "kind", job.name) == job.name


def test_every_kind_of_job_in_the_sources_has_an_entry() -> None:
    name = r'"([\w-]+)"'
    said = re.compile(
        rf"""^    kind = {name}$|^_?KIND = {name}$|OneJob\({name},|kind={name},$""", re.M
    )
    texts = (
        path.read_text(encoding="utf-8")
        for folder in ("kimi_memory/jobs", "kimi_memory/operations", "plugins")
        for path in (ROOT / folder).rglob("*.py")
    )
    kinds = {name for text in texts for names in said.findall(text) for name in names if name}
    # a purge files a record, but rewrites history, so it is none of the jobs that can be undone
    assert kinds - {"purge"} == {job.name for job in JOBS}


def test_what_follows_a_job_of_one_week_has_no_time_of_its_own() -> None:
    assert [job.name for job in followers("weekly", dated=False)] == ["skills", "introspect"]
    assert [job.name for job in followers("weekly", dated=True)] == ["skills"]


def test_only_jobs_over_days_and_weeks_take_a_date() -> None:
    assert {"daily", "weekly", "introspect"} <= {job.name for job in scheduled()}
    assert [job.name for job in periodic()] == ["daily", "weekly"]


def test_a_job_that_is_none_is_named(memory: Memory) -> None:
    with pytest.raises(NotFoundError, match="No job 'hourly'"):
        memory.consolidate("hourly")
    with pytest.raises(NotFoundError, match="No job 'hourly'"):
        find_job("hourly")


TIDY = '''"""Tidying: notes in the inbox are dropped."""

from __future__ import annotations

from kimi_memory.domain.job import Delete, digest
from kimi_memory.domain.job import Plan, digest_of
from kimi_memory.jobs.planner import JobContext
from kimi_memory.store.notes.notes import Shelf


class Tidy:
    """Plans which notes are dropped."""

    kind = "tidy-up"

    def __init__(self, context: JobContext) -> None:
        self._store = context.store

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the files as they are."""
        paths = [path for path in self._store.files("inbox") if path.endswith(".txt")]
        changes = tuple(Delete(path, digest(self._store.read(path))) for path in paths)
        return Plan(kind=self.kind, subject="inbox", inputs=digest_of(paths), changes=changes)
'''
ENTRY = """JOBS = (
    JobEntry(name="tidy-up", summary="Drop notes", planner="jobs.tidy.Tidy", time="mon 06:00"),
"""


@pytest.fixture
def with_a_job(tmp_path: Path) -> Path:
    """Return a copy of the program to which a job was added as docs/adding-jobs.md says."""
    code = tmp_path / "code"
    shutil.copytree(ROOT / "kimi_memory", code / "kimi_memory")
    for name in ("plugins", "templates"):
        shutil.copytree(ROOT / name, code / "kimi_memory" / name)
    registry = code / "kimi_memory/domain/job_registry.py"
    text = registry.read_text(encoding="utf-8")
    registry.write_text(text.replace("JOBS = (\n", ENTRY, 1), encoding="utf-8")
    (code / "kimi_memory/jobs/tidy.py").write_text(TIDY, encoding="utf-8")
    return code


def test_a_job_that_is_added_as_the_docs_say_is_everywhere(
    with_a_job: Path, memory: Memory, tmp_path: Path
) -> None:
    memory.close()
    (memory.root / "inbox").mkdir()
    (memory.root / "inbox/old.txt").write_text("no longer needed", encoding="utf-8")
    with (memory.root / "memory.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[schedule]\ntidy-up = "tue 07:30"\n')
    # The copy's lines are not the program's: they are left out of what the suite covers.
    environ = {name: v for name, v in os.environ.items() if not name.startswith("COVERAGE_")}
    environ |= {"PYTHONPATH": str(with_a_job), "XDG_CONFIG_HOME": str(tmp_path)}

    def run(*words: str) -> str:
        argv = [sys.executable, "-m", "kimi_memory", *words, "--memory", str(memory.root)]
        done = subprocess.run(
            argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    assert "inbox/old.txt" in run("consolidate", "tidy-up", "--dry-run")
    assert (memory.root / "inbox/old.txt").exists()
    [report] = json.loads(run("consolidate", "tidy-up", "--json"))
    assert report["paths"] == ["inbox/old.txt"]
    assert not (memory.root / "inbox/old.txt").exists()
    run("undo")
    assert (memory.root / "inbox/old.txt").read_text(encoding="utf-8") == "no longer needed"
    assert "30 7 * * 2 " in run("schedule", "cron")
    assert "0 6 * * 1 " in run("schedule", "cron", "--tidy-up", "mon 06:00")

    pages = tmp_path / "pages"
    pages.mkdir()
    made = [sys.executable, "-m", "docs.generate", "--folder", pages]
    environ["PYTHONPATH"] += f"{os.pathsep}{ROOT}"
    subprocess.run(made, cwd=tmp_path, env=environ, check=True)
    assert "| `tidy-up` | Drop notes. | `consolidate tidy-up`" in (pages / "jobs.md").read_text(
        "utf-8"
    )
    assert "`--tidy-up TIDY-UP`" in (pages / "commands.md").read_text("utf-8")
    assert '| `tidy-up` | `str` | `"mon 06:00"` |' in (pages / "settings.md").read_text("utf-8")
